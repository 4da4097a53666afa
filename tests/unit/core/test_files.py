"""Files are written whole or not at all, and read with every bad line named."""

import errno
import os
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file
from support import refused

from polyreward.core.errors import PolyrewardError
from polyreward.core.files import read_jsonl, whole_file, whole_folder, write_jsonl, write_text


def tree(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_file_is_written_whole_with_its_folders_or_not_at_all(tmp_path):
    with whole_file(tmp_path / "new/a.txt") as temporary:
        temporary.write_text("old")
    with pytest.raises(ValueError), whole_file(tmp_path / "new/a.txt") as temporary:
        temporary.write_text("half")
        raise ValueError
    assert (tmp_path / "new/a.txt").read_text() == "old"
    assert tree(tmp_path) == ["new", "new/a.txt"]


def test_a_folder_replaces_the_older_one_in_full_or_not_at_all(tmp_path):
    for name, error in (("old", None), ("new", None), ("half", ValueError)):
        with pytest.raises(error) if error else nullcontext(), whole_folder(tmp_path / "model") as temporary:
            (temporary / name).touch()
            if error:
                raise error
    assert tree(tmp_path) == ["model", "model/new"]


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o002, 0o664), (0o077, 0o600), (0o027, 0o640)])
def test_modes_follow_the_umask_whatever_a_writer_chose(tmp_path, umask, mode):
    before = os.umask(umask)
    try:
        with whole_file(tmp_path / "a.safetensors") as temporary:
            save_file({"x": np.zeros(2)}, temporary)  # by itself with mode 600
        with whole_folder(tmp_path / "model") as temporary:
            (temporary / "part").mkdir()
            save_file({"x": np.zeros(2)}, temporary / "part/b.safetensors")
            (temporary / "run").write_text("x")
            (temporary / "run").chmod(0o755)
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.rglob("*") if path.is_file()}
    assert modes == dict.fromkeys(["a.safetensors", "b.safetensors", "run"], mode)


def test_a_file_that_a_folder_shares_with_the_hub_s_cache_keeps_its_mode(tmp_path):
    (tmp_path / "cached").write_text("x")
    (tmp_path / "cached").chmod(0o400)
    with whole_folder(tmp_path / "model") as temporary:
        os.link(tmp_path / "cached", temporary / "weights")
    assert (tmp_path / "cached").stat().st_mode & 0o777 == 0o400


def test_a_full_disk_is_said_and_leaves_the_older_file_intact(small_disk):
    write_text("old", small_disk / "a.txt")
    with pytest.raises(PolyrewardError, match="a.txt: not written, No space left on device; free some space"):
        write_text("x" * 1_000_000, small_disk / "a.txt")
    assert tree(small_disk) == ["a.txt"] and (small_disk / "a.txt").read_text() == "old"


REFUSED = [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM]
# Of safetensors and torch, in an error of their own
FULL = RuntimeError("I/O error: No space left on device (os error 28)")


@pytest.mark.parametrize("code", [*REFUSED, None])
def test_an_error_of_the_disk_is_a_polyreward_error(tmp_path, code):
    path, said = tmp_path / "a.txt", os.strerror(code or errno.ENOSPC)
    with pytest.raises(PolyrewardError, match=f"a.txt: not written, {said}"), whole_file(path):
        raise OSError(code, said, str(path)) if code else FULL
    assert tree(tmp_path) == []


def test_an_error_of_another_file_is_left_as_it_is(tmp_path):
    with pytest.raises(FileNotFoundError, match="/no/such/file"), whole_file(tmp_path / "a.txt"):
        Path("/no/such/file").read_text()
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(FileExistsError, match="file"):
        write_text("x", tmp_path / "file" / "a.txt")


def test_rows_are_one_line_each_in_plain_utf_8_and_read_back_as_written(tmp_path):
    path = tmp_path / "a.jsonl"
    rows = [{"text": "한국어\n\u2028 “x”"}, {"slots": {"n": ["number", 1.5]}, "none": None}]
    write_jsonl(rows, path)
    assert path.read_bytes().splitlines()[0] == '{"text": "한국어\\n\u2028 “x”"}'.encode()
    assert path.read_bytes().count(b"\n") == 2 and path.read_bytes().endswith(b"\n")
    assert read_jsonl(path) == rows and read_jsonl([path, str(path)]) == [*rows, *rows]


def test_every_bad_line_is_named(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a": 1}\n{"a": \n[1]\n\n{"a": 2}\n"x"\n{"a": "\xff"}\n')
    text = refused(read_jsonl, path)
    words = {2: "not JSON", 3: "[1]: not an object", 4: "not JSON", 6: '"x": not an object', 7: "not UTF-8"}
    for line, (number, said) in zip(text.splitlines(), words.items(), strict=True):
        assert line.startswith(f"{path}:{number}: {said}")
