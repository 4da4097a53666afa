"""Score files that record what they were made of, so that a second run scores only what changed."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

import pandas as pd

from polyreward.core.codehash import code_at
from polyreward.core.errors import PolyrewardError
from polyreward.core.files import sha256_of
from polyreward.core.tables import read_sealed, write_sealed
from polyreward.scoring.families import loader_of

LIBRARIES = ("torch", "transformers", "tokenizers")  # whose versions may change a score
MADE_OF = "made_of"  # the key in a Parquet file's metadata, where pandas keeps a table's `attrs`


def made_of(entry: dict, rows: Mapping[str, Sequence[dict]], scoring: dict) -> dict[str, str | None]:
    """Return a hash of all that a model's scores of each set of pairs depend on, by the name of the set.

    A folder counts by its content, a hub id by its commit: None where the hub names none.

    Args:
        entry, scoring: as families.load_reward_model takes them.
    """
    sources = [entry["source"], *([entry["reference"]["source"]] if "reference" in entry else [])]
    libraries = {name: version(name) for name in LIBRARIES}
    models = [_content(source, entry.get("revision")) for source in sources]
    settings = {key: entry[key] for key in entry if key not in ("source", "reference", "revision")}
    code = [code_at(place) for place in (loader_of(entry), "polyreward.scoring.pairs:score_rows")]
    if None in models:
        return dict.fromkeys(rows)
    return {
        name: _hashed([models, settings, scoring, code, libraries, list(found)])
        for name, found in rows.items()
    }


def write_kept(scores: pd.DataFrame, path: Path, made: str | None) -> None:
    """Write a score file with what it was made of."""
    scores = scores.copy()
    scores.attrs[MADE_OF] = made
    write_sealed(scores, path)


def read_kept(path: Path, made: str | None) -> pd.DataFrame | None:
    """Return the scores of an intact file that was made of the same, or None."""
    if not path.exists() or made is None:
        return None
    try:
        scores = read_sealed(path)
    except PolyrewardError:
        return None
    return scores if scores.attrs.pop(MADE_OF, None) == made else None


def _content(source: str, revision: str | None) -> str | None:
    """Return the hash of a folder's visible files, or a hub id's commit; None where the hub names none."""
    folder = Path(source)
    if folder.is_dir():
        names = {path.relative_to(folder): path for path in sorted(folder.rglob("*")) if path.is_file()}
        hidden = {name for name in names if any(part.startswith(".") for part in name.parts)}
        return _hashed([[str(name), sha256_of(path)] for name, path in names.items() if name not in hidden])
    from polyreward.sources.hub import MODELS, commit_of  # its libraries take a second to import

    try:
        return commit_of(source, MODELS, revision or "main")
    except PolyrewardError:
        return None


def _hashed(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
