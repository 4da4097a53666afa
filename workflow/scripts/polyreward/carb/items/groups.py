"""What Figures 2 and 3 plot: scores by what the cultures' languages have in common, and the best reward
models by domain."""

from collections.abc import Sequence

import pandas as pd

from polyreward.carb.leaderboard import Leaderboard

GROUP_COLUMNS = ["panel", "group", "cultures", "scorer", "kind", "score_pct", "low", "high", "n_items"]
DOMAIN_COLUMNS = ["kind", "place", "scorer", "domain", "score_pct", "low", "high", "n_items"]
PANELS = {"resource_class": "resource class", "family": "language family", "script": "script"}
ALL = "mean"  # of all reward models


def language_groups(languages: dict[str, dict], cultures: Sequence[str]) -> dict[str, dict[str, list[str]]]:
    """Return {panel: {group: cultures}}, the largest group first; languages: as resources/languages.yaml has
    them."""
    found: dict[str, dict[str, list[str]]] = {}
    for panel in PANELS:
        groups: dict[str, list[str]] = {}
        for culture in cultures:
            groups.setdefault(str(languages[culture][panel]), []).append(culture)
        by_size = sorted(groups, key=lambda group: (-len(groups[group]), group))
        order = sorted(groups, reverse=True) if panel == "resource_class" else by_size
        found[panel] = {group: groups[group] for group in order}
    return found


def sections_of(groups: dict[str, dict[str, list[str]]]) -> dict[str, list[str]]:
    """Return the groups of all panels as sections of a leaderboard."""
    return {
        f"{panel}: {group}": cultures
        for panel, of_panel in groups.items()
        for group, cultures in of_panel.items()
    }


def group_table(board: Leaderboard, groups: dict[str, dict[str, list[str]]]) -> pd.DataFrame:
    """Return each reward model's score on each group, and their mean, with intervals over topics; board: with
    `sections_of`."""
    models = board.reward_models()
    records = []
    for panel, of_panel in groups.items():
        for group, cultures in of_panel.items():
            section = f"{panel}: {group}"
            key = {
                "panel": panel,
                "group": group,
                "cultures": " ".join(cultures),
                "n_items": board.size(section),
            }
            for scorer, of_scorer in {ALL: models, **{name: [name] for name in models}}.items():
                low, high = board.ends(of_scorer, section)
                kind = board.kinds.get(scorer, ALL)
                records.append(
                    {
                        **key,
                        "scorer": scorer,
                        "kind": kind,
                        "score_pct": board.point(of_scorer, section),
                        "low": low,
                        "high": high,
                    }
                )
    return pd.DataFrame(records)[GROUP_COLUMNS]


def domain_table(board: Leaderboard, kinds: Sequence[str], best: int) -> pd.DataFrame:
    """Return the scores by domain of the best reward models of each kind, with intervals over topics. place:
    1 for the best."""
    records = []
    for kind in kinds:
        for place, scorer in enumerate(board.best(kind, best), 1):
            for domain in board.domains:
                low, high = board.ends([scorer], domain)
                records.append(
                    {
                        "kind": kind,
                        "place": place,
                        "scorer": scorer,
                        "domain": domain,
                        "score_pct": board.point([scorer], domain),
                        "low": low,
                        "high": high,
                        "n_items": board.size(domain),
                    }
                )
    return pd.DataFrame(records)[DOMAIN_COLUMNS]
