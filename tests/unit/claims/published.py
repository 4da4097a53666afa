"""The claims of both papers, and the numbers that the papers print, for tests of the table of claims."""

import pandas as pd
import yaml
from made_up import SCRIPTS
from support import ROOT

from polyreward.claims.carb_printed import CarbPrinted
from polyreward.claims.table import claims_table
from polyreward.claims.transfer_printed import Printed

CLAIMS = yaml.safe_load((ROOT / "workflow/claims.yaml").read_text(encoding="utf-8"))


def tables(*names):
    return [pd.read_csv(ROOT / f"resources/published/{name}.csv") for name in names]


PRINTED = {
    "transfer": Printed(*tables("transfer_table1", "transfer_table2", "transfer_tables3to7"), SCRIPTS),
    "carb": CarbPrinted(
        *tables("carb_leaderboard", "carb_correlation", "carb_perturbation", "carb_think_as_locals")
    ),
}


def of_paper(paper):
    return {name: entry for name, entry in CLAIMS.items() if entry["paper"] == paper}


def rows_of(claims, made_up):
    """Return the rows of some claims of one paper on made-up evidence."""
    (paper,) = {entry["paper"] for entry in claims.values()}
    return claims_table(claims, made_up, PRINTED[paper], 0.95).set_index("claim", drop=False)
