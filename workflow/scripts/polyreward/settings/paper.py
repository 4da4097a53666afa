"""The files of a paper's folder, as classes: what it is, its claims, their lock, and its settings."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from polyreward.settings.base import Count, FromZero, Section

SHA256 = r"^[0-9a-f]{12}$"
NAME = r"^[a-z][a-z0-9_]*$"
Name = Annotated[str, Field(pattern=NAME)]
Text = Annotated[str, Field(min_length=1)]
Unit = Literal["points", "share", "KS", "correlation", "Fisher z", "index"]


class Source(Section):
    """Where printed numbers are from."""

    what: Text
    """The paper, page or repository, with its identifier."""
    read: Text
    """What of it was read, and how it was checked."""


class PrintedAccuracies(Section):
    """Accuracies of models that `polyreward matrix` shows.

    Columns of numbers are sections where `language` names a column, else languages by their codes."""

    benchmark: Text
    """What they are on, in words."""
    model: Text
    """Column of the model."""
    trained_in: Text | None = None
    """Column of the language that it was trained in."""
    language: Text | None = None
    """Column of the language that it was tested in."""
    all_languages: Text | None = None
    """Column of means over all languages of the benchmark, the only one that is shown."""


class PrintedTable(Section):
    """A file of printed/, by its name without .csv."""

    where: Text
    """The table or figure in the source."""
    source: Name
    """A key of sources."""
    keys: Annotated[list[str], Field(min_length=1)]
    """Columns that say what a row is; all others are numbers."""
    pairs: Count | dict[str, Count] | None = None
    """Pairs behind each number: one count where all columns of numbers have the same pairs, or a count for
    each column where each has pairs of its own. Without it the table has no intervals."""
    holds: Literal["share", "difference"] = "share"
    """share: percentages of the pairs. difference: one percentage minus another, in points."""
    averages: dict[str, list[str]] = {}
    """Columns that are printed as plain means of others; `claims check` compares them."""
    accuracies: PrintedAccuracies | None = None
    """What `polyreward matrix` shows of it; nothing by default."""
    note: str = ""
    """What a reader has to know about these numbers."""


class LeadCheck(Section):
    """English training minus target-language training, and which training language is best.

    The table has the columns base_model, eval_language and rm_language, and a number for each section and
    avg."""

    table: Name
    """A key of tables."""
    called: Text
    """How the rows of this check call the table."""
    sizes: Name
    """A key of tables, with the number of pairs of each subset in the columns subset and pairs."""


class TablesCheck(Section):
    """A check of several tables, by the `averages` that they name."""

    tables: Annotated[list[Name], Field(min_length=1)]
    """Keys of tables. One with a column `table` holds several, which are checked one by one."""
    called: Text | None = None
    """How the rows of this check call the table; by default by its place."""


class SameNumbersCheck(Section):
    """Whether a table prints the same accuracies as another."""

    table: Name
    """A key of tables. It has the columns eval_language, base_model and rm_training, which is english or
    target; or a column of averages for each language."""
    other: Name
    """A key of tables, with the columns of the check `lead`."""
    called: Text
    """How the rows of this check call both."""


class RankCheck(Section):
    """Neighbours of a leaderboard, with the binomial error of their difference."""

    table: Name
    """A key of tables."""
    called: Text
    """How the rows of this check call the table."""
    column: Text
    """Column of the score in percent."""
    items: Count
    """Items behind each score."""
    note: Text
    """What a reader has to know about the items."""


class CorrelationCheck(Section):
    """The n that r squared and p of each row imply; columns benchmark, downstream, r_squared and p_value."""

    table: Name
    """A key of tables."""


class GainCheck(Section):
    """Trained models minus the models that they start from."""

    table: Name
    """A key of tables, whose first key is the model."""
    called: Text
    """How the rows of this check call the table, and the training."""
    begins: Text
    """What the name of a trained model has before the name of its start."""
    columns: Annotated[dict[str, Text], Field(min_length=1)]
    """Columns of scores, and what they are called."""


class Checks(Section):
    """What `results/printed.csv` asks of the printed tables."""

    lead: LeadCheck | None = None
    """Leads of English with binomial errors, their means, and the best training language."""
    average: TablesCheck | None = None
    """How many printed averages are not the means of their parts."""
    copied: TablesCheck | None = None
    """Pairs of rows with the same numbers in two or more parts."""
    same_numbers: list[SameNumbersCheck] = []
    """How many numbers two tables print differently."""
    rank: RankCheck | None = None
    """Whether neighbours differ by more than their error."""
    correlation: CorrelationCheck | None = None
    """How many models a correlation rests on."""
    gain: GainCheck | None = None
    """What training adds."""


class PaperFacts(Section):
    """paper.yaml: what the paper is, and where its printed numbers are from."""

    name: Name
    """The folder's name, and the column `paper` of claims.csv."""
    short: Text
    """How tables call the paper."""
    title: Text
    """The paper's title."""
    arxiv: Annotated[str, Field(pattern=r"^\d{4}\.\d{4,5}$")] | None = None
    """Its number on arXiv."""
    note: str = ""
    """A note on each printed number in claims.csv."""
    scripts: dict[str, str] = {}
    """ISO 15924 script of each language of the printed tables, for quantities that compare scripts."""
    sources: Annotated[dict[Name, Source], Field(min_length=1)]
    """Where printed numbers are from, by a name of your choice."""
    tables: dict[Name, PrintedTable] = {}
    """The files of printed/."""
    checks: Checks | None = None
    """What the printed tables say by themselves; nothing by default."""


