"""The workflow as a whole, without running a job: every scale resolves, and bad settings are reported in
words."""

import os
import re
import subprocess

import pytest
from support import ROOT, TINY, files_of_jobs, jobs_of, planned_whole, snakemake

from polyreward.ops.scales import INSIDE

# A catalog translates its passages and instructions
FRENCH = ["--configfile", TINY, "workflow/scales/french.yaml", "--config", "results=results/tiny_french"]


@pytest.mark.parametrize(
    ("scale", "folder"),
    [([], "results/"), (["--configfile", TINY], "results/tiny/"), (FRENCH, "results/tiny_french/")],
    ids=["mini", "tiny", "french"],
)
def test_every_artifact_of_a_scale_resolves_and_writes_only_below_its_folder(scale, folder):
    outputs = [path for _, _, outputs in files_of_jobs(planned_whole(*scale)) for path in outputs]
    assert len(outputs) > 500 and all(path.startswith(folder) for path in outputs)
    below = {
        path.removeprefix(folder).partition("/")[0] for path in outputs if "/" in path.removeprefix(folder)
    }
    assert below <= set(INSIDE)  # else make does not know whose they are


def test_states_that_reward_models_share_are_of_the_base_that_they_start_from():
    bases = {
        (outputs[0].rpartition("/")[2], inputs[0])
        for rule, inputs, outputs in files_of_jobs(planned_whole())
        if rule == "carb_states"
    }
    names, sets = ("gemma-3-270m", "smollm2-135m-instruct"), ("carb", "carb_perturbed", "quartets")
    assert bases == {
        (f"{itemset}.safetensors", f"results/work/4_models/cut_bases/{name}")
        for itemset in sets
        for name in names
    }


def test_passages_are_translated_into_a_language_that_they_do_not_bring():
    made, folder = files_of_jobs(planned_whole(*FRENCH)), "results/tiny_french/work/3_translated/passages"
    of_rule = {rule: outputs for rule, _, outputs in made}
    brought = [f"{folder}/{language}.jsonl" for language in ("en", "es", "it", "ko", "zh")]
    assert of_rule["passages"] == brought
    assert of_rule["translated_passages"] == [f"{folder}/fr.jsonl"]


def test_a_policy_is_trained_by_each_reward_model_that_is_named():
    made = files_of_jobs(planned_whole("--configfile", TINY))
    trained = [outputs[0].rpartition("grpo_")[2] for rule, _, outputs in made if rule == "grpo_policy"]
    assert sorted(trained) == ["tiny-judge", "tiny-llama_en"]


def jobs_from_nothing(*arguments):
    """Return {rule: jobs} of a dry run from nothing."""
    ran = snakemake("-n", "--forceall", "--cores", "2", *arguments)
    assert ran.returncode == 0, ran.stdout
    return jobs_of(ran)


def jobs_with(folder, settings, *targets, scale=()):
    """Return {rule: jobs} for targets from nothing, with settings on top of a scale's."""
    (folder / "mine.yaml").write_text(settings, encoding="utf-8")
    return jobs_from_nothing("--configfile", *scale, str(folder / "mine.yaml"), "--", *targets)


def test_table1_asks_for_ten_reward_models_and_no_baseline():
    jobs = jobs_from_nothing("results/table1.csv")
    # of 2 bases and 4 languages, each on the target's and the English reward model
    assert (jobs["reward_model"], jobs["reward_scores"]) == (10, 8)
    assert not [rule for rule in jobs if rule.endswith("_reward_scores") or "baseline" in rule]


def test_two_seeds_train_and_score_every_reward_model_twice(tmp_path):
    (tmp_path / "rank.yaml").write_text("reward_model: {lora: {rank: 4}}\n", encoding="utf-8")
    overlay = ["--configfile", str(tmp_path / "rank.yaml")]
    # Numbers in lists and mappings of the command line are numbers, and leave the rest of a section
    given = ["--config", "reward_model_seeds=[1, 2]", "reward_model={epochs: 3, lora: {rank: 8}}"]
    jobs = jobs_from_nothing("results/table1.csv", *overlay, *given)
    assert (jobs["reward_model"], jobs["reward_scores"]) == (20, 16)


def test_table_6_scores_every_reward_model_and_asks_again_for_nothing_of_table_1():
    jobs = jobs_from_nothing("results/table6.csv", "results/table1.csv")
    assert (jobs["reward_scores"], jobs["cross_reward_scores"]) == (8, 2)  # of 2 bases
    assert "single_scores" not in jobs  # only Korean


def test_a_model_translates_passages_and_instructions_into_a_language_that_they_do_not_bring(tmp_path):
    engines = "translation: {engine: tiny-gemma, quality_engines: [tiny-gemma]}"
    settings = f"target_languages: [de]\nalignment: {{languages: [de]}}\n{engines}\n"
    folder = "results/tiny/work/3_translated"
    wanted = [f"{folder}/{texts}/de.jsonl" for texts in ("passages", "instructions")]
    jobs = jobs_with(tmp_path, settings, *wanted, scale=[TINY])
    assert (jobs["translated_passages"], jobs["translated_instructions"]) == (1, 1)


