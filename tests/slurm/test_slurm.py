"""The SLURM profile on a real SLURM of one node: toys for all that goes wrong, then jobs of scale tiny.

The node claims 32 CPUs, 1 TB and four GPUs, so that it grants what the profile asks for."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from flow import SCALE, WANTED, planned
from support import ROOT, checkout, snakemake

CLUSTER = Path(__file__).with_name("cluster.sh")
PROFILE = ROOT / "workflow/profiles/slurm"
SITE = {
    "account": "null",
    "partition": "cpu",
    "gpu_partition": "gpu",
    "gpu_type": "a100",
    "status_command": "squeue",
}
SOON = [
    "--slurm-init-seconds-before-status-checks",
    "2",
    "--seconds-between-status-checks",
    "2",
    "--latency-wait",
    "5",
]


def why_not():
    """Return why these tests cannot be run here; None where they can."""
    if not all(map(shutil.which, ("munged", "slurmctld", "slurmd", "sbatch"))):
        return f"SLURM is not installed (apt-get update && {CLUSTER.relative_to(ROOT)} install)"
    if os.geteuid() != 0:
        return "starting SLURM needs root"
    if os.path.lexists("/etc/slurm/slurm.conf"):
        return "this machine has a SLURM of its own, /etc/slurm/slurm.conf"
    return None


pytestmark = [
    pytest.mark.slow,
    pytest.mark.slurm,
    pytest.mark.skipif(why_not() is not None, reason=str(why_not())),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A running cluster; returns a function that writes the site's file with changes, and returns its path."""
    state = tmp_path_factory.mktemp("cluster")
    started = subprocess.run([CLUSTER, "start", state], text=True, capture_output=True)
    assert started.returncode == 0, started.stderr

    def write(**changed):
        path = state / f"site{len(list(state.glob('site*')))}.yaml"
        path.write_text("".join(f"{key}: {value}\n" for key, value in {**SITE, **changed}.items()))
        return path

    yield write
    subprocess.run([CLUSTER, "stop", state], check=True)


TOY = """
from polyreward.ops.cluster import site_settings
from polyreward.ops.workflow import stop_early
from polyreward.ops.resources import cluster_request


onstart:
    stop_early(workflow)

"""


def heed_interrupts():
    """Undo what a shell does to commands that it starts in the background, these tests among them."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def toy(site, tmp_path):
    """Return a function that starts Snakemake with the profile on rules; its output goes into a file."""
    running = []
    (tmp_path / "profiles").symlink_to(ROOT / "workflow/profiles")  # the default one, as in the project

    def start(rules, *arguments, out="out", **changed):
        (tmp_path / "Snakefile").write_text(TOY + rules, encoding="utf-8")
        command = [sys.executable, "-m", "snakemake", "--profile", PROFILE, *SOON, "--jobs", "2", *arguments]
        environment = {**os.environ, "POLYREWARD_SITE": str(site(**changed))}
        with open(tmp_path / out, "w", encoding="utf-8") as stream:
            output = {"stdout": stream, "stderr": subprocess.STDOUT, "preexec_fn": heed_interrupts}
            running.append(subprocess.Popen(command, cwd=tmp_path, env=environment, **output))
        return running[-1]

    yield start
    for process in running:
        process.kill()
        process.wait()
    for job in queue():
        subprocess.run(["scancel", job], check=True)
    until(lambda: not queue())


def queue(columns="%i"):
    """Return the columns of all jobs that are waiting or running, a text each."""
    asked = ["squeue", "--noheader", f"--format={columns}"]
    return subprocess.run(asked, text=True, capture_output=True, check=True).stdout.split("\n")[:-1]


def until(what, process=None, seconds=900):
    """Wait until a function returns something, and return that; fails where the process ends before."""
    end = time.monotonic() + seconds
    while not (found := what()):
        assert process is None or process.poll() is None, "Snakemake ended too early"
        assert time.monotonic() < end, f"nothing after {seconds} s"
        time.sleep(0.2)
    return found


def text(path):
    return path.read_text(encoding="utf-8") if path.exists() else ""


FULL_DISK = """
rule all:
    input: "written", "other"

rule written:
    output: "written"
    log: "written.log"
    shell: "echo {resources.mem_mb} {resources.runtime} >> tries; (echo data > /dev/full) 2> {log}"

rule other:
    output: "other"
    shell: "touch {output}"
