"""What reruns follows from the code that a script can reach, and from nothing else."""

import ast
import json
import shutil

import grimp
import pytest
from support import ROOT

from polyreward.core.codehash import PACKAGE, WITHOUT_EFFECT, Library
from polyreward.scoring.families import LOADERS, loader_of

SCRIPTS = sorted((ROOT / "workflow/scripts").glob("*.py"))
CODE_OF = {path.stem: path for path in SCRIPTS}


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the package that is edited, and the hashes of all scripts before; each test undoes its
    edits."""
    package = tmp_path_factory.mktemp("package") / "polyreward"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    library = Library(package)
    return library, {name: library.code(path) for name, path in CODE_OF.items()}


@pytest.fixture
def rerun(copy):
    """Return a function: which scripts rerun after an edit of a module."""
    library, before = copy

    def after(module, old, new):
        path = library.file(f"polyreward.{module}")
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        library.forget(f"polyreward.{module}")
        changed = {name for name, script in CODE_OF.items() if library.code(script) != before[name]}
        path.write_text(text, encoding="utf-8")
        library.forget(f"polyreward.{module}")
        return changed

    return after


# {edit: module, what stands there, what is put there, scripts that rerun, scripts that do not}
EDITS = {
    "logic": ("core.seeds", "digest[:4]", "digest[:5]", {"alignment_prompts"}, {"base_model", "table1"}),
    "the layout of criteria": (
        "scoring.criteria_layout",
        '"endless"',
        '"no end"',
        {"locals_comparison"},
        {"configured_reward_scores"},
    ),
    "a client of servers": (
        "scoring.server",
        '"seed": 42',
        '"seed": 43',
        set(),
        {"carb_scores", "configured_reward_scores"},
    ),
    "checks of settings": (
        "running.settings",
        "yield f",
        "yield 2 * f",
        set(),
        {"transfer_claims", "claims", "reward_model"},
    ),
    "how reward models train": (
        "training.reward_model",
        '"chosen"',
        '"better"',
        {"reward_model"},
        {"dpo_policy", "locals_grpo"},
    ),
    "how a CSV is written": (
        "core.tables",
        "DIGITS = 6",
        "DIGITS = 7",
        {"training_pool", "table1"},
        {"base_model"},
    ),
    "a prompt as text": (
        "core.conversations",
        "turn['content']",
        "turn['role']",
        {"embedding_norms"},
        {"table1"},
    ),
    "far below": ("models.batches", "> budget", ">= budget", {"reward_model", "reward_scores"}, {"table1"}),
    "on import": (
        "models.tree_attention",
        "register(NAME, sdpa_mask)",
        "register(NAME, None)",
        {"reward_scores"},
        {"table1"},
    ),
    "imported when needed": ("translation.lm", "do_sample", "sample", {"translated_rows"}, {"training_pool"}),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_reruns_what_can_reach_it(rerun, edit):
    module, old, new, reruns, stays = EDITS[edit]
    changed = rerun(module, old, new)
    assert reruns <= changed and not stays & changed


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        ("core.seeds", "    digest =", "    # a comment\n\n    digest ="),
        ("core.seeds", '"""Seeds', '"""Other seeds'),
        ("core.seeds", '"""Return', '"""Give'),
        ("models.frozen", '"""Memory', '"""The memory'),
        ("models.frozen", "from polyreward.models.batches", "import ast\n\nfrom polyreward.models.batches"),
        ("analysis.accuracy", "a score is not a number", "there is a score that is not a number"),
        ("core.seeds", "root: int", "root: object"),
        ("core.logs", "print(", "print('x', "),
    ],
    ids=[
        "comment",
        "docstring of a module",
        "of a function",
        "of a class",
        "import",
        "words of an error",
        "annotation",
        "log",
    ],
)
def test_what_no_result_depends_on_reruns_nothing(rerun, module, old, new):
    assert rerun(module, old, new) == set()


def test_every_module_reruns_what_the_import_graph_says(copy, rerun):
    """A line that runs on import reruns every script that imports the module, and none that does not, near or
    far."""
    library, _ = copy
    graph = grimp.build_graph("polyreward", cache_dir=None)
    direct = {name: imports_of(path) for name, path in CODE_OF.items()}
    modules = [
        name for name in sorted(graph.modules - WITHOUT_EFFECT) if library.file(name).name != "__init__.py"
    ]
    assert len(modules) > 100
    for module in modules:
        changed = rerun(module.removeprefix("polyreward."), '"""', 'print()\n"""')
        near = {name for name, found in direct.items() if module in found}
        far = {
            name
            for name, found in direct.items()
            if any(module in graph.find_upstream_modules(one) for one in found & graph.modules)
        }
        assert near <= changed <= near | far, module


def test_a_package_that_does_something_on_import_reruns_what_uses_its_modules(rerun):
    changed = rerun("translation", '"""', 'print()\n"""')
    assert "translated_rows" in changed and "table1" not in changed


def imports_of(script):
    """Return what a script imports itself of the package: modules, and names in them."""
    nodes = [
        node
        for node in ast.parse(script.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom)
    ]
    return {
        name
        for node in nodes
        for name in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
    }


def test_a_reward_model_reruns_for_its_own_kind_alone(copy):
    library, _ = copy
    before = {kind: library.code_at(place) for kind, place in LOADERS.items()}
    assert len(set(before.values())) == len(before)
    path = library.file("polyreward.scoring.server")
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"seed": 42', '"seed": 43'), encoding="utf-8")
    library.forget("polyreward.scoring.server")
    changed = {kind for kind, place in LOADERS.items() if library.code_at(place) != before[kind]}
    path.write_text(text, encoding="utf-8")
    library.forget("polyreward.scoring.server")
    assert changed == {"judge on a server"}


@pytest.mark.parametrize(
    ("entry", "kind"),
    [
        ({"kind": "classifier"}, "classifier"),
        ({"kind": "generative"}, "judge"),
        ({"kind": "generative", "verdict": "criteria"}, "judge with criteria"),
        ({"kind": "generative", "server": {}}, "judge on a server"),
        ({"kind": "generative", "serve": {}, "verdict": "text"}, "judge that is served here"),
    ],
)
def test_an_entry_names_its_loader(entry, kind):
    assert loader_of(entry) == LOADERS[kind]


def test_what_was_parsed_is_kept_for_the_next_run(tmp_path):
    cache = tmp_path / "new" / "cache.json"
    first = Library(cache=cache)
    made = [first.code(path) for path in SCRIPTS[:9]]
    first.save()
    second = Library(cache=cache)
    assert second._known == json.loads(cache.read_text())
    assert [second.code(path) for path in SCRIPTS[:9]] == made
    time_of = cache.stat().st_mtime_ns
    second.save()
    assert cache.stat().st_mtime_ns == time_of  # nothing new
    cache.write_text("{", encoding="utf-8")
    assert [Library(cache=cache).code(path) for path in SCRIPTS[:9]] == made
