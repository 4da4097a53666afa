"""What models compute in, on processors and cards that multiply bfloat16 and on those that do not."""

import json
import logging

import pytest
import torch
from test_devices import old_card  # noqa: F401 - a fixture
from tiny_models import train

from polyreward.models import precision
from polyreward.models.precision import dtype_of, native_bfloat16, torch_dtype
from polyreward.scoring.load import load_classifier

WITHOUT = {
    "cpu_name": "Xeon of 2021",
    "avx512_f": True,
    "avx512_vnni": True,
    "avx512_bf16": False,
    "amx_bf16": False,
}


@pytest.fixture(autouse=True)
def nothing_told():
    """Begin and end as a job does that has reported nothing yet."""
    reports = (precision._taken, precision._warn)
    for function in reports:
        function.cache_clear()
    yield
    for function in reports:
        function.cache_clear()


@pytest.fixture
def processor(monkeypatch):
    """A function that makes this machine one without a card, whose processor has some instructions."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)

    def has(**instructions):
        monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {**WITHOUT, **instructions})

    return has


@pytest.mark.parametrize(("instructions", "native"), [
    ({}, False),
    ({"avx512_fp16": True}, False),
    ({"avx512_bf16": True}, True),
    ({"amx_bf16": True}, True),
    ({"amx_tile": True}, False),
    ({"neon": True, "fp16_arith": True}, False),
    ({"neon": True, "bf16": True}, True),
    ({"sve": True, "sve_bf16": True}, True),
])  # fmt: skip
def test_the_processors_instructions_decide(processor, instructions, native):
    processor(**instructions)
    assert native_bfloat16() is native
    assert dtype_of("auto") == ("bfloat16" if native else "float32")
    assert torch_dtype("auto") is (torch.bfloat16 if native else torch.float32)


def test_torch_knows_the_instructions_by_the_names_used_here():
    found = torch.cpu.get_capabilities()
    named = {"x86_64": {"avx512_bf16", "amx_bf16"}, "aarch64": {"bf16", "sve"}}
    assert named[found["architecture"]] <= set(found)


def test_a_card_decides_where_there_is_one(old_card, monkeypatch):  # noqa: F811
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_bf16": True})
    assert not native_bfloat16()
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation=True: True)
    assert dtype_of("auto") == "bfloat16"


def test_float32_asks_nothing_and_says_nothing(processor, capsys, caplog):
    processor()
    with caplog.at_level(logging.INFO):
        assert dtype_of("float32") == "float32"
    assert (capsys.readouterr().err, caplog.text) == ("", "")


def test_auto_says_in_the_log_what_it_took_and_why(processor, capsys, caplog):
    processor()
    with caplog.at_level(logging.INFO):
        assert [dtype_of("auto"), dtype_of("auto")] == ["float32", "float32"]
    assert caplog.messages == [
        "precision auto: float32, since this machine's processor (Xeon of 2021) does not multiply bfloat16 natively"
    ]  # fmt: skip
    assert capsys.readouterr().err == ""


def test_bfloat16_on_a_processor_without_it_is_taken_and_its_cost_said_once(processor, capsys):
    processor()
    assert [dtype_of("bfloat16"), dtype_of("bfloat16")] == ["bfloat16", "bfloat16"]
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert said.startswith(
        "warning: this machine's processor (Xeon of 2021) does not multiply bfloat16 natively"
    )
    assert "about 4 to 6 times as long as float32" in said
    processor(avx512_bf16=True)
    assert dtype_of("bfloat16") == "bfloat16"
    assert capsys.readouterr().err == ""


def test_bfloat16_on_a_card_without_it_is_not_told_what_a_processor_takes(old_card, capsys):  # noqa: F811
    dtype_of("bfloat16")
    said = capsys.readouterr().err
    assert "this machine's Tesla T4 does not multiply bfloat16" in said
    assert "Ice Lake" not in said


@pytest.mark.parametrize(("instructions", "dtype"), [({}, "float32"), ({"avx512_bf16": True}, "bfloat16")])
def test_auto_is_a_models_type_here(processor, reward_folder, instructions, dtype):
    processor(**instructions)
    reward_model = load_classifier(reward_folder, "auto", 128, 60)
    assert reward_model.model.dtype == getattr(torch, dtype)
    assert reward_model.exact == (dtype == "float32")


def test_a_training_in_bfloat16_is_another_and_its_weights_stay_fp32(tiny_gemma, trained, tmp_path):
    exact, coarse = trained["tiny-gemma"], train(tiny_gemma, tmp_path, precision="bfloat16")
    assert json.loads((coarse / "training.json").read_text())["settings"]["precision"] == "bfloat16"
    models = [load_classifier(folder, "float32", 128, 60).model for folder in (exact, coarse)]
    weights = [model.get_decoder().layers[-1].self_attn.q_proj.weight for model in models]
    assert not torch.equal(*weights)
    assert torch.allclose(*weights, atol=0.1)
    assert not torch.equal(weights[1], weights[1].bfloat16().float())


def test_the_record_of_a_training_holds_what_was_taken(processor, tiny_gemma, tmp_path):
    processor()
    folder = train(tiny_gemma, tmp_path, precision="auto")
    assert json.loads((folder / "training.json").read_text())["settings"]["precision"] == "float32"
