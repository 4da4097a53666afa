"""From an entry of config.yaml's reward_models to a reward model: which code loads which kind of it.

A kind's loader is a function (entry, scoring, cache) that returns a RewardModel. Where LOADERS does not name
it, it is `load` in a module of the kind's name. So a new kind changes no code that scores with the others:
only the analyses that know kinds run again. Modules are imported when an entry needs them: a classifier waits
for no client of a server, and reruns when its own code changes."""

import re
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from polyreward.core.errors import PolyrewardError
from polyreward.sources.model_folders import folder_problem

if TYPE_CHECKING:
    from polyreward.scoring.interface import RewardModel

# {kind, or how a generative reward model is asked: "module:function"} of loaders that are elsewhere
LOADERS = {
    "classifier": "polyreward.scoring.load:classifier",
    "judge": "polyreward.scoring.local_judge:load_judge",
    "judge on a server": "polyreward.scoring.server:load_judge",
    "judge that is served here": "polyreward.scoring.served_judge:load_judge",
    "judge with criteria": "polyreward.scoring.criteria_judge:load_judge",
}
HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")  # <repository>, or <owner>/<repository>
# Tokens of a batch at most: eager attention holds a number for each two tokens of a row, and of each head
EAGER_TOKENS = 8192


def loader_of(entry: dict) -> str:
    """Return where an entry's loader is, as "module:function"; entry: as in load_reward_model.

    Raises PolyrewardError for an unknown kind."""
    kind = entry["kind"]
    if kind == "generative":
        if "server" in entry:
            return LOADERS["judge on a server"]
        if "serve" in entry:
            return LOADERS["judge that is served here"]
        by_criteria = entry.get("verdict") in ("criteria", "no-criteria")
        return LOADERS["judge with criteria" if by_criteria else "judge"]
    if kind not in LOADERS and find_spec(f"polyreward.scoring.{kind}") is None:
        raise PolyrewardError(f"`kind: {kind}`: no such kind of reward model; core/kinds.py has all kinds")
    return LOADERS.get(kind, f"polyreward.scoring.{kind}:load")


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
        problem = folder_problem(Path(source))
        if problem:
            yield problem
    elif Path(source).exists():
        yield f"{source}: is a file, not a model folder; name the folder"
    elif not HUB_ID.fullmatch(source) or ("/" in source and Path(source).parent.is_dir()):
        yield f"{source}: there is no such folder; correct the path, or give a hub id such as owner/name"
