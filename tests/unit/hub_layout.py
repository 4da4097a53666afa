"""Small folders in the layout of a dataset of the hub."""

import copy
import gzip
import json
from pathlib import Path

import datasets
import pytest
import yaml
from support import ROOT

CATALOG = yaml.safe_load((ROOT / "workflow/catalog/datasets.yaml").read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache of its own for each test."""
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")


def as_repository(files: dict[str, list[dict]], configs: dict[str, dict[str, str]]) -> dict[str, bytes]:
    """Return {path: records} as JSON, JSON Lines or gzip by the path's end, and {config: {split: path}} as a card."""
    found = {}
    for path, records in files.items():
        lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        text = (json.dumps(records, indent=4) if path.endswith(".json") else lines).encode()
        found[path] = gzip.compress(text) if path.endswith(".gz") else text
    card = [
        {"config_name": name, "data_files": [{"split": split, "path": path} for split, path in of.items()]}
        for name, of in configs.items()
    ]
    text = yaml.safe_dump({"configs": card} if card else {"license": "mit"})
    return {**found, "README.md": f"---\n{text}---\n".encode()}


def write_files(folder: Path, files: dict[str, bytes]) -> Path:
    """Write {path: content} and return the folder."""
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return folder


def write_dataset(folder: Path, files: dict[str, list[dict]], configs: dict[str, dict[str, str]]) -> None:
    """Write what as_repository returns."""
    write_files(folder, as_repository(files, configs))


def entry_at(folder: Path, name: str, *languages: str) -> dict:
    """Return a catalog's entry that is read from a folder, in all languages or some."""
    entry = {**copy.deepcopy(CATALOG[name]), "id": str(folder)}
    if languages:
        entry["languages"] = {language: entry["languages"][language] for language in languages}
    return entry
