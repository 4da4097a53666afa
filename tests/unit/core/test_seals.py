"""What changed since it was made is named where it is read, whatever its time says."""

import ast
import os
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load_file, save_file
from support import refused

import polyreward
from polyreward.core.seals import METADATA, UNSEALED, intact, sealed_file, sealed_folder
from polyreward.core.tables import read_sealed, write_sealed

SCORES = pd.DataFrame(
    {"id": [f"r{n}" for n in range(20)], "score_chosen": np.linspace(-3, 3, 20), "within_noise": [False] * 20}
)
PACKAGE = Path(polyreward.__file__).parent


def write_scores(path):
    write_sealed(SCORES, path)


def write_states(path):
    states = {"states": np.arange(12, dtype="float32").reshape(3, 4), "layers": np.array(2)}
    with sealed_file(path) as temporary:
        save_file(states, temporary, METADATA)


@pytest.mark.parametrize("write", [write_scores, write_states])
def test_every_flipped_bit_is_found(tmp_path, write):
    path = tmp_path / "file"
    write(path)
    with open(path, "r+b") as stream:
        for place, byte in enumerate(path.read_bytes()):
            for bit in range(8):
                os.pwrite(stream.fileno(), bytes([byte ^ 1 << bit]), place)
                assert "changed since it was made" in refused(intact, path)
            os.pwrite(stream.fileno(), bytes([byte]), place)
    assert intact(path) == path


@pytest.mark.parametrize("spoil", [
    lambda content: content[:-1], lambda content: content[: len(content) // 2], lambda content: b"",
    lambda content: content + b"x", lambda content: content[:-8] + content[-4:] * 2,
    lambda content: content.replace(b"polyreward-sha256:", b"another-key------:"),
])  # fmt: skip
def test_damaged_scores_are_named_with_what_to_delete_though_their_time_is_as_before(tmp_path, spoil):
    path = tmp_path / "s.parquet"
    write_scores(path)
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    path.write_bytes(spoil(path.read_bytes()))
    os.utime(path, ns=times)
    text = refused(read_sealed, path)
    assert f"{path}: changed since it was made" in text and f"Delete it (rm {path})" in text


def test_other_programs_read_sealed_files_ours_are_told_apart_and_equal_content_gives_equal_bytes(tmp_path):
    for name in "ab":
        write_scores(tmp_path / f"{name}.parquet")
        write_states(tmp_path / f"{name}.safetensors")
    for kind in ("parquet", "safetensors"):
        assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "a.parquet"), SCORES, check_exact=True)
    assert load_file(tmp_path / "a.safetensors")["states"][2, 3] == 11
    SCORES.to_parquet(tmp_path / "theirs.parquet")
    assert "missing or does not fit" in refused(read_sealed, tmp_path / "theirs.parquet")


def test_a_text_that_looks_like_a_mark_does_no_harm(tmp_path):
    path, table = (
        tmp_path / "s.parquet",
        SCORES.assign(id=[f"polyreward-sha256:{n:064x}" for n in range(1, 21)]),
    )
    write_sealed(table, path)
    pd.testing.assert_frame_equal(read_sealed(path), table)
    assert "s.parquet: not written" in refused(write_sealed, SCORES.assign(id=UNSEALED), path)
    pd.testing.assert_frame_equal(read_sealed(path), table)


@pytest.fixture
def folder(tmp_path):
    with sealed_folder(tmp_path / "model") as temporary:
        (temporary / "config.json").write_text("{}")
        (temporary / "part").mkdir()
        (temporary / "part/weights").write_bytes(bytes(range(64)))
    return tmp_path / "model"


def test_sha256sum_itself_checks_a_folder_and_what_snakemake_leaves_in_it_does_not_count(folder):
    assert (folder / "SHA256SUMS").read_text().split()[1::2] == ["config.json", "part/weights"]
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=folder, check=True)
    (folder / ".snakemake_timestamp").touch()
    assert intact(folder) == folder and intact(str(folder)) == str(folder)


@pytest.mark.parametrize(("name", "content", "said"), [
    ("part/weights", bytes([1, *range(1, 64)]), "part/weights: its content is another"),
    ("part/weights", bytes(range(63)), "part/weights: its content is another"),
    ("part/weights", None, "part/weights: missing"),
    ("adapter_config.json", b"{}", "adapter_config.json: was not there"),
    ("SHA256SUMS", b"", "config.json: was not there"),
    ("SHA256SUMS", b"0 config.json\n", "SHA256SUMS: damaged"),
    ("SHA256SUMS", b"\xff\xfe", "SHA256SUMS: damaged"),
])  # fmt: skip
def test_a_changed_folder_is_named_with_each_file_that_changed(folder, name, content, said):
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(content)
    assert said in refused(intact, folder)


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.pt", "model.pth", "weights.ckpt"])
def test_a_folder_of_the_user_s_is_refused_for_pickles_alone_with_what_to_do(tmp_path, name):
    (tmp_path / "config.json").write_text("{}")
    assert intact(tmp_path) == tmp_path and intact("owner/name") == "owner/name"  # not ours, so not checked
    (tmp_path / name).write_bytes(b"cos\nsystem\n(S'touch injected'\ntR.")
    text = refused(intact, tmp_path)
    assert f"no weights as safetensors, but {name}: reading such pickles may run code" in text
    assert "save_pretrained" in text
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    assert intact(tmp_path) == tmp_path
    (tmp_path / "adapter_model.bin").write_bytes(b"pickled")
    assert "adapter_model.bin" in refused(intact, tmp_path)


# What opens a file that carries a checksum. load_policy's and new_reward_model's callers need no second check.
READERS = {"from_pretrained", "load_file", "safe_open", "read_parquet"}
CHECKED_BEFORE = {
    ("models/answer_reward.py", "from_pretrained"),  # read by other tools; scoring/load.py checks first
    ("models/generation.py", "generation_config"),  # settings of a model that is being loaded
    ("ops/resources.py", "_parameters"),  # only the sizes in a user's file
    ("translation/lm.py", "__init__"), ("alignment/sampling.py", "__init__"), ("scoring/load.py", "_tokenizer"),
    # made at random by the same process
    ("ops/stand_ins.py", "make_base"), ("ops/stand_ins.py", "make_classifier"), ("gpu_check/bench.py", "__init__"),
    # not finished yet; checked by the catalog
    ("sources/base_models.py", "fetch_base_model"), ("sources/base_models.py", "convert_gguf"), ("sources/base_models.py", "_from_hub"),
}  # fmt: skip


def test_whatever_carries_a_checksum_is_read_through_the_check():
    unchecked, scripts, workflow = set(), PACKAGE.parent, PACKAGE.parents[1]
    for path in [*PACKAGE.rglob("*.py"), *scripts.glob("*.py"), *workflow.glob("notebooks/*.py")]:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        inside = {id(node) for function in functions for node in ast.walk(function)}
        parts = [(function.name, list(ast.walk(function))) for function in functions]
        parts.append(("", [node for node in ast.walk(tree) if id(node) not in inside]))
        for name, nodes in parts:
            used = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
            used |= {node.id for node in nodes if isinstance(node, ast.Name)}
            if used & READERS and "intact" not in used:
                own = path.relative_to(PACKAGE) if path.is_relative_to(PACKAGE) else path.name
                unchecked.add((str(own), name))
    assert unchecked == CHECKED_BEFORE