class VerdictRule(Section):
    """When the claim holds: where the whole interval is on this side of the bound.

    It fails where the interval is on the other side. Otherwise it is not decided."""

    side: Literal["above", "below"]
    """Side of the bound. Of several contrasts, the least is tested (above), or the greatest (below)."""
    threshold: float
    """In the claim's unit: zero, the paper's own number, or a convention, so that it is not tuned."""
    margin: FromZero
    """How far the bound is from the threshold, away from the claim: "beats or ties" is non-inferiority."""


class NullModel(Section):
    """The quantity for an uninformed scorer."""

    by: Literal["symmetry", "length", "permutation"]
    """symmetry: 0, since the compared groups could be exchanged. length: the quantity of a scorer that counts
    characters, on the same draws. permutation: the quantity with permuted values. Quantities of printed
    tables have symmetry only."""
    beyond: bool
    """true: the claim holds only if the quantity also exceeds the null. false: only the bound decides, as
    where the claim is that two things are alike."""


class QuantityOptions(BaseModel):
    """A quantity by its name, and its options; `polyreward claims quantities` lists them."""

    model_config = ConfigDict(extra="allow", frozen=True, use_attribute_docstrings=True)

    name: Name
    """The quantity."""


class Claim(Section):
    """An entry of claims.yaml: a statement of the paper, with the rule that tests it."""

    claim: Count
    """Number of the claim, in the paper's order."""
    where: Text
    """Place in the paper."""
    written: Literal["before", "known", "changed", "later"]
    """When the rule was written. before: its quantity was not known. known: it was. changed: as before, but
    the quantity was changed when other claims were known. later: added when a first result was known."""
    says: Text
    """The claim, in words that are understood without the paper."""
    quantity: QuantityOptions
    """What is measured."""
    measures: Text
    """The same in words."""
    unit: Unit
    """points: percentage points. share and KS: 0 to 1. correlation and index: -1 to 1."""
    rule: VerdictRule
    """When the claim holds."""
    null_model: NullModel
    """What an uninformed scorer would give."""


class Locked(Section):
    """An entry of claims.lock.yaml: the hash of a claim's rule, null, quantity and measures."""

    sha256: Annotated[str, Field(pattern=SHA256)]
    """Its first 12 digits; `polyreward claims check` says what it should be."""
    why: Text
    """Each change, with its date and reason."""


class SetAs(Section):
    """A key of the configuration or of a catalog."""

    key: Text
    """The key, with dots."""
    value: Any
    """The value."""
    source: Text
    """Place in the paper."""


class SetInCode(Section):
    """What no setting holds."""

    setting: Text
    """What is set."""
    source: Text
    """Place in the paper."""
    shown_by: Text
    """The test that shows it."""


class NotSet(Section):
    """What is done otherwise or left out."""

    setting: Text
    """What is set."""
    source: Text
    """Place in the paper."""
    why: Text
    """Why it is not done here."""


class PublishedSettings(Section):
    """settings.yaml: settings as the paper gives them, next to what scale paper sets."""

    set: list[SetAs] = []
    """Keys of the configuration."""
    catalog: list[SetAs] = []
    """Keys of files of workflow/catalog."""
    code: list[SetInCode] = []
    """What is set in code."""
    not_set: list[NotSet] = []
    """What is not set."""


Claims = dict[Name, Claim]
Lock = dict[Name, Locked]
# {file of a paper's folder: what it holds}; paper.yaml and claims.yaml are needed
FILES = {
    "paper.yaml": PaperFacts,
    "claims.yaml": Claims,
    "claims.lock.yaml": Lock,
    "settings.yaml": PublishedSettings,
}
