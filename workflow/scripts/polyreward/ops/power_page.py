"""The power page: which true effects each claim could show at every scale, in Markdown."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from polyreward.analysis.power import POWER, UNITS, Measured, UnknownError, measured_error, needed_value
from polyreward.analysis.verdicts import FEWEST_UNITS, Rule
from polyreward.core.errors import PolyrewardError
from polyreward.core.yaml_files import read_yaml
from polyreward.ops.planning.sized_scale import SizedScale, read_scale

SCALES = {
    "tiny": ["workflow/scales/tiny.yaml"],
    "mini": [],
    "night": ["workflow/scales/night.yaml"],
    "gpu": ["workflow/scales/gpu.yaml"],
    "paper": ["workflow/scales/paper.yaml"],
}
PAPERS = {"transfer": "The transfer paper", "carb": "The CARB paper"}
CLAIMS, ALL_CLAIMS = ["transfer_claims.csv", "carb_claims.csv"], "claims.csv"
COLUMNS = [
    "claim",
    "estimate",
    "low",
    "high",
    "se",
    "se_trainings",
    "unit",
    "n",
    "n_of",
    "test",
    "rule",
    "verdict",
    "speaks_of",
    "note",
]
THESE_MODELS, TRAININGS_UNKNOWN = "*", "+"
HEAD = """# What each claim could decide

Written by `polyreward power{overlays}`, from {files} (scale {here}).

A scale's column has the true value from which on the claim would hold there, by its rule at {level}, with a
probability of {power:.0%}. The number of units is in brackets.

- **bold**: the paper prints a value as large as that, so that a true effect of that size would be found.
- `{these_models}`: a verdict would speak of these models only, as there is one training of each.
- `{trainings_unknown}`: there are several trainings of each there, but one of each here. How they vary is not
  known, and more is needed than the value shows.
