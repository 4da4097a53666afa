"""The power page: which true effects each claim could show at a scale that was run, in Markdown."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from polyreward.analysis.power import POWER, UNITS, Measured, UnknownError, measured_error, needed_value
from polyreward.analysis.verdicts import FEWEST_UNITS, ONLY_THESE, Rule
from polyreward.core.errors import PolyrewardError
from polyreward.core.tables import read_csv
from polyreward.sheet.entries import read_models
from polyreward.sheet.papers import PAPERS, read_paper

CLAIMS, ALL_CLAIMS = ["transfer_claims.csv", "carb_claims.csv"], "claims.csv"
MOST_TIMES = 10_000  # as many units as were measured
HEAD = """# What each claim could decide

Written by `polyreward power{overlays}`, from {files}.

- **Needed**: the true value from which on the claim would hold here, by its rule at {level}, with a
  probability of {power:.0%}, before Holm's correction for the number of claims. `*`: it would be suggested,
  as there are fewer trainings of each model than three. never: no value of the unit is enough, or there are
  fewer than {fewest} units, which decide nothing.
- **Units for it**: how many units would find a true effect as large as the paper prints. This takes more
  units to differ as much as these, so that it is a guide.
- A standard error is the distance from the estimate to an end of its interval, over Student's quantile. Of
  several contrasts the end that faces the bound counts, as that decides. Where trainings vary it is the
  `se` of claims.csv; of correlations it is that of Fisher's z. The value is so far off the bound that the
  t test decides with that probability (noncentral t)."""


def power_page(configfiles: Sequence[str], root: Path, results: Path | None = None) -> str:
    """Return the page; `results` is a folder with claims, by default the scale's."""
    settings = read_models(configfiles, root).settings
    confidence = settings.intervals.confidence
    overlays = f" --configfile {' '.join(configfiles)}" if configfiles else ""
    table, files = read_results(results or Path(settings.results), overlays)
    rows, reasons = [], []
    for name, entry in _ordered_claims(root):
        title = f"{entry['paper']} {entry['claim']}: {name.replace('_', ' ')}"
        try:
            if name not in table.index:
                raise UnknownError("It is not in these results.")
            row, rule = table.loc[name], Rule(**entry["rule"])
            if row["rule"] != str(rule):
                raise UnknownError(f"It was measured by another rule ({row['rule']}).")
            seeds = len(settings.reward_model_seeds) if "between trainings" in row["test"] else 1
            rows.append({"Claim": title, **_cells(row, rule, entry, seeds, confidence)})
        except UnknownError as reason:
            reasons.append(f"- {title}. {reason}")
    head = HEAD.format(
        overlays=overlays,
        files=" and ".join(f"`{path}`" for path in files),
        level=f"{100 * confidence:g}%",
        power=POWER,
        fewest=FEWEST_UNITS,
    )
    known = pd.DataFrame(rows).to_markdown(index=False, disable_numparse=True)
    parts = [head, known if rows else "No claim has an interval to go by."]
    if reasons:
        parts += ["## Claims of which nothing is known", "\n".join(reasons)]
    return "\n\n".join(parts) + "\n"


def _ordered_claims(root: Path) -> Iterator[tuple[str, dict]]:
    """Yield the claims that a run tests, paper by paper, by their numbers."""
    for file in CLAIMS:
        claims = read_paper(root / PAPERS / file.removesuffix("_claims.csv")).claims
        yield from sorted(claims.items(), key=lambda item: item[1]["claim"])


def read_results(folder: Path, overlays: str) -> tuple[pd.DataFrame, list[Path]]:
    """Return the claims of a results folder by name, and their files: each paper's, else that of both."""
    files = [folder / name for name in CLAIMS if (folder / name).is_file()] or [folder / ALL_CLAIMS]
    if not files[0].is_file():
        make = f"`snakemake --cores all {files[0]}{overlays}`"
        raise PolyrewardError(f"{folder}: no {', '.join(CLAIMS)} or {ALL_CLAIMS}; make them: {make}")
    table = pd.concat(map(read_csv, files)).fillna(dict.fromkeys(("n_of", "test", "speaks_of", "note"), ""))
    return table.set_index("claim", drop=False), files


def _cells(row: Mapping, rule: Rule, entry: dict, seeds: int, confidence: float) -> dict[str, str]:
    measured, digits = measured_error(row, rule, seeds, confidence), UNITS[row["unit"]][2]
    either, printed = entry["quantity"].get("either_sign", False), row.get("printed_estimate", np.nan)

    def needed(times: float) -> float:
        return needed_value(measured, rule, row["unit"], times, confidence, either)

    mark = "*" if row["speaks_of"] == ONLY_THESE else ""
    error = f"{measured.error:{digits.removeprefix('+')}}"
    return {
        "Holds if": f"{rule} ({row['unit']})",
        "Measured": f"{row['estimate']:{digits}} [{row['low']:{digits}}, {row['high']:{digits}}]",
        "Standard error": f"{error} of z" if row["unit"] == "correlation" else error,
        "Units": f"{measured.n} {row['n_of']}",
        "Needed": "never" if np.isnan(needed(1)) else f"{needed(1):{digits}}{mark}",
        "Printed": "" if pd.isna(printed) else f"{printed:{digits}}",
        "Units for it": "" if pd.isna(printed) else units_for(printed, needed, measured, rule, either),
    }


def units_for(printed: float, needed, measured: Measured, rule: Rule, either_sign: bool) -> str:
    """Return how many units make a printed value large enough; needed: the value by times as many units."""

    def is_enough(times: float) -> bool:
        return is_reached(printed, needed(times), rule, either_sign)

    low, high = FEWEST_UNITS / measured.n, float(MOST_TIMES)
    if not is_enough(high):
        return "no number"
    while high / low > 1.01:
        middle = (low * high) ** 0.5
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return f"{float(f'{high * measured.n:.2g}'):,.0f}"


def is_reached(printed: float, value: float, rule: Rule, either_sign: bool) -> bool:
    """Return whether a value is as far on the claimed side as a true one has to be; False for NaN."""
    printed = abs(printed) if either_sign else printed
    return bool(printed >= value if rule.side == "above" else printed <= value)
