"""What the hub will refuse of a scale, found before anything is spent: access, heads, columns; all problems
at once."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace

from polyreward.config.scale import languages_read
from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.ops.planning.sized_scale import SizedScale
from polyreward.sources.hub import DATASETS, MODELS, commit_of, fetched, may_read
from polyreward.sources.hub_data import hub_rows


@dataclass(frozen=True)
class Wanted:
    """One repository of a scale. kind: of hub.MODELS and DATASETS. entry: a dataset's; head: whether a reward
    is read from it."""

    kind: str
    repository: str
    revision: str
    names: tuple[str, ...]
    head: bool = False
    remote_code: bool = False
    entry: dict | None = None


def check_hub(scale: SizedScale, with_data: bool) -> list[str]:
    """Return a line for each repository of a scale that can be used, after asking the hub for its small
    files.

    with_data: fetch the datasets, too, and read their columns. Raises PolyrewardError that lists all that
    cannot be used, and what to do about each."""
    lines, problems = [], []
    for one in wanted(scale):
        try:
            lines.append(f"{one.kind} {one.repository}: {_found(one, with_data)} ({', '.join(one.names)})")
        except PolyrewardError as error:
            problems.append(str(error).replace("\n", "\n    "))
    raise_all(problems, "hub-check")
    return lines


def wanted(scale: SizedScale) -> list[Wanted]:
    """Return the repositories of the hub that a scale fetches, each once."""
    found: dict[tuple, list[Wanted]] = {}
    for one in [*_models(scale), *_reward_models(scale), *_datasets(scale)]:
        found.setdefault((one.kind, one.repository, one.revision), []).append(one)
    return [_merged(of_one) for of_one in found.values()]


def _merged(same: list[Wanted]) -> Wanted:
    first = max(same, key=lambda one: one.head)
    return Wanted(
        **{**vars(first), "names": tuple(dict.fromkeys(name for one in same for name in one.names))}
    )


def _models(scale: SizedScale) -> Iterator[Wanted]:
    for name in sorted(scale.base_models()):
        source = scale.catalogs["models"][name]["source"]
        if source["kind"] == "hub":
            yield Wanted(MODELS, source["id"], source["revision"], (name,))


def _reward_models(scale: SizedScale) -> Iterator[Wanted]:
    alignment, known = scale.config["alignment"], scale.judges()
    asked = [
        *scale.config["off_the_shelf"],
        *scale.config["reward_models"],
        alignment["judge"],
        alignment["reference"],
    ]
    asked += scale.config["think_as_locals"]["others"]
    entries = {name: known[name] for name in asked if name in known}
    entries |= {**scale.config["carb"]["generators"], "carb.embedding": scale.config["carb"]["embedding"]}
    for name, entry in entries.items():
        for one in (entry, entry.get("reference") or {}):
            if "hub" in one:
                head = one.get("kind") == "classifier"
                yield Wanted(
                    MODELS,
                    one["hub"],
                    one.get("revision", "main"),
                    (name,),
                    head,
                    one.get("remote_code", False),
                )


def _datasets(scale: SizedScale) -> Iterator[Wanted]:
    judges = scale.config["think_as_locals"]["datasets"]
    for name in dict.fromkeys([*scale.sizes, *judges]):
        entry = scale.catalogs["datasets"].get(name, {})
        if entry.get("kind") == "hub":
            entry = languages_read(
                entry, scale.languages, scale.config["carb"]["cultures"]
            )  # as jobs read it
            yield Wanted(DATASETS, entry["id"], entry["revision"], (name,), entry=entry)


def _found(one: Wanted, with_data: bool) -> str:
    """Return what there is of a repository, in words; raises PolyrewardError where it cannot be used."""
    may_read(one.repository, one.kind)
    commit = commit_of(one.repository, one.kind, one.revision)
    if one.kind == MODELS:
        return f"{_architecture(one, commit)} at {commit[:7]}"
    if not with_data:
        return f"readable at {commit[:7]}"
    rows = hub_rows({**one.entry, "revision": commit}, one.names[0])
    return f"{len(rows)} rows at {commit[:7]}"


def _architecture(one: Wanted, commit: str) -> str:
    file = fetched(one.repository, MODELS, commit, ["config.json"]) / "config.json"
    where = f"model {one.repository} at {commit}"
    if not file.is_file():
        raise PolyrewardError(f"{where}: holds no config.json; name a repository of transformers' layout")
    architectures = json.loads(file.read_text(encoding="utf-8")).get("architectures") or [
        "no architecture named"
    ]
    if one.head:
        from polyreward.scoring.heads import head_of  # torch takes seconds to import

        head_of(SimpleNamespace(architectures=architectures), where, one.remote_code)
    return architectures[0]
