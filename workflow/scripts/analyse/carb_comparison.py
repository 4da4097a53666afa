"""Compare all scorers on CARB: the leaderboard, scores by group of languages and by domain, and one item."""

from collections.abc import Sequence
from itertools import product

import pandas as pd

from polyreward.carb.figures.figure1 import COLUMNS
from polyreward.carb.figures.figure2 import ALL, GROUP_COLUMNS, PANELS
from polyreward.carb.figures.figure3 import BEST, BEST_KINDS, DOMAIN_COLUMNS
from polyreward.carb.leaderboard import Leaderboard, board_of, by_scorer, leaderboard_columns
from polyreward.core.errors import PolyrewardError
from polyreward.core.files import read_jsonl
from polyreward.core.tables import unavailable, write_exact
from polyreward.ops.jobs import run

SHOWN = 2  # reward models of each kind


def example_item(board: Leaderboard, items: Sequence[dict], culture: str) -> dict:
    """Return the item of a culture on which the reward models are most divided: the share that is right
    nearest to one half."""
    models, of_culture = (
        board.reward_models(),
        {item["id"]: item for item in items if item["culture"] == culture},
    )
    if not of_culture:
        raise PolyrewardError(
            f"carb.example_culture: there is no item of `{culture}`; name one of carb.cultures"
        )
    divided = (board.right.loc[list(of_culture), models].mean(axis=1) - 0.5).abs()
    return of_culture[divided.sort_index(kind="stable").idxmin()]


def glance_table(
    board: Leaderboard, items: Sequence[dict], scores: dict[str, pd.DataFrame], culture: str
) -> pd.DataFrame:
    """Return what Figure 1 shows: an item, its answers' scores by the best of each kind, and the counts of
    all items."""
    item = example_item(board, items, culture)
    key = {"item": item["id"], "culture": culture, "domain": item["domain"]}
    records = [{"panel": "prompt", **key, "text": item["prompt"]}]
    shown = [
        name
        for kind in dict.fromkeys(board.kinds.values())
        if kind != "baseline"
        for name in board.best(kind, SHOWN)
    ]
    for number, text in enumerate(item["answers"]):
        answer = {
            **key,
            "candidate": number,
            "is_chosen": number == item["chosen"],
            "text": text,
            "from_culture": item["references"][number]["culture"],
        }
        for name in shown:
            table = scores[name]
            score = table.loc[(table["id"] == item["id"]) & (table["candidate"] == number), "score"].item()
            records.append({"panel": "score", **answer, "scorer": name, "score": score})
    counts = board.items.groupby(["language", "domain"]).size()
    for in_culture, domain in product(board.cultures, board.domains):
        records.append(
            {
                "panel": "count",
                "culture": in_culture,
                "domain": domain,
                "n_items": int(counts[in_culture, domain]),
            }
        )
    return pd.DataFrame(records).reindex(columns=COLUMNS).astype({"n_items": "Int64", "candidate": "Int64"})


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


def main(snakemake):
    params, settings, output = snakemake.params, snakemake.params.settings, snakemake.output
    groups = language_groups(params.languages, settings["cultures"])
    files = snakemake.input.scores
    scores = by_scorer(files, settings["kinds"], "carb", settings["cultures"])
    board = board_of(scores, settings, groups=sections_of(groups), missing=unavailable(files))
    items = [item for path in snakemake.input.item_files for item in read_jsonl(path)]
    columns = leaderboard_columns(settings["cultures"], settings["domains"])
    write_exact(board.table(), output.leaderboard, columns)
    write_exact(group_table(board, groups), output.groups, GROUP_COLUMNS)
    write_exact(domain_table(board, BEST_KINDS, BEST), output.domains, DOMAIN_COLUMNS)
    write_exact(glance_table(board, items, scores, params.example_culture), output.glance, COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