def test_wrong_settings_stop_at_the_start_and_are_named_with_file_and_line_in_a_few_lines(tmp_path):
    overlay = tmp_path / "mine.yaml"
    overlay.write_text("# ours\nreward_model: {epoch: 3}\ncarb: {cultures: [en]}\n", encoding="utf-8")
    start = ["-n", "--cores", "1", "results/table1.csv", "--configfile", str(overlay)]
    ran = snakemake(*start, "--config", "seed=minus")
    assert ran.returncode != 0
    for problem in (
        "--config: seed: Input should be a valid integer",
        f"{overlay}:2: reward_model.epoch: unknown key; did you mean `epochs`?",
        f"{overlay}:3: carb.cultures: List should have at least 2 items",
    ):
        assert problem in ran.stdout
    assert len(ran.stdout.splitlines()) <= 10
    overlay.write_text("bases: [gemma-3-270]\ntarget_languages: [en, xx]\n", encoding="utf-8")
    ran = snakemake(*start)
    for problem in (f"{overlay}:1: bases: `gemma-3-270` is unknown", "`en` is the source", "`xx` is unknown"):
        assert problem in ran.stdout


def commands_of(target):
    """Return the commands by which make makes a target, without the folder of programs."""
    # As from a shell: the tests themselves may have been started by make
    environment = {
        name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    }
    command = ["make", "-n", "-o", ".venv/ready", *target.split()]
    ran = subprocess.run(command, cwd=ROOT, env=environment, text=True, capture_output=True)
    lines = ran.stdout.replace("\\\n", "").splitlines()
    return [line.removeprefix(".venv/bin/").strip() for line in lines] or ran.stderr.splitlines()


def test_make_makes_everything_then_snakemakes_report_then_the_page_that_links_to_it():
    made, *rest = commands_of("all")
    assert made == ("snakemake --rerun-incomplete --cores all all")
    assert rest == ["snakemake --report results/snakemake_report.html all", "polyreward report results"]


@pytest.mark.parametrize(("target", "command"), [
    ("report", "polyreward report results"),
    ("results/report.html", "polyreward report results"),
    ("results/tiny/report.html", "polyreward report results/tiny"),
    ("results/tiny/snakemake_report.html", f"snakemake --report results/tiny/snakemake_report.html all --configfile {TINY}"),
])  # fmt: skip
def test_make_writes_a_report_of_what_is_there(target, command):
    assert commands_of(target) == [command]


@pytest.mark.parametrize("scale", sorted(path.stem for path in (ROOT / "workflow/scales").glob("*.yaml")))
def test_make_finds_the_scale_of_a_file_by_its_folder(scale):
    over = [
        f"workflow/scales/{name}.yaml"
        for name in ("paper", "controls", scale)
        if f"{scale}_".startswith(f"{name}_")
    ]
    overlays = " ".join(dict.fromkeys(over))
    asked = f"snakemake --rerun-incomplete --cores all {{}} --configfile {overlays}"
    for file in ("table1.csv", "work/5_scores/carb/m/en.parquet"):
        assert commands_of(f"results/{scale}/{file}") == [asked.format(f"results/{scale}/{file}")]
    (retried,) = commands_of(f"again RESULTS=results/{scale}")
    assert f"--cores all all   --configfile {overlays} --forcerun" in retried


@pytest.mark.parametrize("target", ["results/ours/table1.csv", "again RESULTS=results/ours"])
def test_make_says_that_no_scale_has_a_folder_and_runs_nothing(target):
    said, stopped = commands_of(target)
    assert "no scale has the results folder results/ours. Correct the path, or name your overlay" in said
    assert (
        "--configfile FILE. Scales: mini, anchor, controls, controls_20, french, gpu, night, paper," in said
    )
    assert stopped.endswith("*** stopped before " + target.split()[0] + ".  Stop.")


def test_every_kind_of_reward_model_gets_a_job(tmp_path):
    entries = """
reward_models:
  a: {kind: classifier, hub: someone/rm, revision: 0123456789abcdef0123456789abcdef01234567, remote_code: true,
      dtype: bfloat16}
  b: {kind: implicit, model: smollm2-135m-instruct}
  c: {kind: generative, model: gemma-3-270m, verdict: text}
  d: {kind: generative, server: {url: "http://localhost:1/v1", model: m}}
"""
    assert (
        jobs_with(tmp_path, entries, "results/subsets.csv")["ready_made_scores"] == 4 * 3 + 1
    )  # benchmarks; the judge of mini


