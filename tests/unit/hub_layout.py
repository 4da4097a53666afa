"""Small folders in the layout of a dataset of the hub."""

import copy
import gzip
import json
from pathlib import Path

import datasets
import pytest
import yaml
from support import ROOT

from polyreward.sources.hub_data import TEXTS

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


def in_hub_layout(folder: Path, name: str, records_of: dict) -> dict:
    """Write {(config, split): records} as JSON Lines with a card, or as the file of the entry; return the entry
    there."""
    files, configs = {}, {}
    for (config, split), records in records_of.items():
        path = CATALOG[name]["files"] or f"data/{config}/{split}.jsonl"
        files[path] = records
        configs.setdefault(config or "default", {})[split] = path
    write_dataset(folder, files, configs)
    return entry_at(folder, name)


def released(folder: Path, languages=("en", "es", "ko"), records=None) -> dict:
    """Write Multilingual RewardBench as its authors have it: a card without English, whose file is next to it;
    return its entry."""
    entry = entry_at(folder, "multilingual-rewardbench", *languages)
    records = records or {language: [multilingual(language, n) for n in range(4)] for language in languages}
    configs = {part["config"]: records[name] for name, part in entry["languages"].items() if "config" in part}
    in_hub_layout(
        folder, "multilingual-rewardbench", {(name, "test"): found for name, found in configs.items()}
    )
    (folder / "eng_Latn").mkdir()
    (folder / "eng_Latn/filtered.json").write_text(json.dumps(records["en"]))
    return entry


def multilingual(language: str, n: int) -> dict:
    """The n-th of four pairs: two subsets, whose ids are each its own. The English file calls the subset
    otherwise."""
    n = n if language == "en" else 3 - n
    subset = {"subset" if language == "en" else "source": ["math-prm", "hep-go"][n % 2]}
    texts = {role: f"{language} {role} {n}" for role in TEXTS}
    return {"id": n // 2, "language": language, **texts, "chosen_model": "m", "rejected_model": "m", **subset}


def parallel(name: str, record):
    """Return records {(config, split): records} of a dataset in every language; record(language, n): the n-th
    of six."""
    entry = CATALOG[name]
    parts = {language: {**entry, **part} for language, part in entry["languages"].items()}
    return {
        (part["config"], part["split"]): [record(language, n) for n in range(6)]
        for language, part in parts.items()
    }


def belebele(language, n):
    # two questions about each of the first two passages; the languages' files have orders of their own
    n = n if language == "en" else 5 - n
    passage = {0: 0, 1: 0, 2: 1, 3: 1}.get(n, n)
    return {
        "link": f"l{passage}",
        "question_number": 1 + n % 2,
        "flores_passage": f"{language} {passage}",
        "question": "?",
        "ds": "2023",
    }
