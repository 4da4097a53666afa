"""Compare all scorers on CARB: the leaderboard, scores by group of languages and by domain, and one item."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import product

import pandas as pd

from polyreward.analysis.bootstrap import Interval
from polyreward.carb.figures.figure1 import COLUMNS
from polyreward.carb.figures.figure2 import ALL, GROUP_COLUMNS, PANELS
from polyreward.carb.figures.figure3 import BEST, BEST_KINDS, DOMAIN_COLUMNS
from polyreward.carb.leaderboard import Leaderboard, by_scorer, leaderboard_columns
from polyreward.core.files import read_jsonl
from polyreward.core.kinds import is_baseline
from polyreward.core.sheet import kinds, read_sheet
from polyreward.core.tables import scorers_of, unavailable_reasons, write_exact
from polyreward.ops.jobs import run

SHOWN = 2  # reward models of each kind


def example_item(board: Leaderboard, items: Sequence[dict], culture: str) -> dict:
    """Return the item of a culture on which the reward models are most divided."""
    of_culture = {item["id"]: item for item in items if item["culture"] == culture}
    divided = (board.right.loc[list(of_culture), board.reward_models()].mean(axis=1) - 0.5).abs()
    return of_culture[divided.sort_index(kind="stable").idxmin()]


def glance_table(
    board: Leaderboard, items: Sequence[dict], scores: dict[str, pd.DataFrame], culture: str
) -> pd.DataFrame:
    """Return what Figure 1 shows: an item, its answers' scores by the best of each kind, and counts."""
    item = example_item(board, items, culture)
    key = {"item": item["id"], "culture": culture, "domain": item["domain"]}
    records = [{"panel": "prompt", **key, "text": item["prompt"]}]
    kinds = [kind for kind in dict.fromkeys(board.kinds.values()) if not is_baseline(kind)]
    shown = [name for kind in kinds for name in board.best(kind, SHOWN)]
    of_item = {name: scores[name].set_index(["id", "candidate"])["score"][item["id"]] for name in shown}
    for number, (text, reference) in enumerate(zip(item["answers"], item["references"], strict=True)):
        answer = {"candidate": number, "is_chosen": number == item["chosen"], "text": text}
        answer |= {"panel": "score", "from_culture": reference["culture"]}
        records += ({**key, **answer, "scorer": name, "score": of_item[name][number]} for name in shown)
    counts = board.items.groupby(["language", "domain"]).size()
    for cell in product(board.cultures, board.domains):
        records.append({"panel": "count", "culture": cell[0], "domain": cell[1], "n_items": counts[cell]})
    return pd.DataFrame(records).reindex(columns=COLUMNS).astype({"n_items": "Int64", "candidate": "Int64"})


def language_groups(languages: dict[str, dict], cultures: Sequence[str]) -> dict[str, dict[str, list[str]]]:
    """Return {panel: {group: cultures}}, the largest first. languages: those of resources/languages.yaml."""
    found: dict[str, dict[str, list[str]]] = {}
    for panel in PANELS:
        groups = defaultdict(list)
        for culture in cultures:
            groups[str(languages[culture][panel])].append(culture)
        by_size = sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))
        found[panel] = dict(sorted(by_size, reverse=True) if panel == "resource_class" else by_size)
    return found


def sections_of(groups: dict[str, dict[str, list[str]]]) -> dict[str, list[str]]:
    """Return the groups of all panels as sections of a leaderboard."""
    return {f"{panel}: {group}": names for panel, found in groups.items() for group, names in found.items()}


def group_table(board: Leaderboard, groups: dict[str, dict[str, list[str]]]) -> pd.DataFrame:
    """Return each reward model's score on each group, and their mean, with intervals over topics.

    board: with the sections of `sections_of`."""
    models, records = board.reward_models(), []
    scorers = {ALL: models, **{name: [name] for name in models}}
    for panel, of_panel in groups.items():
        for group, cultures in of_panel.items():
            key = {"panel": panel, "group": group, "cultures": " ".join(cultures)}
            for scorer, of_scorer in scorers.items():
                whose = {"scorer": scorer, "kind": board.kinds.get(scorer, ALL)}
                records.append({**key, **whose, **_score(board, of_scorer, f"{panel}: {group}")})
    return pd.DataFrame(records)[GROUP_COLUMNS]


def _score(board: Leaderboard, scorers: Sequence[str], section: str) -> dict[str, float]:
    low, high = board.ends(scorers, section)
    point, size = board.point(scorers, section), board.size(section)
    return {"score_pct": point, "low": low, "high": high, "n_items": size}


def domain_table(board: Leaderboard, kinds: Sequence[str], best: int) -> pd.DataFrame:
    """Return the scores by domain of the best reward models of each kind, with intervals over topics."""
    records = []
    for kind in kinds:
        for place, scorer in enumerate(board.best(kind, best), 1):
            for domain in board.domains:
                key = {"kind": kind, "place": place, "scorer": scorer, "domain": domain}
                records.append({**key, **_score(board, [scorer], domain)})
    return pd.DataFrame(records)[DOMAIN_COLUMNS]


def main(snakemake):
    params, cells, output = snakemake.params, snakemake.params.cells, snakemake.output
    groups = language_groups(params.languages, cells["cultures"])
    files = snakemake.input.scores
    sheet = read_sheet(snakemake.input.sheet)
    of_scorer = kinds(sheet, scorers_of(files))
    scores = by_scorer(files, of_scorer, "carb", cells["cultures"])
    more = {
        "groups": sections_of(groups),
        "missing": unavailable_reasons(files),
        "bases": dict(sheet["base"]),
    }
    board = Leaderboard(scores, of_scorer, **cells, interval=Interval(**params.interval), **more)
    items = read_jsonl(snakemake.input.item_files)
    columns = leaderboard_columns(cells["cultures"], cells["domains"])
    write_exact(board.table(), output.leaderboard, columns)
    write_exact(group_table(board, groups), output.groups, GROUP_COLUMNS)
    write_exact(domain_table(board, BEST_KINDS, BEST), output.domains, DOMAIN_COLUMNS)
    write_exact(glance_table(board, items, scores, cells["cultures"][0]), output.glance, COLUMNS)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
