"""The power page: what each claim could decide at every scale, in Markdown."""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from polyreward.analysis.power import POWER, UNITS, Measured, UnknownError, measured_error, needed_value
from polyreward.analysis.verdicts import FEWEST_UNITS, Rule
from polyreward.core.errors import PolyrewardError
from polyreward.core.yaml_files import read_yaml
from polyreward.ops.planning.sized_scale import SizedScale, read_scale
from polyreward.ops.planning.units import unit_counts

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
    *("claim", "estimate", "low", "high", "se", "se_trainings", "unit"),
    *("n", "n_of", "test", "rule", "verdict", "speaks_of", "note"),
]
THESE_MODELS, TRAININGS_UNKNOWN = "*", "+"


@dataclasses.dataclass(frozen=True)
class Claim:
    """A claim's entry in workflow/claims.yaml, its row of claims.csv, its rule, and the standard error that
    was measured."""

    entry: dict
    row: Mapping
    rule: Rule
    measured: Measured

    @property
    def of_seeds(self) -> bool:
        """Whether its interval has the variance between trainings where there are several."""
        return bool(
            self.entry["paper"] == "transfer" and self.row["n_of"] == "templates" and self.row["speaks_of"]
        )


def power_page(configfiles: Sequence[str], root: Path) -> str:
    """Return the page.

    configfiles: overlays on config.yaml, of the scale that was run.

    Raises PolyrewardError where its results lack the claims."""
    ran = read_scale(configfiles, root)
    folder, confidence = Path(ran.settings.results), ran.settings.intervals.confidence
    table, files = read_results(folder, configfiles)
    seeds = len(ran.settings.reward_model_seeds)
    scales = {name: read_scale(files, root) for name, files in SCALES.items()}
    here = next(
        (name for name, scale in scales.items() if scale.settings.results == ran.settings.results),
        folder.name,
    )
    scales = {here: ran, **scales} if here not in scales else scales  # a scale of the user's own comes first
    claims = read_yaml(root / "workflow/claims.yaml")
    rows: dict[str, list[dict]] = {paper: [] for paper in PAPERS}
    found: list[Claim] = []
    reasons = []
    for name, entry in sorted(
        claims.items(), key=lambda item: (list(PAPERS).index(item[1]["paper"]), item[1]["claim"])
    ):
        title = f"{entry['claim']}: {name.replace('_', ' ')}"
        try:
            claim = _claim(name, entry, table, seeds, confidence)
        except UnknownError as reason:
            reasons.append(f"- {entry['paper']} {title}. {reason}")
        else:
            found.append(claim)
            rows[entry["paper"]].append(
                {"Claim": title, **_facts(claim), **_cells(claim, scales, here, confidence)}
            )
    parts = [_head(here, files, configfiles, f"{100 * confidence:g}%")]
    for paper, of_paper in rows.items():
        if of_paper:
            parts += [
                f"## {PAPERS[paper]}",
                pd.DataFrame(of_paper).to_markdown(index=False, disable_numparse=True),
            ]
    if not any(rows.values()):
        parts.append("No claim has an interval to go by.")
    parts += ["## How it is computed", _method(found)]
    if reasons:
        parts += ["## Claims of which nothing is known", "\n".join(reasons)]
    return "\n\n".join(parts) + "\n"


def read_results(folder: Path, configfiles: Sequence[str]) -> tuple[pd.DataFrame, list[Path]]:
    """Return the claims of a results folder by name, and the files that they are from: those of each paper,
    else of both."""
    files = [folder / name for name in CLAIMS if (folder / name).is_file()] or [folder / ALL_CLAIMS]
    if not files[0].is_file():
        raise PolyrewardError(
            f"{folder}: no {CLAIMS[0]}, {CLAIMS[1]} or {ALL_CLAIMS} to measure by; make them:"
            f" {_make(files[0], configfiles)}"
        )
    table = pd.concat([_read(path, configfiles) for path in files])
    return (
        table.fillna(dict.fromkeys(("n_of", "test", "speaks_of", "note"), "")).set_index("claim", drop=False),
        files,
    )


def _read(path: Path, configfiles: Sequence[str]) -> pd.DataFrame:
    table = pd.read_csv(path)
    missing = [name for name in COLUMNS if name not in table]
    if missing:
        raise PolyrewardError(
            f"{path}: no column {', '.join(missing)}; an earlier version made it; again:"
            f" {_make(path, configfiles)}"
        )
    return table


def _make(path: Path, configfiles: Sequence[str]) -> str:
    overlays = f" --configfile {' '.join(configfiles)}" if configfiles else ""
    return f"`snakemake --cores all {path}{overlays}`"


def _claim(name: str, entry: dict, table: pd.DataFrame, seeds: int, confidence: float) -> Claim:
    if name not in table.index:
        raise UnknownError("It is not in these results.")
    row, rule = table.loc[name], Rule(**entry["rule"])
    if row["rule"] != str(rule):
        raise UnknownError(f"It was measured by another rule ({row['rule']}).")
    return Claim(
        entry,
        row,
        rule,
        measured_error(row, rule, seeds if "between trainings" in row["test"] else 1, confidence),
    )


