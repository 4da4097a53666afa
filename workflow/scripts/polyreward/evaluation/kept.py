"""Score files that record what they were made of, so that a second run scores only what changed."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from polyreward.core.codehash import code_at
from polyreward.core.errors import PolyrewardError
from polyreward.core.files import sha256_of
from polyreward.core.seals import sums_text
from polyreward.core.tables import read_sealed, write_sealed
from polyreward.scoring.families import loader_of

MADE_OF = "made_of"  # the key in a Parquet file's metadata, where pandas keeps a table's `attrs`


def made_of(entry: dict, rows: Mapping[str, Sequence[dict]], scoring: dict) -> dict[str, dict]:
    """Return what a model's scores of each set of pairs depend on, as JSON: {name of the set: {what: ...}}.

    Args:
        entry: as families.load_reward_model takes it. A folder counts by its content, a hub id by its commit.
        rows: {name: the rows of a set of pairs}.
        scoring: as families.load_reward_model takes it.
    """
    sources = {"source": entry["source"]}
    if "reference" in entry:
        sources["reference"] = entry["reference"]["source"]
    settings = {key: entry[key] for key in entry if key not in ("source", "reference", "revision")}
    same = {
        "model": {role: _content(source, entry.get("revision")) for role, source in sources.items()},
        "settings": settings | scoring,
        "code": [code_at(place) for place in (loader_of(entry), "polyreward.scoring.pairs:score_rows")],
    }
    return {
        name: {**same, "pairs": _hashed(json.dumps(list(found), sort_keys=True))}
        for name, found in rows.items()
    }


def write_kept(scores: pd.DataFrame, path: Path, made: dict) -> None:
    """Write a score file with what it was made of."""
    scores = scores.copy()
    scores.attrs[MADE_OF] = made
    write_sealed(scores, path)


def read_kept(path: Path, made: dict) -> tuple[pd.DataFrame | None, str]:
    """Return (scores, "") of a file that was made of the same, else (None, the reason); none for no file."""
    if not path.exists():
        return None, ""
    if None in made["model"].values():
        return None, "the hub did not name its model's commit (give --revision)"
    try:
        scores = read_sealed(path)
    except PolyrewardError:
        return None, "the file there changed since it was made"
    before = scores.attrs.pop(MADE_OF, {})
    changed = [what for what in made if made[what] != before.get(what)]
    return (None, f"{' and '.join(changed)} changed") if changed else (scores, "")


def _content(source: str, revision: str | None) -> str | None:
    """Return the hash of a folder's visible files, or a hub id's commit; None where the hub names none."""
    folder = Path(source)
    if folder.is_dir():
        names = {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()}
        hidden = {name for name in names if any(part.startswith(".") for part in name.parts)}
        sums = {str(name): sha256_of(path) for name, path in names.items() if name not in hidden}
        return _hashed(sums_text(sums))
    from polyreward.sources.hub import MODELS, commit_of  # its libraries take a second to import

    try:
        return commit_of(source, MODELS, revision or "main")
    except PolyrewardError:
        return None


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