"""


def test_a_job_that_fails_is_tried_again_with_more_then_named_and_the_rest_is_made(toy, tmp_path):
    assert toy(FULL_DISK).wait(1800) == 1
    said = text(tmp_path / "out")
    assert text(tmp_path / "tries").splitlines() == ["2000 60", "4000 120", "6000 180"]
    assert (tmp_path / "other").exists()
    assert "Error in rule written" in said and "SLURM status is: 'FAILED'" in said
    assert "written.log" in said and "slurm_logs/rule_written/" in said  # both logs are named
    assert "No space left on device" in text(tmp_path / "written.log")
    assert "No space left on device" in said  # and what the rule's own says is shown


HUNGRY = """
rule hungry:
    output: "fed"
    params: python={python!r}
    shell:
        "echo {{resources.mem_mb}} >> tries;"
        "{{params.python}} -c 'import time; taken = b\\"x\\" * 2_400_000_000; time.sleep(8)' && touch {{output}}"
"""


def test_a_job_over_its_memory_is_given_more(toy, tmp_path):
    assert toy(HUNGRY.format(python=sys.executable)).wait(1800) == 0, text(tmp_path / "out")
    assert text(tmp_path / "tries").split() == ["2000", "4000"]
    assert "Trying to restart job" in text(tmp_path / "out")


SLOW = """
rule slow:
    output: "done"
    shell: "echo {resources.runtime} >> tries; test $(wc -l < tries) -gt 1 || sleep 600; touch {output}"
"""


def test_a_job_over_its_time_is_given_more(toy, tmp_path):
    process = toy(SLOW)
    until(lambda: text(tmp_path / "tries"), process)
    (job,) = queue()
    subprocess.run(
        ["scontrol", "update", f"JobId={job}", "TimeLimit=1"], check=True
    )  # not to wait for its hour
    assert process.wait(1800) == 0, text(tmp_path / "out")
    assert "SLURM status is: 'TIMEOUT'" in text(tmp_path / "out")
    assert text(tmp_path / "tries").split() == ["60", "120"]


def test_a_job_that_someone_cancelled_is_named(toy, tmp_path):
    process = toy(SLOW, "--retries", "0")
    until(lambda: text(tmp_path / "tries"), process)
    subprocess.run(["scancel", *queue()], check=True)
    assert process.wait(1800) == 1
    assert "Error in rule slow" in text(tmp_path / "out") and "SLURM status is: 'CANCELLED'" in text(
        tmp_path / "out"
    )


def test_an_interrupt_takes_the_jobs_out_of_the_queue(toy, tmp_path):
    process = toy(SLOW)
    until(lambda: text(tmp_path / "tries"), process)
    process.send_signal(signal.SIGINT)
    assert process.wait(1800) == 1
    until(lambda: not queue())


TRAININGS = """
rule all:
    input: "a", "b"

rule reward_model:
    output: "{name}"
    wildcard_constraints: name="a|b"
    resources: **cluster_request(site_settings(), mb=240_000, minutes=1440, gpus=lambda wildcards: 4)
    shell: "date +%s > {output}; echo $CUDA_VISIBLE_DEVICES > gpus_{wildcards.name}; sleep 8; date +%s >> {output}"
"""


def test_trainings_that_ask_for_all_gpus_wait_for_each_other(toy, tmp_path):
    process = toy(TRAININGS)
    both = ["PENDING|gpu|Resources|240000M|1-00:00:00", "RUNNING|gpu|None|240000M|1-00:00:00"]
    until(lambda: sorted(queue("%T|%P|%r|%m|%l")) == both, process)
    assert process.wait(1800) == 0, text(tmp_path / "out")
    assert text(tmp_path / "gpus_a").strip() == text(tmp_path / "gpus_b").strip() == "0,1,2,3"
    (_, end), (start, _) = sorted([int(line) for line in text(tmp_path / name).split()] for name in "ab")
    assert end <= start


@pytest.mark.parametrize(("changed", "said"), [
    ({"gpu_type": "h100"}, "reward_model: SLURM refuses"),
    ({"gpu_partition": "gpus"}, "invalid partition specified: gpus"),
])  # fmt: skip
def test_what_slurm_would_refuse_is_told_before_the_first_job(toy, tmp_path, changed, said):
    assert toy(TRAININGS, **changed).wait(900) == 1
    assert said in text(tmp_path / "out") and "site" in text(tmp_path / "out")
    assert "has been submitted" not in text(tmp_path / "out")


CHAIN = """
rule all:
    input: "3"

rule first:
    output: "1"
    shell: "echo first >> did; touch {output}"