def _facts(claim: Claim) -> dict[str, str]:
    row, digits = claim.row, UNITS[claim.row["unit"]][2]
    of_z = " of z" if row["unit"] == "correlation" else ""
    return {
        "Holds if": f"{claim.rule} ({row['unit']})",
        "Measured": f"{row['estimate']:{digits}} [{row['low']:{digits}}, {row['high']:{digits}}]",
        "Standard error": f"{claim.measured.error:{digits.removeprefix('+')}}{of_z}",
        "Units": row["n_of"],
        "Printed": "" if pd.isna(printed := row.get("printed_estimate", np.nan)) else f"{printed:{digits}}",
    }


def _cells(claim: Claim, scales: Mapping[str, SizedScale], here: str, confidence: float) -> dict[str, str]:
    """Return from which value on a claim holds at each scale, with its mark and its number of units there."""
    row, measured = claim.row, claim.measured
    counts = {
        name: unit_counts(scale, claim.entry["quantity"]["name"], row["n_of"])
        for name, scale in scales.items()
    }
    if len(counts[here]) == 1:  # of one kind, so that its number is known
        counts[here] = dict.fromkeys(counts[here], measured.n)
    cells = {}
    for name, scale in scales.items():
        n, units = (
            round(min(counts[name].values())),
            min(counts[name][unit] / counts[here][unit] for unit in counts[here]),
        )
        seeds = (
            measured.seeds if name == here or not claim.of_seeds else len(scale.settings.reward_model_seeds)
        )
        either = claim.entry["quantity"].get("either_sign", False)
        value = needed_value(measured, claim.rule, row["unit"], n, units, seeds, confidence, either)
        known = THESE_MODELS if seeds < 2 else TRAININGS_UNKNOWN if measured.seeds < 2 else ""
        shown = "never" if np.isnan(value) else format(value, UNITS[row["unit"]][2])
        shown = (
            f"**{shown}**"
            if _reached(row.get("printed_estimate", np.nan), value, claim.rule, either)
            else shown
        )
        cells[name] = f"{shown}{known if row['speaks_of'] else ''} ({n})"
    return cells


def _reached(printed: float, value: float, rule: Rule, either_sign: bool) -> bool:
    """Tell whether what the paper prints is as far on the claimed side as a true value has to be; not where
    either is unknown."""
    printed = abs(printed) if either_sign else printed
    return bool(printed >= value if rule.side == "above" else printed <= value)


def _head(here: str, files: Sequence[Path], configfiles: Sequence[str], level: str) -> str:
    overlays = f" --configfile {' '.join(configfiles)}" if configfiles else ""
    return "\n\n".join([
        "# What each claim could decide",
        f"Written by `polyreward power{overlays}`, from {' and '.join(f'`{path}`' for path in files)} (scale {here}).",
        "In a scale's column stands the true value from which on the claim would hold there, by its rule at "
        f"{level}, with a probability of {POWER:.0%}, and in brackets the number of units that it rests on.",
        "\n".join([
            "- **bold**: what the paper prints is as large as that, so that a true effect of that size would be found.",
            f"- `{THESE_MODELS}`: a verdict would be of these models only, as there is one training of each.",
            f"- `{TRAININGS_UNKNOWN}`: there are several trainings of each there, but one of each here, so that how they vary is",
            "  not known and more is needed than stands there.",
            f"- never: no value of the unit is enough, or there are fewer than {FEWEST_UNITS} units, which decide nothing.",
        ]),
    ])  # fmt: skip


def _method(claims: Sequence[Claim]) -> str:
    split = "- There is one training of each reward model here, so that no interval knows how trainings vary."
    shares = [claim.measured.share for claim in claims if claim.measured.seeds > 1]
    if shares:
        split = (
            f"- Of the variance of claims about trained reward models {min(shares):.0%} to {max(shares):.0%}"
            f" is between trainings (median {np.median(shares):.0%}). That part is divided by the number of"
            " seeds, the rest by that of units."
        )
    return "\n".join([
        "- A standard error is the distance from the estimate to an end of its interval over Student's quantile, of as many",
        "  degrees of freedom as there are units less one; where trainings vary it is the `se` of claims.csv, and its degrees of",
        "  freedom are those of units and of two models' trainings together (Satterthwaite's). Of several contrasts it is that",
        "  of the end that faces the bound, as that decides.",
        "- At another scale it is multiplied by the root of the ratio of units. That takes the models there to differ from unit",
        "  to unit as much as these; of larger models it is a guide.",
        split,
        "- The true value is so many standard errors off the bound that the t test decides with that probability (noncentral t;",
        "  for correlations Fisher's z, whose error follows from the number of reward models).",
        "- Numbers of units follow from each scale's settings and data; of topics they are expected ones, where items are drawn.",
    ])  # fmt: skip
