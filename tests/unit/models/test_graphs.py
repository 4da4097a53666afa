"""Writing with a static cache, as CUDA graphs need it, next to writing without: here on the CPU, not compiled."""

import json

import pytest
import torch
from tiny_models import bases  # noqa: F401
from transformers import AutoModelForCausalLM, AutoTokenizer

from polyreward.core.conversations import as_turns
from polyreward.models import generation
from polyreward.models.batches import left_padded
from polyreward.models.generation import TOKENS, static_cache, writes_by_graphs, written
from polyreward.ops import stand_ins
from polyreward.scoring.load import load_causal_lm
from polyreward.scoring.local_judge import LocalBackend
from polyreward.settings.base import GrpoTraining, Lora
from polyreward.training import grpo
from polyreward.training.common import Job

CLOSE = 1e-4  # logits, in fp32
NEW = 6


@pytest.fixture(scope="module", params=["llama", "qwen2", "gemma3_text"])
def folder(request, tmp_path_factory):
    sizes = stand_ins.by_shape(stand_ins.SMALL)
    if request.param == "gemma3_text":
        sizes |= {"sliding_window": 16}  # shorter than the prompts
    return stand_ins.make_base(request.param, sizes, None, tmp_path_factory.mktemp(request.param) / "base")


@pytest.fixture
def graphs(monkeypatch):
    """Let models write as they do on a card."""

    def switch(on):
        for module in ("models.generation", "scoring.local_judge", "scoring.criteria_judge"):
            monkeypatch.setattr(f"polyreward.{module}.writes_by_graphs", lambda model: on)

    return switch


def loaded(folder):
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    return model, AutoTokenizer.from_pretrained(folder)


def prompts_of(tokenizer, count):
    texts = stand_ins.Texts(tokenizer)
    return [tokenizer.encode(texts.text(10 + 8 * number, number)) for number in range(count)]


def test_each_step_has_the_same_probabilities_and_each_text_the_same_end(folder):
    model, tokenizer = loaded(folder)
    prompts = prompts_of(tokenizer, 5)
    inputs = left_padded(prompts, tokenizer.pad_token_id)
    how = {"do_sample": False, "max_new_tokens": NEW, "pad_token_id": 0}
    more = {"output_logits": True, "return_dict_in_generate": True}
    free = model.generate(**inputs, **how, **more)
    # An end that some texts reach sooner than others
    model.generation_config.eos_token_id = int(free.sequences[1, -NEW + 2])
    plain = model.generate(**inputs, **how, **more)
    fast = model.generate(**inputs, **how, **more, **static_cache(max(map(len, prompts)) + NEW))
    assert type(fast.past_key_values).__name__ == "StaticCache"
    assert torch.equal(plain.sequences, fast.sequences)
    assert not torch.equal(plain.sequences, free.sequences)  # some ended
    for one, other in zip(plain.logits, fast.logits, strict=True):
        difference = one.log_softmax(-1) - other.log_softmax(-1)
        assert difference.abs().max() < CLOSE


@pytest.mark.parametrize("how", [{"do_sample": False}, {"do_sample": True, "top_k": 20, "temperature": 0.7}])
def test_texts_are_the_same_and_rows_that_fill_a_graph_are_left_out(folder, graphs, how):
    model, tokenizer = loaded(folder)
    found = {}
    for count in (8, 3):
        prompts = prompts_of(tokenizer, count)
        for on in (False, True):
            graphs(on)
            torch.manual_seed(1)
            found[count, on] = written(model, prompts, 0, NEW, **how)
        assert found[count, True].shape[0] == count
    # Eight rows are drawn with the same random numbers; three are not, as eight are drawn for them.
    assert torch.equal(found[8, False], found[8, True])
    assert how["do_sample"] or torch.equal(found[3, False], found[3, True])


def test_several_texts_of_one_prompt_are_the_same(folder, graphs):
    model, tokenizer = loaded(folder)
    (prompt,) = prompts_of(tokenizer, 1)
    found = []
    for on in (False, True):
        graphs(on)
        torch.manual_seed(1)
        found.append(written(model, [prompt], 0, NEW, do_sample=True, num_return_sequences=5))
    assert found[0].shape == (5, NEW) and torch.equal(*found)


def test_a_judge_s_replies_are_the_same(folder, graphs):
    lm = load_causal_lm(folder, "float32", 512, 2048)
    texts, said = stand_ins.Texts(lm.tokenizer), []
    requests = [as_turns(texts.text(20 * number, number)) for number in range(1, 6)]
    for on in (False, True):
        graphs(on)
        said.append(LocalBackend(lm, NEW).replies(requests, ""))
    assert said[0] == said[1] and all(said[0])


def test_a_card_writes_by_graphs_unless_that_is_turned_off_and_a_cpu_never_does(folder, monkeypatch):
    model, _ = loaded(folder)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.delenv("TORCH_COMPILE_DISABLE", raising=False)
    assert generation.graphs_here() and not writes_by_graphs(model)
    monkeypatch.setattr(type(model), "device", torch.device("cuda"))
    assert writes_by_graphs(model)
    model.hf_device_map = {"layers.0": 0, "layers.1": 1}
    assert not writes_by_graphs(model)
    monkeypatch.setenv("TORCH_COMPILE_DISABLE", "1")
    assert not generation.graphs_here()


class Even:
    """Rewards replies of an even number of characters."""

    weights, trainer, share = (1.0,), None, False

    def functions(self):
        def even(completions, **columns):
            return [1.0 - len(one[-1]["content"]) % 2 for one in completions]

        return [even]


def test_grpo_writes_the_same_with_a_static_cache_that_is_compiled_on_a_card(bases, tmp_path, monkeypatch):  # noqa: F811
    settings = GrpoTraining(
        steps=2, generations=2, learning_rate=1e-3, batch_size=4, max_length=64, max_new_tokens=6,
        temperature=1.0, gradient_checkpointing=True, beta=0.0, save_every=10, lora=Lora(rank=2, alpha=4, top_layers=1),
    )  # fmt: skip
    examples = [{"prompt": as_turns(f"Question {number}?")} for number in range(6)]
    made, rewards, init = [], [], grpo.GRPOTrainer.__init__

    def kept(self, *given, **named):
        init(self, *given, **named)
        made.append(self)

    monkeypatch.setattr(grpo.GRPOTrainer, "__init__", kept)
    for on in (False, True):
        monkeypatch.setattr(grpo, "graphs_here", lambda on=on: on)
        job = Job(1, tmp_path / "checkpoints", tmp_path / f"policy_{on}", "GRPO")
        grpo.train_by_grpo(bases["tiny-llama"], examples, 1, lambda _: Even(), settings, job, "")
        steps = json.loads((tmp_path / f"policy_{on}/training.json").read_text())["steps"]
        rewards.append([step["reward"] for step in steps if "reward" in step])
    plain, fast = (one.generation_config for one in made)
    assert (plain.cache_implementation, plain.disable_compile) == (None, True)
    assert (fast.cache_implementation, fast.disable_compile, fast.max_cache_len) == ("static", False, TOKENS)
    assert len(rewards[0]) == 2 and rewards[0] == rewards[1]
