"""The claims of both papers, and the numbers that the papers print, for tests of the table of claims."""

from support import ROOT

from polyreward.claims.printed import Printed
from polyreward.claims.table import claims_table
from polyreward.sheet.papers import PAPERS, read_papers

PAPERS_HERE = read_papers(ROOT)
SHORTS = {name: paper.facts["short"] for name, paper in PAPERS_HERE.items()}
CLAIMS = {**PAPERS_HERE["transfer"].claims, **PAPERS_HERE["carb"].claims}
PRINTED = {
    name: Printed.read((ROOT / PAPERS / name / "printed").glob("*.csv"), paper.facts)
    for name, paper in PAPERS_HERE.items()
}


def of_paper(paper):
    return PAPERS_HERE[paper].claims


def rows_of(claims, made_up):
    """Return the rows of some claims of one paper on made-up evidence."""
    (paper,) = {entry["paper"] for entry in claims.values()}
    return claims_table(claims, made_up, PRINTED[paper], 0.95).set_index("claim", drop=False)