- never: no value of the unit is enough, or there are fewer than {fewest} units, which decide nothing."""
METHOD = """- A standard error is the distance from the estimate to an end of its interval, over Student's
  quantile. Its degrees of freedom are the units minus one. Where trainings vary it is the `se`
  of claims.csv, with the degrees of freedom of units and of two models' trainings together
  (Satterthwaite's). Of several contrasts the end that faces the bound counts, as that decides.
- At another scale it is multiplied by the root of the ratio of units. This takes the models
  there to differ from unit to unit as much as these. For larger models it is a guide.
- {split}
- The true value is so far off the bound that the t test decides with that probability
  (noncentral t). For correlations it is Fisher's z, whose error follows from the number of
  reward models.
- Numbers of units follow from each scale's settings and data. Numbers of topics are expected
  ones, where items are drawn."""


def power_page(configfiles: Sequence[str], root: Path) -> str:
    """Return the page.

    Args:
        configfiles: overlays on config.yaml, of the scale that was run.
        root: the project's folder.

    Raises:
        PolyrewardError: its results lack the claims.
    """
    ran = read_scale(configfiles, root)
    folder, confidence = Path(ran.settings.results), ran.settings.intervals.confidence
    overlays = f" --configfile {' '.join(configfiles)}" if configfiles else ""
    table, files = read_results(folder, overlays)
    scales = {name: read_scale(files, root) for name, files in SCALES.items()}
    same = [name for name, scale in scales.items() if scale.settings.results == ran.settings.results]
    here = same[0] if same else folder.name
    scales = scales if same else {here: ran, **scales}  # a scale of the user's own comes first
    rows: dict[str, list[dict]] = {paper: [] for paper in PAPERS}
    reasons, shares = [], []
    claims = read_yaml(root / "workflow/claims.yaml").items()
    for name, entry in sorted(
        claims, key=lambda item: (list(PAPERS).index(item[1]["paper"]), item[1]["claim"])
    ):
        title, rule = f"{entry['claim']}: {name.replace('_', ' ')}", Rule(**entry["rule"])
        try:
            if name not in table.index:
                raise UnknownError("It is not in these results.")
            row = table.loc[name]
            if row["rule"] != str(rule):
                raise UnknownError(f"It was measured by another rule ({row['rule']}).")
            seeds = len(ran.settings.reward_model_seeds) if "between trainings" in row["test"] else 1
            measured = measured_error(row, rule, seeds, confidence)
        except UnknownError as reason:
            reasons.append(f"- {entry['paper']} {title}. {reason}")
            continue
        shares += [measured.share] if measured.seeds > 1 else []
        digits, printed = UNITS[row["unit"]][2], row.get("printed_estimate", np.nan)
        error = f"{measured.error:{digits.removeprefix('+')}}"
        facts = {
            "Claim": title,
            "Holds if": f"{rule} ({row['unit']})",
            "Measured": f"{row['estimate']:{digits}} [{row['low']:{digits}}, {row['high']:{digits}}]",
            "Standard error": f"{error} of z" if row["unit"] == "correlation" else error,
            "Units": row["n_of"],
            "Printed": "" if pd.isna(printed) else f"{printed:{digits}}",
        }
        rows[entry["paper"]].append(facts | _cells(entry, row, rule, measured, scales, here, confidence))
    split = "There is one training of each reward model here, so that no interval knows how trainings vary."
    if shares:
        split = (
            f"Of the variance of claims about trained reward models {min(shares):.0%} to {max(shares):.0%} is"
            f" between trainings (median {np.median(shares):.0%}).\n  That part is divided by the number of"
            " seeds, the rest by that of units."
        )
    head = HEAD.format(
        overlays=overlays,
        files=" and ".join(f"`{path}`" for path in files),
        here=here,
        level=f"{100 * confidence:g}%",
        power=POWER,
        these_models=THESE_MODELS,
        trainings_unknown=TRAININGS_UNKNOWN,
        fewest=FEWEST_UNITS,
    )
    parts = [head]
    for paper, found in rows.items():
        if found:
            parts += [
                f"## {PAPERS[paper]}",
                pd.DataFrame(found).to_markdown(index=False, disable_numparse=True),
            ]
    if len(parts) == 1:
        parts.append("No claim has an interval to go by.")
    parts += ["## How it is computed", METHOD.format(split=split)]
    if reasons:
        parts += ["## Claims of which nothing is known", "\n".join(reasons)]
    return "\n\n".join(parts) + "\n"


def read_results(folder: Path, overlays: str) -> tuple[pd.DataFrame, list[Path]]:
    """Return the claims of a results folder by name, and their files: each paper's, else that of both."""
    files = [folder / name for name in CLAIMS if (folder / name).is_file()] or [folder / ALL_CLAIMS]
    tables = []
    for path in files:
        make = f"`snakemake --cores all {path}{overlays}`"
        if not path.is_file():
            names = f"{', '.join(CLAIMS)} or {ALL_CLAIMS}"
            raise PolyrewardError(f"{folder}: no {names} to measure by; make them: {make}")
        tables.append(pd.read_csv(path))
        missing = [name for name in COLUMNS if name not in tables[-1]]
        if missing:
            raise PolyrewardError(
                f"{path}: no column {', '.join(missing)}; an earlier version made it; again: {make}"
            )
    table = pd.concat(tables).fillna(dict.fromkeys(("n_of", "test", "speaks_of", "note"), ""))
    return table.set_index("claim", drop=False), files


def _cells(
    entry: dict,
    row: Mapping,
    rule: Rule,
    measured: Measured,
    scales: Mapping[str, SizedScale],
    here: str,
    confidence: float,
) -> dict[str, str]:
    """Return from which value on a claim holds at each scale, with its mark and its number of units there."""
    quantity = entry["quantity"]
    counts = {name: unit_counts(scale, quantity["name"], row["n_of"]) for name, scale in scales.items()}
    if len(counts[here]) == 1:  # of one kind, so that its number is known
        counts[here] = dict.fromkeys(counts[here], measured.n)
    # Intervals of these have the variance between trainings where there are several.
    of_seeds = entry["paper"] == "transfer" and row["n_of"] == "templates" and row["speaks_of"]
    cells, either = {}, quantity.get("either_sign", False)
    for name, scale in scales.items():
        n = round(min(counts[name].values()))
        units = min(counts[name][unit] / counts[here][unit] for unit in counts[here])
        seeds = len(scale.settings.reward_model_seeds) if of_seeds and name != here else measured.seeds
        value = needed_value(measured, rule, row["unit"], n, units, seeds, confidence, either)
        mark = THESE_MODELS if seeds < 2 else TRAININGS_UNKNOWN if measured.seeds < 2 else ""
        shown = "never" if np.isnan(value) else format(value, UNITS[row["unit"]][2])
        if is_reached(row.get("printed_estimate", np.nan), value, rule, either):
            shown = f"**{shown}**"
        cells[name] = f"{shown}{mark if row['speaks_of'] else ''} ({n})"
    return cells


def is_reached(printed: float, value: float, rule: Rule, either_sign: bool) -> bool:
    """Return whether a printed value is as far on the claimed side as a true one has to be; False for NaN."""
    printed = abs(printed) if either_sign else printed
    return bool(printed >= value if rule.side == "above" else printed <= value)


def unit_counts(scale: SizedScale, quantity: str, n_of: str) -> dict[str, float]:
    """Return {unit: its number} for a claim at a scale, before it runs; empty for units of unknown number.

    Args:
        scale: the scale.
        quantity: its name in workflow/claims.yaml.
        n_of: its units, as claims.csv has them, with or without other words.
    """
    config, alignment = scale.settings, scale.settings.alignment
    main, instructions = scale.benchmarks()[0], scale.sizes[scale.settings.alignment.instructions].rows
    trained = len(config.bases) * len(scale.languages)
    others = [config.reward_models, config.off_the_shelf, config.carb.knockout]
    templates, part = main.templates or main.rows, config.carb
    cultures, per_cell = part.cultures, part.items_per_cell
    if quantity == "sensitivity":
        per_cell = part.perturbation.items_per_cell
    if quantity == "lead_of_locals":
        part = config.think_as_locals.evaluation
        cultures, per_cell = part.cultures, part.items_per_cell
        subsets = sum(map(len, scale.catalogs["benchmarks"][config.benchmarks.main]["sections"].values()))
        templates = min(templates, (part.rows_per_subset or templates) * subsets)
    counts = {
        "templates": templates,
        "passages": scale.sizes[config.passages].rows,
        "instructions": min(instructions, alignment.max_instructions or instructions),
        "topics": _topics(scale, cultures, per_cell),
        "reward models": trained if n_of.startswith("trained") else trained + sum(map(len, others)),
    }
    return {unit: count for unit, count in counts.items() if unit in n_of}


def _topics(scale: SizedScale, cultures: list[str], items_per_cell: int | None) -> float:
    """Return how many topics are expected among items that are drawn in each culture and domain."""
    if items_per_cell is None:
        return scale.carb_topics
    of_domain = scale.carb_topics / len(scale.settings.carb.domains)
    return scale.carb_topics * (1 - (1 - min(items_per_cell / of_domain, 1)) ** len(cultures))
