"""Execute a notebook in jupytext's percent format; write it as .ipynb and as a web page, the same in every
run."""

import logging
import os
import pprint
import tempfile
from pathlib import Path

import jupytext
from jinja2 import DictLoader
from jupyter_client import AsyncKernelManager
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbconvert import HTMLExporter
from nbconvert.filters import strip_ansi
from nbformat import NotebookNode, writes
from nbformat.v4 import new_code_cell

import polyreward
from polyreward.core.errors import PolyrewardError
from polyreward.core.files import whole_file
from polyreward.ops.jobs import run

logger = logging.getLogger(__name__)

SCRIPTS = Path(polyreward.__file__).parents[1]
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
# nbconvert's page, without the scripts that it would load from other servers, and with words for images
OFFLINE = """{% extends 'lab/index.html.j2' %}
{% block html_head_js_requirejs %}{% endblock %}
{% block html_head_js_mathjax %}{% endblock %}
{% block html_head_js_mermaidjs %}{% endblock %}
{% block data_png scoped %}
<div class="jp-RenderedImage jp-OutputArea-output {{ extra_class }}">
  <img style="max-width: 60em" src="data:image/png;base64,{{ output.data['image/png'] }}"
  alt="{{ (output | get_metadata('alt', 'image/png') or '') | e }}"></div>
{% endblock %}
"""


def execute_notebook(source: str | Path, settings: dict) -> NotebookNode:
    """Run a notebook (.py) in the working folder in a new kernel, and return it with its outputs.

    `SETTINGS` is set to settings after the cell tagged `parameters`. Cells have no times and no random ids.
    Warnings go to the log."""
    notebook = _with_settings(jupytext.read(source, fmt="py:percent"), settings, source)
    notebook.metadata = NotebookNode(kernelspec=NotebookNode(KERNEL))
    path = os.pathsep.join(filter(None, [str(SCRIPTS), os.environ.get("PYTHONPATH")]))
    # The folder holds the kernel's sockets, and hides the user's settings of IPython and Matplotlib.
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "matplotlibrc").touch()
        client = NotebookClient(
            notebook, timeout=None, record_timing=False, resources={"metadata": {"path": "."}}
        )
        # Without other folders the kernel is this Python; JUPYTER_PATH may have another of its name.
        this_python = KernelSpecManager(kernel_dirs=[])
        client.km = AsyncKernelManager(
            transport="ipc", connection_file=f"{folder}/kernel.json", kernel_spec_manager=this_python
        )
        try:
            own = {"PYTHONPATH": path, "PYTHONHASHSEED": "0", "IPYTHONDIR": folder, "MATPLOTLIBRC": folder}
            client.execute(env={**os.environ, **own})
        except CellExecutionError as error:
            raise PolyrewardError(
                f"{source}: a cell failed; fix it and run again\n{strip_ansi(str(error))}"
            ) from None
    for number, cell in enumerate(notebook.cells, start=1):
        cell.id = f"cell-{number}"
        if cell.cell_type == "code":
            for output in cell.outputs:
                if output.get("name") == "stderr":
                    logger.warning("%s: %s", cell.id, output.text)
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    return notebook


def _with_settings(notebook: NotebookNode, settings: dict, source: str | Path) -> NotebookNode:
    tags = [cell.metadata.get("tags", []) for cell in notebook.cells]
    tagged = [number for number, of_cell in enumerate(tags) if "parameters" in of_cell]
    if len(tagged) != 1:
        wanted = 'tag the one that sets SETTINGS, `# %% tags=["parameters"]`'
        raise PolyrewardError(f"{source}: {len(tagged)} cells are tagged `parameters`; {wanted}")
    head = "# Put in by the pipeline: what this run is configured to"
    shown = pprint.pformat(settings, sort_dicts=False)
    notebook.cells.insert(tagged[0] + 1, new_code_cell(f"{head}\nSETTINGS = {shown}"))
    return notebook


def write_notebook(notebook: NotebookNode, ipynb_path: str | Path, html_path: str | Path) -> None:
    """Write an executed notebook as .ipynb and as a self-contained web page, both or neither."""
    exporter = HTMLExporter(
        template_file="offline.html.j2", extra_loaders=[DictLoader({"offline.html.j2": OFFLINE})]
    )
    page, _ = exporter.from_notebook_node(notebook, {"metadata": {"name": Path(html_path).stem}})
    with whole_file(ipynb_path) as ipynb, whole_file(html_path) as html:
        ipynb.write_text(writes(notebook) + "\n", encoding="utf-8")
        html.write_text(page, encoding="utf-8")


def main(snakemake):
    notebook = execute_notebook(snakemake.input.source, snakemake.params.settings)
    write_notebook(notebook, snakemake.output.ipynb, snakemake.output.html)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