rule second:
    input: "1"
    output: "2"
    shell: "echo second >> did; sleep 20; touch {output}"

rule third:
    input: "2"
    output: "3"
    shell: "echo third >> did; touch {output}"
"""


def test_after_a_kill_the_next_run_waits_for_what_still_runs_and_repeats_nothing_finished(toy, tmp_path):
    process = toy(CHAIN)
    until(lambda: "second" in text(tmp_path / "did"), process)
    process.kill()
    process.wait()
    (job,) = queue()
    assert toy(CHAIN, out="refused").wait(900) == 1
    assert f"which would write the same files: {job};" in text(tmp_path / "refused")
    until(lambda: not queue())
    assert toy(CHAIN, out="again").wait(1800) == 0, text(tmp_path / "again")
    did = text(tmp_path / "did").split()
    assert did == ["first", "second", "third"]
    assert toy(CHAIN, out="idle").wait(900) == 0
    assert "Nothing to be done" in text(tmp_path / "idle")
    assert text(tmp_path / "did").split() == did


def made(results):
    """Return the contents of all that a run made but logs, times and the report, which has both."""
    left_out = ("logs", "benchmarks", "report.html", "snakemake_report.html")
    names = [path.relative_to(results) for path in results.rglob("*") if path.is_file()]
    return {str(name): (results / name).read_bytes() for name in names if name.parts[0] not in left_out}


def differing(here, there):
    """Return the names of the files that differ between two runs, or that only one of them made."""
    return sorted(name for name in here.keys() | there.keys() if here.get(name) != there.get(name))


def through_slurm(folder, site_path, log, *targets):
    """Make targets of scale tiny in a checkout with the profile; what Snakemake says goes into `log`."""
    options = ["--configfile", *SCALE, "--profile", PROFILE, *SOON, "--jobs", "8"]
    environment = {**os.environ, "POLYREWARD_SITE": str(site_path), "HF_HUB_OFFLINE": "1"}
    with open(log, "w", encoding="utf-8") as stream:
        output = {"stdout": stream, "stderr": subprocess.STDOUT, "timeout": 3600}
        command = [sys.executable, "-m", "snakemake", *targets, *options]
        ran = subprocess.run(command, cwd=folder, env=environment, **output)
    assert ran.returncode == 0, text(log)


NORMS = "work/6_analysis/embedding_norms/tiny-llama.csv"
# A job of each kind that the profile knows: {what it makes: how SLURM runs it}
SAMPLE = {
    "work/4_models/tiny-gemma_es": "a training, on four GPUs",
    "work/5_scores/mini-rewardbench/tiny-gemma_es/es.parquet": "a model on one GPU",
    NORMS: "on CPUs, with memory of its own",
    "work/6_analysis/transfer.csv": "in one submission with the next, and what every job gets",
    "table1.csv": "",
}


def test_a_job_of_each_kind_makes_the_same_bytes_through_slurm(table1, copied, site, tmp_path):
    """In a copy of what was made without SLURM, the sample is taken away and made again, and nothing else."""
    folder = copied(table1, tmp_path / "sample")
    results, targets = folder / "results/tiny", ["results/tiny/table1.csv", f"results/tiny/{NORMS}"]
    ran = snakemake(*WANTED, *targets, cwd=folder)
    assert ran.returncode == 0, ran.stdout
    before = made(results)
    for name in SAMPLE:
        path = results / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert len(before) - len(made(results)) > len(SAMPLE)
    rules = {"reward_model", "reward_scores", "embedding_norms", "transfer_comparison", "table1"}
    assert set(planned(folder, *targets)) == rules
    site_path = site()
    done = site_path.parent / "log/jobcomp.txt"
    earlier = len(text(done).splitlines())
    through_slurm(folder, site_path, tmp_path / "log", *targets)
    assert differing(before, made(results)) == []
    where = [re.search(r"Partition=(\w+)", line)[1] for line in text(done).splitlines()[earlier:]]
    assert sorted(where) == ["cpu"] * 2 + ["gpu"] * 2  # the group, the norms; the training, its scores


@pytest.mark.cluster
def test_tiny_is_the_same_to_the_byte_through_slurm(tiny, site, tmp_path):
    """Every job of both papers, and every file that they make."""
    folder = checkout(tmp_path / "slurm")
    through_slurm(folder, site(), tmp_path / "log", "all")
    here, there = made(tiny), made(folder / "results/tiny")
    assert len(here) > 300
    assert differing(here, there) == []
