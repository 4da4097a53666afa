"""What stays of the hub: copies of its cache, records of commits, and the lock."""

import yaml
from hub_server import COMMIT
from support import refused

from polyreward.core.files import whole_folder
from polyreward.sources.hub import copy_model
from polyreward.sources.revisions import at_commit, locked, read_lock, record_revision, write_lock


def test_a_copy_shares_its_weights_with_the_cache_and_nothing_else(tmp_path):
    cached, blobs = tmp_path / "snapshot", tmp_path / "blobs"
    blobs.mkdir()
    cached.mkdir()
    for name in ("config.json", "model.safetensors"):
        (blobs / name).write_text(name)
        (cached / name).symlink_to(blobs / name)
    with whole_folder(tmp_path / "copy") as folder:
        copy_model(cached, folder)
    copy = tmp_path / "copy"
    assert (copy / "model.safetensors").samefile(blobs / "model.safetensors")
    assert not (copy / "model.safetensors").is_symlink()
    (copy / "config.json").write_text("changed")
    assert (blobs / "config.json").read_text() == "config.json"


def test_a_record_is_the_same_before_and_after_its_commit_is_locked(tmp_path):
    for name, revision in (("model/a--b@main.yaml", "main"), ("dataset/c--d@v1.yaml", "v1")):
        kind, repository = name.split("/")[0], name.split("/")[1].split("@")[0].replace("--", "/")
        record_revision(repository, kind, revision, COMMIT, tmp_path / "records" / name)
    lock = tmp_path / "lock.yaml"
    lock.write_text("{}")
    content = write_lock(tmp_path / "records", lock)
    assert (
        content == read_lock(lock) == {"model": {"a/b": {"main": COMMIT}}, "dataset": {"c/d": {"v1": COMMIT}}}
    )
    assert locked(content, "model", "a/b", "main") == COMMIT
    assert locked(content, "model", "a/b", "v2") is None
    record = tmp_path / "records/model/a--b@main.yaml"
    before = record.read_bytes()
    record_revision("a/b", "model", "main", locked(content, "model", "a/b", "main"), record)
    assert record.read_bytes() == before
    assert at_commit({"id": "a/b", "revision": "main"}, [str(record)]) == {"id": "a/b", "revision": COMMIT}
    assert at_commit({"path": "x"}, []) == {"path": "x"}


def test_a_lock_keeps_what_other_scales_put_there_and_needs_a_record(tmp_path):
    (tmp_path / "lock.yaml").write_text(yaml.safe_dump({"model": {"x/y": {"main": "a" * 40}}}))
    assert "no resolved revision; run" in refused(write_lock, tmp_path, tmp_path / "lock.yaml")
    record_revision("a/b", "model", "main", COMMIT, tmp_path / "records/model/a--b@main.yaml")
    assert set(write_lock(tmp_path / "records", tmp_path / "lock.yaml")["model"]) == {"x/y", "a/b"}
