"""With a CUDA device nothing is patched: torch, transformers and TRL run as they are."""

import ast
import functools
from pathlib import Path

import pytest
import trl
from tiny_models import ROWS, grpo_settings, policy_settings, train
from transformers import AutoModel
from trl.trainer import grpo_trainer

from polyreward import accel
from polyreward.accel.frozen import frozen_count
from polyreward.accel.onednn import multiply_by_onednn
from polyreward.carb.downstream import grpo
from polyreward.scoring.classifier import with_memory
from polyreward.scoring.load import load_causal_lm, load_classifier
from polyreward.settings.transfer import Dpo
from polyreward.training import policies
from polyreward.training.common import Job

LIBRARY = Path(accel.__file__).parents[1]
ROOMS = ("models", "training", "scoring", "alignment", "think_as_locals", "carb")


@pytest.fixture(autouse=True)
def as_with_cuda(monkeypatch):
    monkeypatch.setattr(accel, "on", lambda: False)


def ours(value) -> bool:
    """Whether a function, or what it was made of, is this project's."""
    while isinstance(value, functools.partial):
        value = value.func
    return str(getattr(value, "__module__", "")).startswith("polyreward")


def replaced(owner) -> list[str]:
    return [name for name, value in vars(owner).items() if callable(value) and ours(value)]


def patches(model) -> dict[str, list]:
    found = {name: [*replaced(module), *map(ours, hooks(module))] for name, module in model.named_modules()}
    return {name: values for name, values in found.items() if any(values)}


def hooks(module) -> list:
    return [*module._forward_hooks.values(), *module._forward_pre_hooks.values()]


class Made(Exception):  # noqa: N818 - carries a trainer out of a training
    pass


def trainer_of(monkeypatch, call):
    def stop(trainer, *arguments):
        raise Made(trainer)

    monkeypatch.setattr("polyreward.training.finish.train_on", stop)
    with pytest.raises(Made) as made:
        call()
    return made.value.args[0]


def assert_plain(trainer, kind):
    assert type(trainer) is kind
    # A reward model's collator puts all pairs of its requests into a batch, by TRL's own.
    assert patches(trainer.model) == {} and set(replaced(trainer)) <= {"data_collator"}


def test_a_reward_models_trainer_is_trls(base, tmp_path, monkeypatch):
    fast = {"cache_frozen_layers": True, "token_budget": 512}
    trainer = trainer_of(monkeypatch, lambda: train(base, tmp_path, **fast))
    assert_plain(trainer, trl.RewardTrainer)
    monkeypatch.setattr(accel, "on", lambda: True)  # the test sees what is patched elsewhere
    assert patches(trainer_of(monkeypatch, lambda: train(base, tmp_path, **fast)).model)


@pytest.mark.parametrize(
    ("train_policy", "settings", "kind"),
    [
        (policies.train_sft, policy_settings(), trl.SFTTrainer),
        (policies.train_dpo, policy_settings(Dpo), trl.DPOTrainer),
    ],
)
def test_a_policys_trainer_is_trls(bases, tmp_path, monkeypatch, train_policy, settings, kind):
    job = Job(1, tmp_path / "checkpoints", tmp_path / "model", "policy")
    asked = (bases["tiny-llama"], ROWS, settings, job)
    assert_plain(trainer_of(monkeypatch, lambda: train_policy(*asked)), kind)
    monkeypatch.setattr(accel, "on", lambda: True)
    assert patches(trainer_of(monkeypatch, lambda: train_policy(*asked)).model)


def test_grpos_trainer_is_trls(bases, tmp_path, monkeypatch):
    settings = grpo_settings(steps=1, batch_size=2, max_new_tokens=4)
    monkeypatch.setattr(grpo, "load_reward_model", lambda *arguments: None)
    job = Job(1, tmp_path / "checkpoints", tmp_path / "model", "grpo")
    asked = (bases["tiny-llama"], ["Hello?", "Why?"], settings, job, {}, {}, tmp_path)
    assert_plain(trainer_of(monkeypatch, lambda: grpo.train_policy(*asked)), trl.GRPOTrainer)
    whole = (*asked[:2], settings.model_copy(update={"lora": None, "beta": 0.1}), *asked[3:])
    trainer = trainer_of(monkeypatch, lambda: grpo.train_policy(*whole))
    size = trainer.model.get_input_embeddings().num_embeddings
    assert trainer.ref_model.get_input_embeddings().num_embeddings == size  # with an added pad token's row
    assert not ours(grpo_trainer.create_model_from_path)


def test_scorers_are_transformers_own(base, reward_folder):
    scoring = {"dtype": "float32", "max_length": 128, "token_budget": 200}
    for scorer in (load_classifier(reward_folder, **scoring), load_causal_lm(base, **scoring)):
        assert not scorer.share
        assert patches(scorer.model) == {}
        assert scorer.model.config._attn_implementation == "sdpa"
    scorer = load_classifier(reward_folder, **scoring)
    assert with_memory(scorer, 1, {}) is scorer
    model = AutoModel.from_pretrained(base)
    assert patches(multiply_by_onednn(model, outputs=0)) == {}
    assert frozen_count(model, 1) == 0


def private_names(path: Path) -> list[str]:
    """Names with an underscore that a file takes from others: attributes, and imports from other packages."""
    text = path.read_text(encoding="utf-8")
    nodes, found = list(ast.walk(ast.parse(text))), []
    own = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    for node in nodes:
        if isinstance(node, ast.Attribute) and f"self.{node.attr}" not in text and node.attr not in own:
            found.append(node.attr)
        if isinstance(node, ast.ImportFrom) and not (node.module or "").startswith("polyreward"):
            found += [name.name for name in node.names]
    public = {"_exit"}  # os._exit is documented
    return [
        name for name in found if name.startswith("_") and not name.startswith("__") and name not in public
    ]


def test_what_is_private_to_others_is_used_in_accel_only():
    assert [
        path.name for path in LIBRARY.rglob("*.py") if "unittest" in path.read_text(encoding="utf-8")
    ] == []
    paths = [path for room in ROOMS for path in (LIBRARY / room).rglob("*.py")]
    assert {path.name: names for path in paths if (names := private_names(path))} == {}
    assert private_names(LIBRARY / "accel/trainers.py")
