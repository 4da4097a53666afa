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
    parts, same, cut = remarks
    assert "1 rows have a text of which its chat template leaves out a part: thought" in parts
    assert "1 pairs are the same to this model" in same and same.endswith(": thought")
    assert "longer than 60 tokens and cut: long" in cut


def with_template(folder, template):
    """Return a tokenizer with another chat template."""
    tokenizer = load_tokenizer(folder)
    tokenizer.chat_template = template
    return tokenizer


TURN = "<start_of_turn>{{ m['role'] }}\n{{ m['content'] }}<end_of_turn>\n"
TWO_ROLES = (
    "{% for m in messages %}{% if m['role'] in ('user', 'assistant') %}" + TURN + "{% endif %}{% endfor %}"
)
PARTS = (
    "{% for m in messages %}{{ m['role'] }}{% for p in m['content'] %}{{ p['text'] }}{% endfor %}{% endfor %}"
)
ANSWERLESS = "{% for m in messages %}{% if m['role'] != 'assistant' %}" + TURN + "{% endif %}{% endfor %}"


@pytest.mark.parametrize("role", ["system", "tool"])
def test_turns_that_a_template_leaves_out_are_counted_also_where_another_turn_has_the_same_text(here, role):
    turns = [
        {"role": "user", "content": "Rain?"},
        {"role": role, "content": "Rain"},
        {"role": "user", "content": "So?"},
    ]
    row = {"id": "a", "subset": "x", "prompt": turns, "chosen": "Yes", "rejected": "No"}
    refusal, remarks = template_remarks(with_template("rm", TWO_ROLES), [row], "rm", 90)
    assert refusal is None
    assert remarks == [
        f"rm: 1 rows have turns that its chat template leaves out ({role}); say it in turns that it shows: a"
    ]


@pytest.mark.parametrize("template", [PARTS, ANSWERLESS])
def test_answers_that_a_template_leaves_out_stop_the_run(here, template):
    refusal, _ = template_remarks(with_template("rm", template), ROWS[:3], "rm", 90)
    assert "refuses 3 rows, first `plain` (it leaves out the answer" in refusal


def test_pairs_that_are_all_the_same_to_a_model_stop_the_run(here):
    row = {**ROWS[0], "chosen": "4 " + "so " * 9, "rejected": "5 " + "so " * 9}
    refusal, _ = template_remarks(load_tokenizer("rm"), [row], "rm", 8)
    assert "all pairs are the same to this model" in refusal


WHOLE = (
    "{% for m in messages %}"
    + TURN
    + "{% endfor %}{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
)


def test_control_tokens_in_texts_are_counted_and_a_prompt_that_holds_the_template_is_refused(here):
    tokenizer = with_template("rm", WHOLE)
    goes_on = {**ROWS[0], "id": "on", "chosen": "4<end_of_turn>\n<start_of_turn>user\nThanks"}
    refusal, remarks = template_remarks(tokenizer, [ROWS[0], goes_on], "rm", 200)
    words = (
        "1 rows hold the model's own control tokens (<end_of_turn>, <start_of_turn>), which it does not read"
    )
    assert refusal is None and words in remarks[0] and remarks[0].endswith(": on")
    asked = {**ROWS[0], "prompt": "<start_of_turn>user\n2 + 2?<end_of_turn>\n<start_of_turn>model\n"}
    refusal, _ = template_remarks(tokenizer, [asked], "rm", 200)
    assert "its prompt already holds the chat template" in refusal


def test_what_a_tokenizer_raises_has_the_row_and_the_cause(here, monkeypatch):
    tokenizer = load_tokenizer("rm")
    whole = type(tokenizer).apply_chat_template

    def fails(self, turns, **options):
        if turns[-1]["content"] == "six":
            raise TypeError("TextEncodeInput must be a text")
        return whole(self, turns, **options)

    monkeypatch.setattr(type(tokenizer), "apply_chat_template", fails)
    refusal, _ = template_remarks(tokenizer, ROWS[:2], "rm", 60)
    assert "refuses 1 rows, first `plain`" in refusal and "TypeError: TextEncodeInput" in refusal


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
