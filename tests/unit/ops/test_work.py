"""The work of jobs that is counted before a run: expected numbers are worked out by hand from tiny settings."""

import dataclasses
from types import SimpleNamespace

import pytest
from tiny_models import ROOT

from polyreward.carb.culture import lessons, quartets
from polyreward.ops import work
from polyreward.ops.planning import planned_jobs
from polyreward.ops.resources import Job, ModelJob
from polyreward.ops.work import Counts, Work
from polyreward.sheet.entries import read_models

TINY, GPU = "workflow/scales/tiny.yaml", "workflow/scales/gpu.yaml"


@pytest.fixture(scope="module")
def tiny():
    return read_models([TINY], ROOT)


@pytest.fixture(scope="module")
def gpu():
    return read_models([GPU], ROOT)


def counted(models, rule, kind="classifier", root=ROOT, **wildcards):
    """Return the work of a job of a rule with one model."""
    entry = {"hub": "m", "parameters_b": 2, "kind": kind}
    model = ModelJob("score", lambda wildcards: [entry], None, {}, "bfloat16", 1, False, 90)
    return Counts(models, root).work(Job(rule, SimpleNamespace(**wildcards), model))


@pytest.mark.parametrize("scale", ["tiny", "gpu", "paper"])
def test_every_job_that_computes_is_counted_but_for_similarities_of_answers(scale):
    """Filters decide how many answers carb_similarities reads."""
    overlays = [f"workflow/scales/{scale}.yaml"]
    counts = Counts(read_models(overlays, ROOT), ROOT)
    computing = [job for job in planned_jobs(["all"], overlays, ROOT) if job.on_card]
    assert len(computing) > 50
    without = {job.rule for job in computing if not counts.work(job).counted}
    assert without == {"carb_similarities"}


def test_supervised_training_learns_from_its_rows_in_every_language(tiny):
    """4 rows of 420 tokens in English, 1.4 times that in four other languages, padded 1.8 times."""
    assert counted(tiny, "sft_policy") == Work(learns=pytest.approx(4 * 420 * (1 + 4 * 1.4) * 1.8))
    assert counted(tiny, "sft_policy").learns == pytest.approx(19_958.4)


def test_lessons_are_three_quartets_of_each_topic_that_is_taught(tiny, tmp_path):
    """Of 5 topics 2 are taught: 6 quartets of 12 pairs, 2 answers each of 90 tokens, padded; one epoch."""
    folder = tmp_path / tiny.settings.carb.topics
    folder.mkdir(parents=True)
    for number in range(5):
        (folder / f"{tiny.settings.carb.domains[0]}_{number}.yaml").write_text("[{values: []}, {id: other}]")
    learns = counted(tiny, "taught_reward_model", root=tmp_path, model="tiny-gemma_en").learns
    assert learns == pytest.approx(6 * 12 * 2 * 90 * 1.8) == pytest.approx(23_328)
    assert (work.LESSONS, work.LESSON_QUARTETS) == (lessons.LESSONS, 1 + quartets.FURTHER)


def test_held_out_pairs_are_judged_in_both_orders(tiny):
    """4 pairs: 8 questions of 900 tokens. A batch of 8,192 tokens holds nine of them with 8 new tokens each."""
    locals_ = tiny.settings.think_as_locals.model_copy(update={"judge_token_budget": 9 * 908})
    settings = tiny.settings.model_copy(update={"think_as_locals": locals_})
    models = dataclasses.replace(tiny, settings=settings)
    found = counted(models, "locals_held_out", "generative", learner="full")
    assert found == Work(reads=7_200, steps=pytest.approx(8 / 9 * 8), requests=8)


def test_passages_are_read_under_a_base_and_a_reward_model_of_each_language(tiny, gpu):
    """100 passages of 90 tokens, in 5 languages, under 6 models; BeleBele has 488 of them."""
    assert counted(tiny, "passage_states", base="b").reads == pytest.approx(100 * 90 * (1 + 4 * 1.4) * 6)
    assert counted(gpu, "passage_states", base="b").reads == pytest.approx(488 * 90 * (1 + 4 * 1.4) * 6)


def test_engines_translate_their_sample_passages_and_instructions(tiny, gpu):
    """Dev rows have a prompt and two answers, 630 tokens; passages have 90, and instructions 420."""
    sample = counted(tiny, "engine_sample", engine="tiny-gemma", language="es")
    assert (sample.reads, sample.steps) == (4 * 630, 4 * 630 / 16 * 1.5)
    assert counted(gpu, "engine_sample", engine="nllb", language="es").reads == 200 * 90
    passages = counted(gpu, "translated_passages", language="fr")
    assert (passages.reads, passages.steps) == (488 * 90, pytest.approx(488 * 90 / 128 * 2))
    assert counted(gpu, "translated_instructions", language="fr").reads == 200 * 420


def test_a_benchmark_of_the_users_own_has_the_pairs_of_its_file(tiny, gpu):
    """The shipped file has 59 pairs; gsm-symbolic has three of each of 100 problems."""
    own = {"benchmark": "style-shift", "language": "en"}
    assert counted(tiny, "single_scores", scorer="s", **own).reads == 59 * 2 * 420
    assert counted(tiny, "single_scores", "generative", scorer="s", **own).requests == 59 * 2
    italian = {"benchmark": "gsm-symbolic-it", "language": "it"}
    reads = counted(gpu, "single_likelihood_scores", base="b", **italian).reads
    assert reads == pytest.approx(2 * 300 * 2 * 420 * 1.4)


def test_references_are_one_reply_to_each_instruction(gpu):
    """200 instructions of 420 tokens; a batch holds 16,384 tokens, each text with a reply of 512 at most."""
    entry = gpu.catalog.reward_models[gpu.settings.alignment.reference]
    longest = entry.get("max_new_tokens", 512)
    found = counted(gpu, "reference_answers", "generative", language="es")
    assert (found.reads, found.requests) == (200 * 420, 200)
    assert found.steps == pytest.approx(200 * (420 + longest) / 16_384 * longest)


def test_shared_layers_read_what_the_reward_models_above_them_score(tiny):
    """An item has four answers of 90 tokens. A judge reads all four in each of four orders."""
    states = counted(tiny, "carb_states", base="b", itemset="carb").reads
    assert states == counted(tiny, "carb_scores", scorer="s").reads
    assert counted(tiny, "carb_scores", "generative", scorer="s").reads == 4 * states
    cells = len(tiny.settings.carb.domains) * len(tiny.settings.carb.cultures)
    assert states == 4 * cells * (tiny.settings.carb.items_per_cell or 27) * 90
    for itemset, rule in [("quartets", "quartet_scores"), ("carb_perturbed", "carb_perturbed_scores")]:
        reads = counted(tiny, "carb_states", base="b", itemset=itemset).reads
        assert reads == counted(tiny, rule, scorer="s", itemset=itemset).reads > 0