def test_a_reward_model_whose_name_begins_as_a_judge_of_think_as_locals_is_none(tmp_path):
    (tmp_path / "mine.yaml").write_text(
        "reward_models: {locals-mine: {kind: implicit, model: tiny-gemma}}\n", encoding="utf-8"
    )
    table = "results/tiny/carb_perturbation.csv"
    ran = snakemake("-n", "--forceall", table, "--configfile", TINY, str(tmp_path / "mine.yaml"))
    assert ran.returncode == 0, ran.stdout
    (read,) = (inputs for rule, inputs, _ in files_of_jobs(ran) if rule == "carb_sensitivity")
    assert (
        len([path for path in read if "/locals-mine/" in path and path.endswith("parquet")]) == 2 * 10
    )  # cultures
    assert len(read) == len(set(read))  # scores and those of judges are different files


@pytest.mark.parametrize("language", ["en", "ko"])
def test_trained_reward_models_score_an_own_benchmark_of_the_source_and_of_a_target_language(
    tmp_path, language
):
    path = ROOT / "resources/example/best_of_four.jsonl"
    settings = f"own_benchmarks: {{mine: {{path: {path}, language: {language}}}}}\n"
    assert jobs_with(tmp_path, settings, "results/benchmark_mine.csv")["single_scores"] == 10


def test_worked_solutions_are_fetched_once_for_their_tables_alone(tmp_path):
    wanted = [f"results/reference/benchmark_gsm-symbolic-{language}.csv" for language in ("en", "it", "zh")]
    jobs = jobs_from_nothing("--configfile", "workflow/scales/reference.yaml", "--", *wanted)
    made = {"worked_solutions": 1, "solution_pairs": 3, "own_benchmark": 3, "own_benchmark_table": 3}
    # The reward models of English and of the benchmark's language
    scored = {"single_scores": 2 + 4 + 4, "single_likelihood_scores": 6, "text_baseline_scores": 9}
    assert (made | scored).items() <= jobs.items()
    fetched = {"worked_solutions", "solution_pairs"}
    assert not fetched & jobs_from_nothing("results/table1.csv").keys()
    assert not fetched & jobs_of(planned_whole("--configfile", TINY)).keys()
    assert fetched <= jobs_of(planned_whole()).keys()
    further = "own_benchmarks: {german: {dataset: gsm-symbolic, language: de}}\n"
    jobs = jobs_with(tmp_path, further, "results/benchmark_german.csv")
    assert (jobs["single_scores"], jobs["single_likelihood_scores"], jobs["solution_pairs"]) == (2, 2, 1)
    assert "text_baseline_scores" not in jobs  # nothing is trained on German


OWN_ITEMS = """
carb: {{item_files: [{path}], cultures: [it, ko], domains: [food, law]}}
think_as_locals: {{cultures: null, evaluation: {{cultures: [it, ko]}}}}
"""


def test_items_of_the_user_s_own_take_the_place_of_all_that_builds_items(tmp_path):
    (tmp_path / "items.jsonl").touch()
    settings = OWN_ITEMS.format(path=tmp_path / "items.jsonl")
    drawn = ["results/carb_leaderboard.csv", "results/carb_consistency.png"]
    of_leaderboard = jobs_with(tmp_path, settings, *drawn)
    assert of_leaderboard["carb_items"] == of_leaderboard["carb_perturbed_items"] == 1
    assert not {"carb_references", "carb_possible_items", "carb_similarities"} & set(of_leaderboard)
    everything = jobs_with(tmp_path, settings, "carb")
    assert everything["carb_training_items"] == 1  # judges are trained on topics of ours
    assert everything["carb_claims"] == 1


PAPER = "workflow/scales/paper.yaml"


@pytest.mark.parametrize(
    ("scale", "rows", "instructions", "questions"),
    [
        (TINY, "3_translated/dev/es.jsonl", "3_translated/instructions/es.jsonl", "resources/carb/questions.yaml"),
        (PAPER, "3_translated/prompts/es.jsonl", "5_scores/alignment/references_es.jsonl", "1_sources/data/blend.jsonl"),
    ],
)  # fmt: skip
def test_prompts_references_and_questions_are_the_scale_s_own_or_those_of_datasets(
    scale, rows, instructions, questions
):
    folder = f"results/{scale.split('/')[-1].removesuffix('.yaml')}/work"
    inputs = {
        path.removeprefix(f"{folder}/"): ", ".join(inputs)
        for _, inputs, outputs in files_of_jobs(planned_whole("--configfile", scale))
        for path in outputs
    }
    assert rows in inputs["4_models/policy_data/responses_es.jsonl"]
    assert instructions in inputs["5_scores/alignment/judgements_es.csv"]
    assert questions in inputs["2_prepared/carb/questions.jsonl"]
    trained = rf"4_models/([\w.-]+)_es, {folder}/4_models/\1_en"
    assert re.search(trained, inputs["4_models/policy_data/pairs_es.csv"])
