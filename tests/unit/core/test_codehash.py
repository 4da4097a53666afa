"""What reruns follows from a script and all modules that it imports; only comments and docstrings are left out."""

import shutil

import pytest
from support import ROOT

from polyreward.core import codehash
from polyreward.core.codehash import PACKAGE, code_at, code_of
from polyreward.core.errors import PolyrewardError
from polyreward.scoring.families import LOADERS, loader_of

STAGES = ("sources", "prepare", "translate", "train", "score", "analyse", "artifacts")
SCRIPTS = {
    path.stem: path for stage in STAGES for path in sorted((ROOT / "workflow/scripts" / stage).glob("*.py"))
}

WITH_MODELS = {
    path.stem for path in SCRIPTS.values() if path.parent.name in ("prepare", "translate", "train", "score")
}


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A copy of the package; each test undoes its edits."""
    copy = tmp_path_factory.mktemp("package") / "polyreward"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


@pytest.fixture(scope="module")
def before(package):
    return {name: code_of(path, package) for name, path in SCRIPTS.items()}


@pytest.fixture
def rerun(package, before):
    """Return a function: which scripts rerun after an edit of a module."""

    def after(module, old, new):
        path = package / f"{module}.py"
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        try:
            return {name for name, script in SCRIPTS.items() if code_of(script, package) != before[name]}
        finally:
            path.write_text(text, encoding="utf-8")

    return after


# {edit: module, what it says, what it says then, scripts that rerun, scripts that do not}
EDITS = {
    "what holds libraries to AVX2": ("ops/machine", '"avx2"', '"avx512"', set(SCRIPTS), set()),
    "an error's words": ("sources/hub", "the hub refused the token", "the token is wrong", {"hub_model", "base_model"}, {"table1"}),
    "imported inside a function": ("translation/lm", "do_sample", "sample", {"translated_rows"}, {"training_pool"}),
    "logic": ("core/seeds", "digest[:4]", "digest[:5]", {"alignment_prompts"}, {"artifact_sums"}),
    "how reward models train": ("training/reward_model", '"chosen"', '"better"', {"reward_model"}, {"dpo_policy", "locals_grpo"}),
    "how a CSV is written": ("core/tables", "DIGITS = 6", "DIGITS = 7", {"training_pool", "table1"}, {"base_model"}),
    "far below": ("models/batches", "> budget", ">= budget", {"reward_model", "reward_scores"}, {"table1"}),
    "a whole package": ("translation/__init__", '"""', 'print()\n"""', {"translated_rows"}, {"table1"}),
    "a kind of reward model": ("core/kinds", "BASELINE =", "ANOTHER = 1\nBASELINE =", {"scorers", "carb_comparison"}, WITH_MODELS),
    "an option of the loss": ("settings/transfer", "class RewardModelTraining(Training):", "class RewardModelTraining(Training):\n    share: float = 0.0",
                              {"reward_model"}, {"translated_rows", "reward_scores", "candidates"}),
    "a scale's settings": ("sheet/scorers", '"""', 'print()\n"""', set(), {"table1", "claims", "reward_model"}),
}  # fmt: skip


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_reruns_what_imports_it(rerun, edit):
    module, old, new, reruns, stays = EDITS[edit]
    changed = rerun(module, old, new)
    assert reruns <= changed and not stays & changed


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    digest =", "    # a comment\n\n    digest ="),
        ('"""Seeds', '"""Other seeds'),
        ('"""Return', '"""Give'),
    ],
    ids=["comment", "docstring of a module", "of a function"],
)
def test_comments_and_docstrings_rerun_nothing(rerun, old, new):
    assert rerun("core/seeds", old, new) == set()


# What the syntax trees of Python 3.11, 3.12 and 3.13 show in different ways
CODE = """
def padded(text, width, form=""):
    return f"{text:{form}}" f"{text!r:>{width}.{width}}" "" f"{text:}" + "\\U0001fadc" + str(...)
"""
SAME_CODE = """
# A comment.
def padded(
    text,
    width,
    form='',
):
    'A docstring.'
    return (f'{text:{form}}'
            f"{text!r:>{width}.{width}}{text:}") + "\\U0001fadc" + str(...)
