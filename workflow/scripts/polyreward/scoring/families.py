"""From an entry of config.yaml's reward_models to a reward model: which code loads which kind of it.

A new kind is one module with a function (entry, scoring, cache) that returns a RewardModel, and a line here.
Modules are imported when an entry needs them, so that a classifier waits for no client of a server, and
reruns when its own code changes."""

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from polyreward.scoring.interface import RewardModel

# {kind, or how a generative reward model is asked: "module:function"}
LOADERS = {
    "classifier": "polyreward.scoring.load:classifier",
    "implicit": "polyreward.scoring.implicit:implicit",
    "judge": "polyreward.scoring.local_judge:load_judge",
    "judge on a server": "polyreward.scoring.server:load_judge",
    "judge that is served here": "polyreward.scoring.served_judge:load_judge",
    "judge with criteria": "polyreward.scoring.criteria_judge:load_judge",
}
HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")  # <repository>, or <owner>/<repository>
# Tokens of a batch at most: eager attention holds a number for each two tokens of a row, and of each head
EAGER_TOKENS = 8192


def loader_of(entry: dict) -> str:
    """Return where an entry's loader is, as "module:function"; entry: as in load_reward_model."""
    if entry["kind"] != "generative":
        return LOADERS[entry["kind"]]
    if "server" in entry:
        return LOADERS["judge on a server"]
    if "serve" in entry:
        return LOADERS["judge that is served here"]
    by_criteria = entry.get("verdict") in ("criteria", "no-criteria")
    return LOADERS["judge with criteria" if by_criteria else "judge"]


def load_reward_model(entry: dict, scoring: dict, cache: str | Path) -> "RewardModel":
    """Load a reward model; a judge with `serve` is served from its folder instead.

    entry: kind, source (a folder or a hub id), and its family's own keys (docs/settings.md). scoring: {dtype,
    max_length, token_budget, attention}, of which an entry may override all but token_budget. cache: a folder
    for a server's replies. Raises UnavailableError where its folder says why there is none."""
    # It imports pandas, for which the Snakefile does not wait.
    from polyreward.core.unavailable import refuse_missing

    scoring = {**scoring, **{key: entry[key] for key in ("dtype", "max_length", "attention") if key in entry}}
    for one in (entry, entry.get("reference", {})):
        refuse_missing(one.get("source", ""))
    module, _, name = loader_of(entry).partition(":")
    return getattr(import_module(module), name)(entry, scoring, cache)


def source_problems(source: str) -> Iterator[str]:
    """Yield a problem where a source can only be a folder, and holds no model; the hub is not asked."""
    if Path(source).is_dir():
        if not (Path(source) / "config.json").is_file():
            yield f"{source}: is no model folder (no config.json in it); correct the path"
    elif Path(source).exists():
        yield f"{source}: is a file, not a model folder; name the folder"
    elif not HUB_ID.fullmatch(source) or ("/" in source and Path(source).parent.is_dir()):
        yield f"{source}: there is no such folder; correct the path, or give a hub id such as owner/name"
