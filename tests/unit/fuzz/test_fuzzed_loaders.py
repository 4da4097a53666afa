"""Files of strangers, made up by hypothesis: each is read, or refused in words; nothing runs, and nothing is
written.

FUZZ_EXAMPLES sets how many are tried of each kind; `make fuzz` tries 5,000 and prints the counts."""

import os
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from pair_data import WRITERS
from support import ROOT, refused, script

from polyreward.core.errors import PolyrewardError
from polyreward.core.files import write_jsonl
from polyreward.core.inert import HIDDEN
from polyreward.prepare.pair_files import read_pairs
from polyreward.settings.messages import type_problems
from polyreward.settings.model import Settings
from polyreward.sources.templates import read_templates
from polyreward.translation.catalog import read_translations

_carb_items = script("prepare/carb_items")
Expected, read_item_files = _carb_items.Expected, _carb_items.read_item_files

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "20"))
fuzzed = settings(
    max_examples=EXAMPLES, deadline=None, derandomize=EXAMPLES <= 20, database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.filter_too_much],
)  # fmt: skip
SCHEMA = yaml.safe_load((ROOT / "workflow/schemas/templates.schema.yaml").read_text(encoding="utf-8"))
EXPECTED = Expected({"ko": "Korean", "ar": "Arabic"}, {"ko": "Kore", "ar": "Arab"}, ["food", "law"])
CODE = "open('injected', 'w')"
NASTY = [
    "", " ", "\x00", "\x1b[2J", "\u202e", "\ufeff", "\ud800", "\U0010ffff", "=1+1", "@SUM(A1)", "../../injected", "/injected",
    "$(touch injected)", "`touch injected`", "{x}", "{prompt}", "{{7*7}}", "%s", "<script>", "]]>", "nan", "NaN", "Infinity", "-0",
    "1e999", "null", "true", "a" * 10_000, "\ud55c\uad6d\uc5b4", "\u0627\u0644\u0639\u0631\u0628\u064a\u0629", "[{",
    '[{"role": "user", "content": "x"}]', f"!!python/object/apply:exec [{CODE!r}]", "&a *a",
]  # fmt: skip
texts = st.one_of(st.sampled_from(NASTY), st.text(max_size=40), st.text(st.characters(), max_size=10))
roles = st.sampled_from(["user", "assistant", "system", "x", ""])
turns = st.fixed_dictionaries({"role": roles, "content": texts})
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), texts),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=6,
)
KEYS = [
    *("id", "subset", "category", "template", "prompt", "chosen", "rejected"),
    *("language", "culture", "domain", "perturbations", "versions"),
]


def rows_of(good):
    """Rows that are good but for one or two values, or of any keys."""
    spoilt = st.tuples(
        st.fixed_dictionaries(good),
        st.dictionaries(st.sampled_from(KEYS), st.one_of(values, st.lists(turns, max_size=3)), max_size=2),
    )
    return st.one_of(
        spoilt.map(lambda both: {**both[0], **both[1]}),
        st.dictionaries(st.one_of(st.sampled_from(KEYS), texts), values, max_size=6),
    )


