"""Real runs of Snakemake on a made-up machine: no more at a time than it has, and what is said of jobs that
it cannot hold."""

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
    """Return a function that runs eight jobs and returns what Snakemake says and how many ran at a time, at
    most."""

    def run(*arguments, resources, together=1, memory_mb=16_000, devices=1):
        text = TOY.format(memory_mb=memory_mb, devices=devices, resources=resources, together=together)
        (tmp_path / "Snakefile").write_text(text, encoding="utf-8")
        ran = snakemake("--cores", "8", *arguments, cwd=tmp_path)
        steps = (
            (tmp_path / "runs").read_text(encoding="ascii").split() if (tmp_path / "runs").exists() else []
        )
        running = [sum(map(int, steps[: end + 1])) for end in range(len(steps))]
        return ran, max(running, default=0)

    return run


def test_eight_cores_and_twelve_gigabytes_run_four_jobs_of_three(toy):
    ran, most = toy("--resources", "mem_mb=12000", resources="mem_mb=3000,", together=4)
    assert ran.returncode == 0, ran.stdout
    assert most == 4


def test_where_nobody_says_the_machine_s_memory_is_the_limit(toy):
    ran, most = toy(resources="mem_mb=3000,", together=3, memory_mb=11_000)
    assert ran.returncode == 0, ran.stdout
    assert most == 3


def test_two_gpus_hold_two(toy):
    ran, most = toy(resources="mem_mb=100, gpu=1,", together=2, devices=2)
    assert ran.returncode == 0, ran.stdout
    assert most == 2


def test_jobs_that_say_nothing_ask_for_a_table_s_memory(toy):
    ran, most = toy(
        resources="tmpdir='.',", together=2, memory_mb=2700
    )  # 1,200 MB after the reserve, for jobs of 500
    assert ran.returncode == 0, ran.stdout
    assert most == 2


def test_a_job_that_needs_more_than_there_is_is_refused_before_any_starts(toy):
    ran, most = toy(resources="mem_mb=lambda wildcards: 200 if wildcards.number == '0' else 20_000, gpu=2,")
    assert ran.returncode != 0 and most == 0
    assert "toy: a job asks for 20000 MB of memory, and jobs get 14400 of this machine's 16000" in ran.stdout
    assert "toy: a job asks for 2 GPUs, and jobs get 1" in ran.stdout


# A model of 14 billion parameters, on a card of 24 GiB
LARGE = """mem_mb=ModelJob("score", lambda wildcards: [{"hub": "a/large", "parameters_b": 14.8}], None, {}, "bfloat16", 1,
            True, 60, 1000), gpu=1,"""


def test_a_model_that_no_card_holds_is_refused_before_any_job_starts(toy):
    ran, most = toy(resources=LARGE, memory_mb=64_000)
    assert ran.returncode != 0 and most == 0
    assert "toy: a/large needs 29 GiB on one GPU, of 24; spread it (`gpus: 2` in its entry)" in ran.stdout


def test_a_stated_limit_neither_hides_a_job_that_needs_more_nor_exceeds_the_machine(toy, tmp_path):
    ran, most = toy("--resources", "mem_mb=2000", resources="mem_mb=3000,")
    assert ran.returncode != 0 and most == 0
    assert "toy: a job asks for 3000 MB of memory, and jobs get 2000" in ran.stdout
    (tmp_path / "profile").mkdir()
    (tmp_path / "profile/config.yaml").write_text("resources:\n  mem_mb: 64000\n", encoding="utf-8")
    ran, most = toy("--profile", "profile", resources="mem_mb=3000,")
    assert ran.returncode != 0 and most == 0
    assert "mem_mb=64000 (or a profile) is more than this machine's 16000" in ran.stdout