"""
HASH = "f208c68ec1a9720a"  # where it differs, another Python makes everything again
OTHER_CODE = ((":}", "}"), ('=""', '="x"'), (">", "<"), ("padded", "filled"), ("...", "None"), ('""', '"."'))


def test_a_hash_is_of_code_and_neither_of_its_layout_nor_of_python():
    assert codehash._parse(CODE) == codehash._parse(SAME_CODE) == [HASH, []]
    hashes = {codehash._parse(CODE.replace(old, new, 1))[0] for old, new in OTHER_CODE}
    assert len(hashes - {HASH}) == len(OTHER_CODE)


def test_a_script_s_own_edit_reruns_it(tmp_path):
    script = tmp_path / "one.py"
    script.write_text("print(1)\n")
    before = code_of(script)
    script.write_text("print(1)  # one\n")
    assert code_of(script) == before
    script.write_text("print(2)\n")
    assert code_of(script) != before


def test_each_kind_of_import_is_followed(tmp_path):
    package = tmp_path / "polyreward"
    (package / "room").mkdir(parents=True)
    imported = ["a.py", "b.py", "c.py", "room/e.py", "room/__init__.py"]
    for name in (*imported, "d.py", "__init__.py"):
        (package / name).touch()
    (package / "a.py").write_text("def f():\n    if True:\n        from polyreward import c\n")
    script = tmp_path / "one.py"
    script.write_text(
        "import polyreward.a\nfrom polyreward.b import f\nfrom polyreward.room.e import g as h\n"
    )
    for name in (*imported, "d.py"):
        before = code_of(script, package)
        (package / name).write_text((package / name).read_text() + "\nx = 1\n")
        assert (code_of(script, package) != before) == (name in imported), name


def test_a_relative_import_is_refused_since_it_would_not_be_followed(tmp_path):
    (tmp_path / "one.py").write_text("from . import two\n")
    with pytest.raises(PolyrewardError, match="`from . import two`: a relative import"):
        code_of(tmp_path / "one.py")


def test_a_reward_model_reruns_for_its_own_kind_only():
    hashes = {kind: code_at(place) for kind, place in LOADERS.items()}
    assert hashes["judge on a server"] == code_of(PACKAGE / "scoring/server.py")
    assert hashes["judge on a server"] != hashes["classifier"]


@pytest.mark.parametrize(("entry", "kind"), [
    ({"kind": "classifier"}, "classifier"),
    ({"kind": "generative"}, "judge"),
    ({"kind": "generative", "verdict": "criteria"}, "judge with criteria"),
    ({"kind": "generative", "server": {}}, "judge on a server"),
    ({"kind": "generative", "serve": {}, "verdict": "text"}, "judge that is served here"),
])  # fmt: skip
def test_an_entry_names_its_loader(entry, kind):
    assert loader_of(entry) == LOADERS[kind]


def test_a_kind_s_loader_is_in_the_module_of_its_name_and_an_unknown_kind_is_named():
    assert loader_of({"kind": "implicit"}) == "polyreward.scoring.implicit:load"
    with pytest.raises(PolyrewardError, match="`kind: implict`: no such kind of reward model"):
        loader_of({"kind": "implict"})


def forget():
    codehash._parsed.clear()
    codehash._known.cache_clear()
    codehash._summary.cache_clear()


def test_what_was_parsed_is_kept_for_the_next_run(tmp_path, monkeypatch):
    monkeypatch.setattr(codehash, "PARSED", tmp_path / "new/parsed.json")
    forget()
    made = code_of(SCRIPTS["table1"])
    codehash.save_parsed()
    forget()
    with monkeypatch.context() as patched:
        patched.setattr(codehash, "_parse", None)  # nothing is parsed
        assert code_of(SCRIPTS["table1"]) == made
        forget()
        patched.setattr(codehash, "_own_text", lambda: "another way to hash")
        with pytest.raises(TypeError):  # all is parsed
            code_of(SCRIPTS["table1"])
    codehash.PARSED.write_text("{", encoding="utf-8")
    forget()
    assert code_of(SCRIPTS["table1"]) == made
    forget()
