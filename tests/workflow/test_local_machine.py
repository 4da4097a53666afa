"""Real runs of Snakemake on a made-up machine: no more at a time than it has, and what is said of jobs that
it cannot hold."""

from itertools import accumulate

import pytest
from support import snakemake

# Jobs that write +1 when they start and -1 when they end. The first ones wait until as many run as should, so
# that the most that run at a time does not depend on how fast anything is.
TOY = """
from polyreward.ops import machine
from polyreward.ops.resources import ModelJob
from polyreward.ops.workflow import limit_jobs, stop_early

machine.memory_mb = lambda: {memory_mb}
machine.cuda_devices = lambda: {devices}
machine.gpu_gib = lambda: 24


onstart:
    stop_early(workflow)
    limit_jobs(workflow)


rule all:
    input:
        expand("{{number}}.txt", number=range(8)),


rule toy:
    output:
        "{{number}}.txt",
    resources:
        {resources}
    shell:
        "echo +1 >> runs; for try in $(seq 600); do [ $(grep -c + runs) -ge {together} ] && break; sleep 0.1; done; "
        "echo -1 >> runs; touch {{output}}"
"""


@pytest.fixture
def toy(tmp_path):
    """Return a function that runs eight jobs: what Snakemake prints, and the most that ran at a time."""

    def run(*arguments, resources, together=1, memory_mb=16_000, devices=1):
        text = TOY.format(memory_mb=memory_mb, devices=devices, resources=resources, together=together)
        (tmp_path / "Snakefile").write_text(text, encoding="utf-8")
        ran = snakemake("--cores", "8", *arguments, cwd=tmp_path)
        runs = tmp_path / "runs"
        steps = runs.read_text(encoding="ascii").split() if runs.exists() else []
        return ran, max(accumulate(map(int, steps)), default=0)

    return run


@pytest.mark.parametrize(
    ("arguments", "resources", "made_up", "together"),
    [
        (["--resources", "mem_mb=12000"], "mem_mb=3000,", {}, 4),
        ([], "mem_mb=3000,", {"memory_mb": 11_000}, 3),
        ([], "mem_mb=100, gpu=1,", {"devices": 2}, 2),
        ([], "tmpdir='.',", {"memory_mb": 2700}, 2),  # 1,200 MB after the reserve, for jobs of a table's 600
    ],
    ids=["stated", "the machine's", "GPUs", "jobs that state none"],
)
def test_no_more_jobs_run_at_a_time_than_memory_and_gpus_hold(toy, arguments, resources, made_up, together):
    ran, most = toy(*arguments, resources=resources, together=together, **made_up)
    assert ran.returncode == 0, ran.stdout
    assert most == together


def test_a_job_that_needs_more_than_there_is_is_refused_before_any_starts(toy, tmp_path):
    ran, most = toy(resources="mem_mb=lambda wildcards: 200 if wildcards.number == '0' else 20_000, gpu=2,")
    assert ran.returncode != 0 and most == 0
    assert "toy: a job asks for 20000 MB of memory, and jobs get 14400 of this machine's 16000" in ran.stdout
    assert "toy: a job asks for 2 GPUs, and jobs get 1" in ran.stdout
    ran, most = toy("--resources", "mem_mb=2000", resources="mem_mb=3000,")  # a limit does not hide it
    assert ran.returncode != 0 and most == 0
    assert "toy: a job asks for 3000 MB of memory, and jobs get 2000" in ran.stdout
    (tmp_path / "profile").mkdir()
    (tmp_path / "profile/config.yaml").write_text("resources:\n  mem_mb: 64000\n", encoding="utf-8")
    ran, most = toy("--profile", "profile", resources="mem_mb=3000,")
    assert ran.returncode != 0 and most == 0
    assert "mem_mb=64000 (or a profile) is more than this machine's 16000" in ran.stdout


# A model of 14 billion parameters, on a card of 24 GiB
LARGE = """mem_mb=ModelJob("score", lambda wildcards: [{"hub": "a/large", "parameters_b": 14.8}], None, {}, "bfloat16", 1,
            True, 60, 1000), gpu=1,"""


def test_a_model_that_no_card_holds_is_refused_before_any_job_starts(toy):
    ran, most = toy(resources=LARGE, memory_mb=64_000)
    assert ran.returncode != 0 and most == 0
    assert (
        "toy: a/large needs 28 GiB for its weights on one GPU, of 24; spread it (`gpus` in its entry)"
        in ran.stdout
    )


KEYED = """mem_mb=ModelJob("score", lambda wildcards: [{"server": {"url": "http://localhost:1/v1", "model": "my-model",
            "api_key_variable": "UNSET_KEY"}}], None, {}, "bfloat16", 1, True, 60, 1000),"""


def test_a_key_that_is_not_set_is_named_before_any_job_starts(toy):
    ran, most = toy(resources=KEYED)
    assert ran.returncode != 0 and most == 0
    assert "UNSET_KEY is not set, and holds the key for my-model. Set it: export UNSET_KEY=" in ran.stdout


# Jobs of more than a second, one after another, so that a timer of a second would show; each look of the scheduler
# while jobs wait is a line.
LOOKS = """
from polyreward.ops.workflow import wait_for_jobs


onstart:
    wait_for_jobs(workflow)
    select = workflow.scheduler.job_selector
    def selected(jobs):
        with open("looks", "a") as file:
            print(len(jobs), file=file)
        return select(jobs)
    workflow.scheduler.job_selector = selected


rule all:
    input:
        expand("{number}.txt", number=range(4)),


rule wait:
    output:
        "{number}.txt",
    shell:
        "sleep 1.5; touch {output}"
"""


@pytest.mark.parametrize(
    ("arguments", "timers"),
    [([], False), (["--max-jobs-per-timespan", "90/1s"], True)],
    ids=["default", "stated"],
)
def test_snakemake_looks_for_jobs_when_one_ends_unless_a_limit_is_stated(tmp_path, arguments, timers):
    (tmp_path / "Snakefile").write_text(LOOKS, encoding="utf-8")
    ran = snakemake("--cores", "1", *arguments, cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout
    waiting = (tmp_path / "looks").read_text(encoding="ascii").split()
    assert (len(waiting) > 5) == timers, waiting  # four jobs, and `all`
