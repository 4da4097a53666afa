"""Notebooks: run with the pipeline's settings, the same from run to run, and not written where a cell
fails."""

import json

import jupytext
import pytest
from support import script
from tiny_models import ROOT

from polyreward.core.errors import PolyrewardError

execute_notebook = script("artifacts/executed_notebook").execute_notebook
write_notebook = script("artifacts/executed_notebook").write_notebook

HEAD = '# %% tags=["parameters"]\nSETTINGS = {"results": "results"}\n\n'
WORKING = """# %%
import sys
import pandas as pd
from polyreward.core.naming import stage
pd.DataFrame({"path": [stage(SETTINGS["results"], "scores", "x.csv")], "of": [SETTINGS["languages"]]})

# %% [markdown]
# # What $x_1$ says

# %%
# %matplotlib inline
from IPython.display import display
from matplotlib.figure import Figure
figure = Figure(figsize=(1, 1))
figure.subplots()
display(figure, metadata={"image/png": {"alt": "an empty <figure>"}})
"""
FAILING = "# %%\nshare = {}\n\n# %%\nshare['xx']\n"


def written(folder, text):
    (folder / "of.py").write_text(text, encoding="utf-8")
    return folder / "of.py"


@pytest.fixture(scope="module")
def notebooks(tmp_path_factory):
    """The same notebook after two runs, the second by a user with settings of Matplotlib and a kernel."""
    source = written(tmp_path_factory.mktemp("notebook"), HEAD + WORKING)
    settings = {"results": "results/tiny", "languages": ["es", "ko"]}
    first = execute_notebook(source, settings)
    users = source.with_name("matplotlibrc")
    users.write_text("axes.facecolor: red\n", encoding="utf-8")
    kernel = source.parent / "kernels/python3/kernel.json"
    kernel.parent.mkdir(parents=True)
    kernel.write_text('{"argv": ["false"], "display_name": "theirs", "language": "python"}', encoding="utf-8")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("MATPLOTLIBRC", str(users))
        patched.setenv("JUPYTER_PATH", str(source.parent))
        return [first, execute_notebook(source, settings)]


@pytest.fixture(scope="module")
def pages(notebooks, tmp_path_factory):
    """Both of them as [(ipynb, html)]."""
    found = []
    for notebook in notebooks:
        folder = tmp_path_factory.mktemp("page")
        paths = [folder / f"of.{kind}" for kind in ("ipynb", "html")]
        write_notebook(notebook, *paths)
        found.append([path.read_text(encoding="utf-8") for path in paths])
    return found


def test_a_notebook_runs_with_the_pipelines_settings(pages):
    cells = json.loads(pages[0][0])["cells"]
    table = next(cell for cell in cells if "import sys" in "".join(cell["source"]))["outputs"][0]["data"]
    assert "results/tiny/work/5_scores/x.csv" in "".join(table["text/plain"])
    assert "[es, ko]" in "".join(table["text/plain"])
    assert "SETTINGS = {'results': 'results/tiny', 'languages': ['es', 'ko']}" in "".join(cells[1]["source"])


def test_two_runs_give_the_same_bytes_without_times(pages):
    assert pages[0] == pages[1]
    ids = [cell["id"] for cell in json.loads(pages[0][0])["cells"]]
    assert ids == [f"cell-{number}" for number in range(1, 6)]
    assert "iopub" not in pages[0][0]


def test_the_page_loads_nothing_and_has_words_for_its_figure(pages):
    assert "<script src" not in pages[0][1]
    assert "cdn" not in pages[0][1]
    assert 'alt="an empty &lt;figure&gt;"' in pages[0][1]


def test_a_failing_cell_is_told_with_its_traceback(tmp_path):
    said = r"(?s)of.py: a cell failed.*share\['xx'\].*KeyError: 'xx'"
    with pytest.raises(PolyrewardError, match=said) as caught:
        execute_notebook(written(tmp_path, HEAD + FAILING), {})
    assert "\x1b" not in str(caught.value)


def test_a_warning_goes_to_the_log_since_it_names_paths(tmp_path, caplog):
    cell = "# %%\nimport warnings\nwarnings.warn('few pairs')\nprint('kept')\n"
    notebook = execute_notebook(written(tmp_path, HEAD + cell), {})
    (output,) = notebook.cells[-1].outputs
    assert output.text == "kept\n"
    assert "cell-3: " in caplog.text and "UserWarning: few pairs" in caplog.text


@pytest.mark.parametrize("text", [WORKING, HEAD + HEAD])
def test_a_notebook_has_one_cell_for_its_settings(tmp_path, text):
    said = "of.py: [02] cells are tagged `parameters`; tag the one that sets SETTINGS"
    with pytest.raises(PolyrewardError, match=said):
        execute_notebook(written(tmp_path, text), {})


def test_neither_file_is_written_where_one_cannot_be(tmp_path, notebooks):
    (tmp_path / "of.html").mkdir()
    with pytest.raises(OSError):
        write_notebook(notebooks[0], tmp_path / "of.ipynb", tmp_path / "of.html")
    assert not (tmp_path / "of.ipynb").exists()


@pytest.mark.parametrize("name", ["transfer", "carb"])
def test_a_notebook_without_results_says_how_they_are_made(tmp_path, monkeypatch, name):
    monkeypatch.chdir(ROOT)
    said = {}
    with pytest.raises(FileNotFoundError, match=f"is not here: `make {name}` makes what this notebook reads"):
        for cell in jupytext.read(ROOT / f"workflow/notebooks/{name}.py").cells:
            if cell.cell_type == "code":
                exec(cell.source.replace("%matplotlib inline", ""), said)
            if "SETTINGS" in said:
                said["SETTINGS"]["results"] = str(tmp_path)
