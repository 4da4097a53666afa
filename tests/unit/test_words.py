"""Plain words in what users read: README, documents and captions have short sentences, and no word of a list."""

import ast
import re
from statistics import fmean

import pytest
import yaml
from support import ROOT

from polyreward.sheet.papers import read_papers

LONGEST, MEAN = 35, 18  # words of a sentence, and of all sentences of a page in the mean
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *(path for path in sorted((ROOT / "docs").rglob("*.md")) if "data" not in path.parts),
]
# {a word or phrase of older English, or a noun that names nothing: what to write instead}
REFUSED = {
    "beside": "next to",
    "besides": "except, or also",
    "alone": "only",
    "anew": "again",
    "in place of": "instead of",
    "whoever": "a scorer that, or people who",
    "whose own": "its own",
    "nobody": "say what happens",
    "kin": "alike",
    "by lot": "at random",
    "dealt": "permuted",
    "mend": "fix",
    "told": "reported",
    "stands": "is",
    "of before": "previous",
    "that of before": "the previous",
    "what cannot know": "an uninformed scorer",
    "who knows": "a model that knows",
    "for what": "for a scorer that",
    "save for": "except",
    "ere": "before",
}
LESS = re.compile(r"\bless\b(?! (than|precise|often|common|likely|memory))")  # minus


def prose(text: str) -> list[str]:
    """Return the sentences of a page: without code, tables of numbers, headings, comments and what is generated."""
    text = re.sub(r"^ *```.*?^ *```$", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"<!-- (?:table|part) .*?<!-- end -->", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->", " ", text, flags=re.DOTALL)
    text = re.sub(r"`[^`]+`", "Code", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    blocks, block = [], []
    for line in [*text.splitlines(), ""]:
        starts = re.match(r"\s*([-*]|\d+\.) |\||#|\{\{|$", line)
        if starts and block:
            blocks.append(" ".join(block))
            block = []
        if line.startswith("|"):
            blocks += [cell.strip() for cell in line.strip("|").split("|")]
        elif line.strip() and not line.startswith(("#", "{{")):
            block.append(re.sub(r"^\s*([-*]|\d+\.) ", "", line).strip())
    words = [re.sub(r"[*_&;]+", " ", block) for block in blocks if re.search(r"[A-Za-z]{2}", block)]
    return [one for block in words for one in re.split(r"(?<=[.!?])\s+(?=[A-Z\d(\"'])", block) if one.strip()]


def captions() -> str:
    entries = yaml.safe_load((ROOT / "workflow/artifacts.yaml").read_text(encoding="utf-8"))
    return "\n\n".join(entry["caption"] for entry in entries.values())


def claims() -> str:
    papers = read_papers(ROOT).values()
    return "\n\n".join(entry["says"] for paper in papers for entry in paper.claims.values())


def docstrings() -> str:
    """Return the docstrings of the library and the scripts, each argument in a paragraph of its own."""
    texts = []
    for path in sorted((ROOT / "workflow/scripts").rglob("*.py")):
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        owners = [node for node in nodes if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)]
        texts += [ast.get_docstring(owner) or "" for owner in owners]
    return re.sub(r"(?<=[.:])\s+(?=[\w*, ]+: )", "\n\n", "\n\n".join(texts))


TEXTS = {
    **{path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in PAGES},
    "captions": captions(),
    "claims": claims(),
    "docstrings": docstrings(),
}


def test_sentences_are_found_in_prose_lists_and_cells_and_not_in_code_or_numbers():
    page = (
        "# A head\n\nOne `a.b c` here. Two [links](x.md)\nover lines.\n\n- Three\n  more.\n- Four.\n\n"
        "```\nno sentence\n```\n\n| Five | six. Seven |\n| --- | --- |\n\n"
        "<!-- table a.csv: x -->\n\n| 1 |\n\n<!-- end -->\n"
    )
    found = ["One Code here.", "Two links over lines.", "Three more.", "Four.", "Five", "six.", "Seven"]
    assert prose(page) == found


@pytest.mark.parametrize("name", TEXTS)
def test_sentences_are_short(name):
    lengths = {one: len(one.split()) for one in prose(TEXTS[name])}
    assert [one for one, length in lengths.items() if length > LONGEST] == []
    whole = [length for one, length in lengths.items() if one.endswith((".", "?", "!"))]
    assert not whole or fmean(whole) <= MEAN


@pytest.mark.parametrize("name", TEXTS)
def test_words_are_current(name):
    text = " ".join(prose(TEXTS[name])).lower()
    found = {word: better for word, better in REFUSED.items() if re.search(rf"\b{re.escape(word)}\b", text)}
    assert found == {}
    assert LESS.findall(text) == [], "minus"


def test_results_pages_have_no_measurement_that_is_typed_by_hand():
    for path in sorted((ROOT / "docs/results").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        text = re.sub(r"<!-- (value|mean|table) .*?<!-- end -->", "", text, flags=re.DOTALL)
        text = re.sub(r"`[^`]*`", "", text)
        found = re.findall(r"(?<![\w.])[-+]?\d+\.\d+(?![\w.])", text)
        assert found == [], f"{path.name}: take these from docs/data/ by a marker (docs/fill.py)"
