"""Table 1 at scale tiny: what it says, the models behind it, and what is made again after which edit."""

import re

import pandas as pd
import pytest
from flow import SCALE, planned
from support import snakemake
from transformers import AutoModelForSequenceClassification, AutoTokenizer

TABLE1 = "results/tiny/table1.csv"


def test_table1_has_its_columns_rows_and_percentages(table1):
    table = pd.read_csv(table1 / "table1.csv")
    assert list(table.columns) == [
        "base_model", "eval_language", "rm_training", "chat", "chat_low", "chat_high", "chat_hard", "chat_hard_low",
        "chat_hard_high", "safety", "safety_low", "safety_high", "reasoning", "reasoning_low", "reasoning_high",
        "avg", "avg_low", "avg_high", "n_pairs", "n_templates", "p_mcnemar", "n_seeds", "avg_sd", "avg_se",
        "avg_se_trainings", "p_seeds", "hard", "hard_low", "hard_high", "n_hard",
    ]  # fmt: skip
    assert len(table) == 2 * 2 * 3
    assert set(table["rm_training"]) == {"target", "english", "delta"}
    scores = table[table["rm_training"] != "delta"]
    assert scores[["chat", "chat_hard", "safety", "reasoning", "avg"]].stack().between(0, 100).all()
    assert (table["avg_low"] <= table["avg"]).all()
    assert (table["avg"] <= table["avg_high"]).all()
    assert table["n_pairs"].eq(208).all() and table["n_templates"].eq(104).all()  # two kinds of each
    assert table["p_mcnemar"].notna().eq(table["rm_training"] == "delta").all()


def test_table1_agrees_with_the_score_files_and_delta_is_english_minus_target(table1):
    table = pd.read_csv(table1 / "table1.csv").set_index(["base_model", "eval_language", "rm_training"])
    of = table["avg"].unstack()
    assert ((of["english"] - of["target"] - of["delta"]).abs() < 1e-5).all()
    scores = pd.read_parquet(table1 / "work/5_scores/mini-rewardbench/tiny-gemma_en/ko.parquet")
    chat = scores[scores["category"] == "chat"]
    expected = 100 * (chat["score_chosen"] > chat["score_rejected"]).mean()
    assert table.loc[("tiny-gemma", "ko", "english"), "chat"] == pytest.approx(expected, abs=1e-5)


def test_a_reward_model_loads_with_nothing_of_ours(table1):
    folder = table1 / "work/4_models/tiny-llama_es"
    model = AutoModelForSequenceClassification.from_pretrained(folder, trust_remote_code=True)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    assert model.config.num_labels == 1
    assert tokenizer.pad_token_id not in (None, tokenizer.eos_token_id)
    assert tokenizer.chat_template
    assert not list(folder.glob("adapter*"))


@pytest.fixture(scope="module")
def mine(table1, copied, tmp_path_factory):
    """A copy of the checkout with Table 1, to edit."""
    return copied(table1, tmp_path_factory.mktemp("edited") / "polyreward")


def test_a_second_run_does_nothing(mine):
    assert planned(mine, TABLE1) == {}


def test_a_comment_in_the_library_reruns_nothing(mine):
    path = mine / "workflow/scripts/polyreward/analysis/bootstrap.py"
    text = path.read_text(encoding="utf-8")
    path.write_text(text + "\n# a remark\n", encoding="utf-8")
    assert planned(mine, TABLE1) == {}
    path.write_text(text, encoding="utf-8")


def test_another_learning_rate_trains_again_and_fetches_nothing(mine):
    (mine / "mine.yaml").write_text("reward_model: {learning_rate: 0.1}\n", encoding="utf-8")
    ran = snakemake("--configfile", *SCALE, "mine.yaml", "--cores", "2", "-n", TABLE1, cwd=mine)
    assert re.search(r"^reward_model +6$", ran.stdout, re.MULTILINE), ran.stdout
    assert not re.search(r"^(base_model|dataset|translated_rows) +\d", ran.stdout, re.MULTILINE)


def test_another_precision_computes_again_whatever_a_model_computes(mine):
    jobs = planned(mine, TABLE1, "--config", "precision=bfloat16")
    assert (jobs["reward_model"], jobs["reward_scores"]) == (6, 4)
    assert not {"random_base_model", "dataset", "translated_rows"} & jobs.keys()
