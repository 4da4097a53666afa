"""What a file of pairs holds, and what a chat template makes of it."""

import json
import shutil

import pytest

from polyreward import cli
from polyreward.core.conversations import conversation_ids, rendered
from polyreward.core.errors import PolyrewardError
from polyreward.core.files import write_jsonl
from polyreward.evaluation.inspection import template_remarks
from polyreward.evaluation.score import score_models
from polyreward.prepare.pair_files import read_pair_file
from polyreward.scoring.load import load_tokenizer
from polyreward.scoring.local_judge import request_ids
from polyreward.training.reward_model import tokenized_requests

ANSWER = {"role": "assistant", "content": "4"}
SYSTEM = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "2 + 2?"}]
ROWS = [
    {"id": "plain", "subset": "x", "prompt": "2 + 2?", "chosen": "4", "rejected": ["5", "six"]},
    {"id": "thought", "subset": "x", "prompt": "2 + 2?", "chosen": "<think>a</think>4", "rejected": "<think>b</think>4"},
    {"id": "long", "subset": "y", "prompt": "2 + 2? " * 40, "chosen": "\ub124", "rejected": "\uc544\ub2c8\uc694"},
    {"id": "sys", "subset": "y", "prompt": SYSTEM, "chosen": "4", "rejected": "5"},
]  # fmt: skip
# Refuses a system turn, and cuts what was thought, as templates of public models do.
TEMPLATE = (
    "{% for m in messages %}{% if m['role'] == 'system' %}{{ raise_exception('No system turn here') }}{% endif %}"
    "{{ m['content'].split('</think>')[-1] }} {% endfor %}"
)


@pytest.fixture
def here(trained, tmp_path, monkeypatch):
    """A folder, made the working one, with a reward model `rm` that has TEMPLATE, and pairs.jsonl."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(next(iter(trained.values())), "rm")
    (tmp_path / "rm/SHA256SUMS").unlink()  # as a folder from elsewhere
    (tmp_path / "rm/chat_template.jinja").write_text(TEMPLATE)
    config = json.loads((tmp_path / "rm/tokenizer_config.json").read_text())
    config.pop("chat_template", None)
    (tmp_path / "rm/tokenizer_config.json").write_text(json.dumps(config))
    write_jsonl(ROWS, tmp_path / "pairs.jsonl")
    return tmp_path


def test_a_template_is_tried_on_every_row(here):
    refusal, remarks = template_remarks(load_tokenizer("rm"), read_pair_file("pairs.jsonl").rows, "rm", 60)
    assert "rm: its chat template refuses 1 rows, first `sys`" in refusal and "No system turn here" in refusal
    same, cut = remarks
    assert "1 pairs are the same to this model" in same and same.endswith(": thought")
    assert "longer than 60 tokens and cut: long" in cut


def test_a_refused_row_ends_scoring_by_name_before_weights_are_loaded(here, monkeypatch):
    loading = "polyreward.evaluation.score.load_reward_model"
    monkeypatch.setattr(loading, lambda *_, **__: pytest.fail("loaded"))
    with pytest.raises(PolyrewardError, match="refuses 1 rows, first `sys`"):
        score_models(["rm"], ["pairs.jsonl"], max_length=60)


@pytest.mark.parametrize("use", [
    lambda tokenizer: request_ids(tokenizer, SYSTEM),
    lambda tokenizer: conversation_ids(tokenizer, SYSTEM, "4", 60),
    lambda tokenizer: rendered(tokenizer, [*SYSTEM, ANSWER]),  # as the trainings of policies do
    lambda tokenizer: tokenized_requests([ROWS[3]], tokenizer, 60),
])  # fmt: skip
def test_a_refused_conversation_is_named_in_scoring_judging_and_training(here, use):
    said = r"refuses the conversation that begins `Be brief.` \(No system turn"
    with pytest.raises(PolyrewardError, match=said):
        use(load_tokenizer("rm"))


def test_rows_that_are_equal_or_cut_are_logged(here, capsys):
    found = score_models(["rm"], ["pairs.jsonl"], limit=3, max_length=60, token_budget=200)
    assert len(found.scores["pairs", "rm"]) == 3
    said = capsys.readouterr().err
    assert "1 pairs are the same to this model" in said
    assert "rm: 1 of 3 pairs have the same score twice, which counts as wrong: thought." in said


def test_the_command_prints_all_of_it(here, capsys):
    assert cli.main(["inspect", "pairs.jsonl", "--model", "rm", "--max-length", "60"]) == 0
    printed = capsys.readouterr().out
    for words in ("4 rows, layout pairs, 4 pairs", "x 2, y 2", "longest answer in 0%", "first `sys`"):
        assert words in printed
    assert cli.main(["inspect", "none.jsonl"]) == 1