prompts = st.one_of(texts, st.lists(turns, max_size=3))
pair_rows = rows_of({**dict.fromkeys(["id", "subset", "chosen", "rejected"], texts), "prompt": prompts})
item_rows = rows_of({
    "id": texts, "language": st.sampled_from(["ko", "Korean", "ar"]), "domain": st.sampled_from(["food", "cultural_law"]),
    "prompt": texts, "chosen": texts, "rejected": st.lists(texts, min_size=3, max_size=3),
})  # fmt: skip


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder that holds nothing but the file that is read; checked at the end."""
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    given = {f"given.{kind}" for kind in ("jsonl", "json", "csv", "parquet")}
    assert {path.name for path in tmp_path.iterdir()} <= {"given", *given, "out.jsonl"}
    assert not Path("/injected").exists()


def read_or_refused(read, *arguments):
    """Return what is read, or None after an error in words that a terminal and a log can hold."""
    try:
        return read(*arguments)
    except PolyrewardError as error:
        assert str(error).encode(errors="backslashreplace")
        assert "Traceback" not in str(error)
        return None


def pairs_can_be_used(path: Path) -> None:
    rows = read_or_refused(read_pairs, path)
    for row in rows or []:
        assert not HIDDEN.search(row["id"] + row["subset"])
        assert row["chosen"].strip()
    if rows:
        write_jsonl(rows, path.with_name("out.jsonl"))


@pytest.mark.parametrize("kind", [".jsonl", ".json", ".csv", ".parquet"])
@fuzzed
@given(st.lists(pair_rows, max_size=4), st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "latin-1"]))
def test_pairs_with_a_wrong_value(here, kind, rows, encoding):
    try:
        content = WRITERS[kind](rows)
    except Exception:  # not every table can be one
        assume(False)
    if kind == ".csv":
        content = content.decode("utf-8-sig").encode(encoding, errors="replace")
    (here / f"given{kind}").write_bytes(content)
    pairs_can_be_used(here / f"given{kind}")


@fuzzed
@given(
    st.binary(max_size=200),
    st.sampled_from([".jsonl", ".json", ".csv", ".parquet"]),
    st.sampled_from([b"", b"PAR1", b"id,chosen,rejected\n", b"[", b"{"]),
)
def test_any_bytes_as_pairs(here, content, suffix, start):
    (here / f"given{suffix}").write_bytes(start + content)
    pairs_can_be_used(here / f"given{suffix}")


@fuzzed
@given(st.lists(item_rows, max_size=4))
def test_items_of_carb(here, rows):
    (here / "given.jsonl").write_bytes(WRITERS[".jsonl"](rows))
    read_or_refused(read_item_files, [here / "given.jsonl"], EXPECTED)


templates = st.one_of(values.map(lambda found: yaml.safe_dump(found, allow_unicode=True)), texts)


@fuzzed
@given(st.one_of(st.binary(max_size=200), templates.map(lambda text: text.encode(errors="replace"))))
def test_any_templates(here, content):
    (here / "given").write_bytes(content)
    read_or_refused(read_templates, [here / "given"], SCHEMA)


@fuzzed
@given(texts, texts, st.binary(max_size=100))
def test_any_catalogs(here, source, target, rest):
    text = (
        f'msgid ""\nmsgstr "Content-Type: text/plain; charset={target[:20]}\\n"\n\nmsgid "{source}"\nmsgstr'
        f' "{target}"\n'
    )
    (here / "given").write_bytes(text.encode(errors="replace") + rest)
    read_or_refused(read_translations, here / "given", "es", {"x": "y"})


sections = st.sampled_from(["results", "seed", "reward_models", "bases", "devices"])


@fuzzed
@given(st.dictionaries(st.one_of(sections, texts), values, max_size=4))
def test_any_settings(here, content):
    for problem in type_problems(Settings, content):
        assert str(problem)


AFTER = '{{"prompt": [{{"role": "{}", "content": "p"}}], "chosen": "c", "rejected": "r"}}'


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("[" * 200_000, "nested too deep"),
        ('{"id": ' + "9" * 10_000 + "}", "not JSON"),
        ('{"id": "a", "id": "b"}', "`id` appears twice in one object"),
        (r'{"id": "\ud800"}', "an unpaired surrogate"),
        (
            '{"id": "a", "prompt": "p", "chosen": "c", "rejected": "r", "subset": "\\u001b[2J"}',
            r"invisible characters \(\\x1b\[2J\)",
        ),
        (AFTER.format("tutor"), "has the role `tutor`"),
        (AFTER.format("assistant"), "ends with a message of the assistant"),
    ],
)
def test_what_once_was_a_traceback_is_said(here, line, said):
    for name, text in (("given.jsonl", line), ("given.json", f"[{line}]")):
        (here / name).write_text(text, encoding="utf-8")
        with pytest.raises(PolyrewardError, match=said):
            read_pairs(here / name)


def test_a_text_of_ten_megabytes_is_read(here):
    long = "a" * 10_000_000
    write_jsonl([{"prompt": "p", "chosen": long, "rejected": "r"}], here / "given.jsonl")
    assert len(read_pairs(here / "given.jsonl")[0]["chosen"]) == 10_000_000
    (here / "given.csv").write_text(f"prompt,chosen,rejected\np,{long},r\n", encoding="utf-8")
    assert len(read_pairs(here / "given.csv")[0]["chosen"]) == 10_000_000


def test_a_catalog_that_is_not_utf_8_is_said(here):
    (here / "given").write_bytes('msgid "a"\nmsgstr "\u00e1"\n'.encode("latin-1"))
    assert "not UTF-8" in refused(read_translations, here / "given", "es", {})


@pytest.mark.parametrize(
    "content",
    [
        f"!!python/object/apply:exec [{CODE!r}]",
        "!!python/name:os.system",
        "!x y",
        "- &a [*a]",
        "- 2024-99-99",
        "[" * 5000,
    ],
)
def test_a_yaml_tag_runs_nothing(here, content):
    (here / "given").write_text(content, encoding="utf-8")
    with pytest.raises(PolyrewardError):
        read_templates([here / "given"], SCHEMA)
