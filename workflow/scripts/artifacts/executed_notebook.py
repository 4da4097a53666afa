"""Execute a notebook and write it as .ipynb and as a web page."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.artifacts.notebooks import execute_notebook, write_notebook

notebook = execute_notebook(snakemake.input.source, snakemake.params.settings)
write_notebook(notebook, snakemake.output.ipynb, snakemake.output.html)
