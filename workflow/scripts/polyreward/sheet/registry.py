"""The registry of tables, figures and notebooks: what each is, its files, and which a scale makes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from polyreward.core.errors import PolyrewardError
from polyreward.settings.model import Settings
from polyreward.sheet.catalogs import Catalog
from polyreward.sheet.data import instrument_check

OURS = "polyreward"  # the paper of what is in none
# {paper of the registry: heading in the report}
CATEGORIES = {"transfer": "Transfer paper", "carb": "CARB paper", OURS: "Not in the papers"}
OWN = "benchmark_"  # before the name of a benchmark of the user's own
OWN_CAPTION = (
    "Accuracy (%) of every scorer on {name} ({language}), on each subset and on all items, with"
    " {{confidence}} Wilson intervals, which count the items of a template as one."
    " {about}The chosen answer must score above every rejected one. A tie is half right for a baseline"
    " and for a judge of `verdict: text` or a `question`, and wrong for all others. Chance: accuracy of a"
    " random choice. Truncated: share of conversations cut to the scorer's window. Within noise: items"
    " whose margin is no larger than what batching may move."
)


def by_language(
    entries: dict[str, dict], names: dict[str, str], languages: Sequence[str] = ()
) -> dict[str, dict]:
    """Return workflow/artifacts.yaml with an entry for each table of an entry with `tables`.

    These are {artifact: evaluation language}. Its texts may say {table}, the artifact, {number}, what is left
    of it without `table`, and {language}, the language's name.

    Args:
        names: {language: name}.
        languages: the scale's; one that has no table gets the next number, and no printed numbers.

    Raises:
        PolyrewardError: a language has no name, or its table has the name of another artifact.
    """
    found, makers = {}, {}
    for name, entry in entries.items():
        if "tables" not in entry:
            found[name] = entry
            continue
        tables = entry["tables"]
        last = max(int(table.removeprefix("table")) for table in tables)
        further = [language for language in languages if language not in tables.values()]
        added = {f"table{number}": language for number, language in enumerate(further, last + 1)}
        for table, language in {**tables, **added}.items():
            if language not in names:
                raise PolyrewardError(
                    f"workflow/artifacts.yaml: {name}: `{language}` is not in resources/languages.yaml"
                )
            other = table if table in entries else makers.get(table)
            if other:
                raise PolyrewardError(
                    f"workflow/artifacts.yaml: `{other}` and `{name}` both make `{table}`. Give what"
                    f" `{other}` makes another name, since `{name}` numbers its tables by language"
                )
            makers[table] = name
            said = {"{table}": table, "{number}": table.removeprefix("table"), "{language}": names[language]}
            found[table] = {key: _filled(value, said) for key, value in entry.items() if key != "tables"}
            found[table] |= {"language": language} | ({"published": None} if table in added else {})
    return found


def _filled(value, said: dict[str, str]):
    for field, text in said.items():
        value = value.replace(field, text) if isinstance(value, str) else value
    return value


@dataclass(frozen=True)
class Registry:
    """The artifacts of a scale.

    Attributes:
        check: a sentence for captions, as data.instrument_check returns it.
        entries: {artifact: entry}, as by_language returns them.
        report: Snakemake's, flags a file.
    """

    settings: Settings
    check: str
    entries: dict[str, dict]
    report: Callable

    def entry(self, artifact: str) -> dict:
        """Return an artifact's entry; a benchmark of the user's own gets one here."""
        if artifact in self.entries:
            return self.entries[artifact]
        name = artifact.removeprefix(OWN)
        facts = self.settings.own_benchmarks[name]
        about = f"{facts.about.rstrip('.')}. ".replace("{", "{{").replace("}", "}}") if facts.about else ""
        return {
            "paper": OURS,
            "number": f"Benchmark {name}",
            "target": f"{artifact}.csv",
            "rule": "own_benchmark_table",
            "caption": OWN_CAPTION.format(name=name, language=facts.language, about=about),
        }

    def caption(self, artifact: str) -> str:
        """Return an artifact's caption, filled in."""
        caption = self.entry(artifact)["caption"]
        return caption.format(confidence=self.settings.confidence, check=self.check).strip()

    def shown(self, file: str, artifact: str, kind: str):
        """Return an output file that the report shows under its artifact's number, with param `caption`.

        Args:
            file: its name in the folder of artifacts; like `artifact` it may hold the rule's wildcards.
            kind: what the file is, in the report's words.
        """

        def of(wildcards) -> dict:
            return self.entry(artifact.format(**wildcards))

        return self.report(
            f"{self.settings.results}/{file}",
            caption="../report/caption.rst",
            category=lambda wildcards: CATEGORIES[of(wildcards)["paper"]],
            labels=lambda wildcards: {
                "number": of(wildcards)["number"],
                "kind": kind,
                "format": Path(file).suffix[1:],
            },
        )

    def table_files(self, artifact: str) -> dict:
        """Return a table's output files: its data, and what is rendered from them."""
        shown = {kind: self.shown(f"{artifact}.{kind}", artifact, "table") for kind in ("csv", "html")}
        return shown | {kind: f"{self.settings.results}/{artifact}.{kind}" for kind in ("md", "tex")}

    def figure_files(self, artifact: str) -> dict:
        """Return a figure's output files: drawn twice, and the plotted data."""
        kinds = {"png": "figure", "pdf": "figure", "csv": "plotted data"}
        return {key: self.shown(f"{artifact}.{key}", artifact, kind) for key, kind in kinds.items()}

    def compared_files(self) -> dict:
        """Return the output file of a comparison, with the wildcard {printed}."""
        return {"csv": self.shown("compare/{printed}.csv", "{printed}", "next to the printed")}

    @cached_property
    def made_here(self) -> dict[str, dict]:
        """The artifacts but tables of languages that the scale has not."""
        source, languages = self.settings.source_language, self.settings.languages
        return {name: one for name, one in self.entries.items() if one.get("language", source) in languages}

    def targets(self, paper: str | None = None) -> list[str]:
        """Return the files to ask for: of all artifacts that are made here, or of one paper's."""
        return [f"{self.settings.results}/{entry['target']}" for entry in self._made(paper).values()]

    @property
    def own_targets(self) -> list[str]:
        """The tables of the benchmarks of the user's own."""
        return [f"{self.settings.results}/{OWN}{name}.csv" for name in self.settings.own_benchmarks]

    @property
    def language_tables(self) -> dict[str, str]:
        """{table: its evaluation language} of the tables of one language each."""
        return {name: entry["language"] for name, entry in self.made_here.items() if "language" in entry}

    def printed(self, paper: str | None = None) -> dict[str, str]:
        """Return {table: the file of its printed numbers}, where these are known, of one paper or of both."""
        files = {name: entry["published"] for name, entry in self._made(paper).items()}
        return {name: file for name, file in files.items() if file}

    def compared_targets(self, paper: str | None = None) -> list[str]:
        """Return the tables that are compared with the printed ones, of one paper or of both."""
        return [f"{self.settings.results}/compare/{name}.csv" for name in self.printed(paper)]

    def _made(self, paper: str | None) -> dict[str, dict]:
        return {name: one for name, one in self.made_here.items() if paper in (None, one["paper"])}


def registry_of(
    settings: Settings, catalog: Catalog, artifacts: dict, report: Callable = lambda file, **_: file
) -> Registry:
    """Return a scale's registry; artifacts: workflow/artifacts.yaml; report: Snakemake's, flags a file."""
    entries = by_language(artifacts, catalog.facts("name", catalog.languages), settings.languages)
    return Registry(settings, instrument_check(settings, catalog), entries, report)
