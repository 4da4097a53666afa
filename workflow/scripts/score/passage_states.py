"""Keep the last hidden states of the parallel passages under a base and its reward models."""

from polyreward.ops.jobs import start_job

start_job(snakemake)

from polyreward.core.draws import in_every_language
from polyreward.core.files import read_jsonl
from polyreward.core.seals import METADATA, sealed_file
from polyreward.scoring.hidden_states import parallel_states
from safetensors.numpy import save_file

params, inputs = snakemake.params, snakemake.input
passages = in_every_language(dict(enumerate(map(read_jsonl, inputs.passages))))
texts = [[row["text"] for row in of_language] for of_language in passages.values()]
known: dict = {}  # what the layers that all these models share make of the texts
states = {
    name: parallel_states(folder, texts, *params.limits, folder, params.top_layers, known)
    for name, folder in zip(params.names, inputs.models, strict=True)
}
with sealed_file(snakemake.output[0]) as temporary:
    save_file(states, temporary, METADATA)
