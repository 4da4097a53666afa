"""Keys come from the environment and reach only a server's requests: no log, record, report, reply, score or
bundle has them."""

import sys
from pathlib import Path

import pytest
from chat_server import running
from support import ROOT, snakemake

from polyreward.ops.bundle import pack
from polyreward.ops.provenance import chain, chain_text

INJECTED = {
    "INJECTED_KEY": "sk-injected-4f1c",
    "HF_TOKEN": "hf_planted_77ab",
    "OPENAI_API_KEY": "sk-injected-other",
}
SNAKEFILE = """
rule scores:
    output: "results/work/5_scores/b/judge/es.parquet"
    log: "results/logs/scores.log"
    params:
        entry={"kind": "generative", "verdict": "text",
               "server": {"url": "URL", "model": "judge-1", "api_key_variable": "INJECTED_KEY", "retries": 3}},
        cache="results/work/5_scores/replies/judge",
    script: "workflow/scripts/scores.py"

rule table1:
    input: rules.scores.output
    output: report("results/table1.csv")
    shell: "python -c 'import pandas; pandas.read_parquet(\\"{input}\\").to_csv(\\"{output}\\")'"
"""
SCRIPT = """
from polyreward.core.logs import start_log

start_log(snakemake.log[0])
import logging

import pandas as pd
from polyreward.core.tables import write_sealed
from polyreward.scoring.families import load_reward_model
from polyreward.scoring.interface import Conversations

logging.getLogger().setLevel(logging.DEBUG)
logging.getLogger("openai").setLevel(logging.DEBUG)
judged = load_reward_model(snakemake.params.entry, {}, snakemake.params.cache)
print(judged)
found = judged.score([Conversations(f"prompt {n}", ("good", f"bad {n}")) for n in range(3)], "scores")
write_sealed(pd.DataFrame({"id": list("abc"), "score": [values[0] for values in found.values]}), snakemake.output[0])
"""


def planted_in(folder: Path) -> list[str]:
    """Return which files hold an injected secret, or a part of one."""
    parts = [value[3:].encode() for value in INJECTED.values()]
    contents = {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return [path for path, content in contents.items() if any(part in content for part in parts)]


@pytest.mark.parametrize("fails", [False, True])
def test_a_planted_key_is_in_no_file(tmp_path, monkeypatch, fails):
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin")
    for name, value in INJECTED.items():
        monkeypatch.setenv(name, value)
    project = tmp_path / "project"
    (project / "workflow/scripts").mkdir(parents=True)
    (project / "workflow/scripts/scores.py").write_text(SCRIPT)
    (project / "workflow/scripts/polyreward").symlink_to(ROOT / "workflow/scripts/polyreward")
    with running() as server:
        good = server.respond

        def leaky(body, times):  # a server that repeats the key, once or always
            wrong = times == 1 or fails
            return (500, {}, {"error": f"bad key {INJECTED['INJECTED_KEY']}"}) if wrong else good(body, times)

        server.respond = leaky
        (project / "Snakefile").write_text(SNAKEFILE.replace("URL", server.url))
        ran = snakemake("--cores", "1", "--verbose", "results/table1.csv", cwd=project)
        assert (ran.returncode != 0) == fails, ran.stdout
        sent = {headers["authorization"] for headers in server.headers}
        assert sent == {f"Bearer {INJECTED['INJECTED_KEY']}"}
    if not fails:
        assert snakemake("--report", "report.html", "results/table1.csv", cwd=project).returncode == 0
        monkeypatch.chdir(project)
        made = chain(project, ["results/table1.csv"])
        (project / "provenance.txt").write_text(chain_text(made, project))
        pack(Path("results"), ["table1.csv"], made, project / "bundle.zip")
        assert len(list((project / "results/work/5_scores/replies/judge").iterdir())) == 6
    assert "4f1c" not in ran.stdout
    assert planted_in(project) == []
