"""Model folders as trainers, clones and downloads leave them: scored alike, or named with what to do."""

import json
import shutil

import pytest
from safetensors.torch import load_file, save_file
from support import refused
from tiny_models import ROWS, scores_of

from polyreward.scoring.families import source_problems
from polyreward.scoring.load import load_classifier, load_tokenizer

LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 134217728\n"


def loaded(folder):
    return load_classifier(folder, "float32", 128, 200)


@pytest.fixture
def folder(trained, tmp_path):
    """A copy of a reward model's folder."""
    ignored = shutil.ignore_patterns("SHA256SUMS")
    return shutil.copytree(trained["tiny-llama"], tmp_path / "rm", ignore=ignored)


def configure(folder, **changes):
    path = folder / "config.json"
    known = json.loads(path.read_text()) | changes
    path.write_text(json.dumps({key: value for key, value in known.items() if value is not None}))


def rename(folder, change):
    """Rename or change the tensors of a folder's file; change: (name, tensor) to the same, or None."""
    path = folder / "model.safetensors"
    weights = dict(filter(None, (change(*one) for one in load_file(path).items())))
    save_file(weights, path, {"format": "pt"})


def prefixed(prefix):
    return lambda folder: rename(folder, lambda name, tensor: (prefix + name, tensor))


def head(name):
    return lambda folder: rename(folder, lambda own, tensor: (own.replace("score.", name), tensor))


def emptied(folder):
    rename(folder, lambda name, tensor: (name, tensor.new_zeros(0) if "proj" in name else tensor))


def no_labels(folder):
    configure(folder, num_labels=None, id2label=None, label2id=None)


def wider(folder):
    configure(folder, intermediate_size=512)


def no_tokenizer(folder):
    for path in [*folder.glob("tokenizer*"), *folder.glob("special_tokens*"), *folder.glob("chat_template*")]:
        path.unlink()


def pointer(name):
    return lambda folder: (folder / name).write_bytes(LFS)


ALMOST = [  # (what was done to the folder, words of the error)
    (prefixed("module."), "Its tensors are called `module....`, as those of a model on several GPUs; save its `module`"),
    (prefixed("_orig_mod."), "Its tensors are called `_orig_mod....`, as those of a compiled model"),
    (prefixed("base_model.model."), "of a model with an adapter; merge it"),
    (head("value_head."), "its weights lack score.weight, so it would score at random. Its file has value_head.weight (1 in all)"),
    (head("v_head.summary."), "Its file has v_head.summary.weight"),
    (emptied, "of its weights are empty, such as model.layers.0.mlp.down_proj.weight, as a save within ZeRO-3"),
    (no_labels, "score.weight is [1, 32], not [2, 32]; correct config.json, such as `num_labels: 1` for its outputs"),
    (wider, "of its weights have another shape than its config.json says: model.layers.0.mlp.down_proj.weight is"),
    (no_tokenizer, "has no tokenizer; save its tokenizer into the folder"),
    (pointer("model.safetensors"), "model.safetensors: is a Git LFS pointer, not the file itself"),
    (pointer("tokenizer.json"), "tokenizer.json: is a Git LFS pointer"),
    (pointer("config.json"), "config.json: is a Git LFS pointer"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "words"), ALMOST, ids=[one[1][:40] for one in ALMOST])
def test_a_folder_that_is_almost_right_is_named_with_what_lies_in_it(folder, change, words):
    change(folder)
    assert words in (text := refused(loaded, folder)) and "report" not in text


def test_a_tokenizer_s_pointer_is_named_before_any_weights_are_read(folder):
    (folder / "tokenizer.json").write_bytes(LFS)
    assert "is a Git LFS pointer" in refused(load_tokenizer, folder)


def halved(folder):
    names = sorted(load_file(folder / "model.safetensors"))
    weights, half = load_file(folder / "model.safetensors"), names[: len(names) // 2]
    parts = {"a": {n: weights[n] for n in half}, "b": {n: weights[n] for n in names if n not in half}}
    for name, part in parts.items():
        save_file(part, folder / f"{name}.safetensors", {"format": "pt"})
    placed = {n: f"{name}.safetensors" for name, part in parts.items() for n in part}
    index = {"metadata": {}, "weight_map": placed}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    (folder / "model.safetensors").unlink()


SOUND = {
    "in two files": halved,
    "an attention that is not installed": lambda folder: configure(
        folder, _attn_implementation="flash_attention_2", attn_implementation="flash_attention_2"
    ),
    "dropout": lambda folder: configure(folder, attention_dropout=0.5, classifier_dropout=0.5),
    "another problem type": lambda folder: configure(folder, problem_type="regression"),
}


@pytest.mark.parametrize("change", SOUND)
def test_a_folder_that_looks_unusual_scores_the_same(folder, trained, change):
    SOUND[change](folder)
    found, expected = scores_of(loaded(folder)), scores_of(loaded(trained["tiny-llama"]))
    assert found == pytest.approx(expected, abs=0) and len(found) == len(ROWS)
    assert loaded(folder).model.config._attn_implementation == "sdpa"


def test_models_below_a_folder_and_adapters_are_named(folder, tmp_path):
    (tmp_path / "run").mkdir()
    for step in (500, 1000):
        shutil.copytree(folder, tmp_path / f"run/checkpoint-{step}")
    (text,) = source_problems(str(tmp_path / "run"))
    assert "has some in it: checkpoint-1000, checkpoint-500; name one of these" in text
    (tmp_path / "adapter").mkdir()
    (tmp_path / "adapter/adapter_config.json").write_text('{"base_model_name_or_path": "some/base"}')
    (text,) = source_problems(str(tmp_path / "adapter"))
    assert "holds only an adapter (of some/base); merge it into its base" in text
    (tmp_path / "none").mkdir()
    (text,) = source_problems(str(tmp_path / "none"))
    assert "is no model folder (no config.json in it)" in text
