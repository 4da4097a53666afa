"""Figure 3's policies: labels, trainings, responses and prompts."""

import shutil
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from made_up_scorers import ByText
from support import refused, script
from tiny_models import ROWS, policy_settings
from transformers import AutoModelForCausalLM, AutoTokenizer

from polyreward.alignment.sampling import Policy, answers_of_runs, distinct_prompts
from polyreward.core.conversations import rendered
from polyreward.settings.transfer import Dpo, Sampling
from polyreward.training.common import Job
from polyreward.training.policies import ENDED, load_policy, train_dpo, train_sft

labelled = script("train/labelled_pairs").labelled
drawn_prompts = script("prepare/alignment_prompts").drawn_prompts
SFT, DPO = policy_settings(), policy_settings(Dpo)
SAMPLING = Sampling(temperature=1.0, top_k=20, max_new_tokens=6, batch_size=4)
PAIRS = [{key: row[key] for key in ("id", "prompt", "chosen", "rejected")} for row in ROWS]


def test_a_label_is_best_against_worst_and_every_prompt_is_counted():
    responses = [
        {"id": "a", "prompt": "p", "responses": ["xx", "x", "xxxx", "xxx"]},
        {"id": "b", "prompt": "p", "responses": ["same", "same", "same"]},
        {"id": "c", "prompt": "p", "responses": ["ab", "cd", "ab"]},
    ]
    pairs, counts = labelled(responses, ByText(len), "")
    assert pairs == [{"id": "a", "prompt": "p", "chosen": "xxxx", "rejected": "x", "margin": 3.0}]
    assert counts == {"prompts": 3, "identical": 1, "tied": 1, "pairs": 1}


def test_rows_are_spread_over_the_whole_list():
    evenly_spread = script("train/sft_policy").evenly_spread
    assert evenly_spread(list(range(10)), 3) == [0, 3, 6]
    assert evenly_spread(list(range(2)), 3) == [0, 1]


def test_a_policy_stops_where_an_answer_ends(base):
    model, tokenizer = load_policy(base)
    turns = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "!"}]
    text = tokenizer.apply_chat_template(turns, tokenize=False)
    assert text.rstrip().endswith(tokenizer.eos_token)
    assert tokenizer.pad_token_id != tokenizer.eos_token_id
    assert model.generation_config.eos_token_id == tokenizer.eos_token_id


def test_a_policy_with_several_chat_templates_ends_the_one_of_conversations(tiny_gemma, tmp_path):
    shutil.copytree(tiny_gemma, tmp_path / "base", ignore=shutil.ignore_patterns("SHA256SUMS"))
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "base")
    own = "{% for turn in messages %}{{ turn.content }}{% endfor %}"
    tokenizer.chat_template = {"default": own, "tool_use": own}
    tokenizer.save_pretrained(tmp_path / "base")
    job = Job(1, tmp_path / "checkpoints", tmp_path / "policy", "sft")
    train_sft(tmp_path / "base", ROWS, SFT, job)
    trained = AutoTokenizer.from_pretrained(tmp_path / "policy")
    assert trained.chat_template == {"default": own + ENDED, "tool_use": own}


@pytest.fixture(scope="module")
def policy(bases, tmp_path_factory):
    folder = tmp_path_factory.mktemp("policy") / "sft"
    train_sft(bases["tiny-llama"], ROWS, SFT, Job(1, folder.parent / "checkpoints", folder, "sft"))
    return folder


def test_sft_changes_what_it_may_and_is_a_plain_folder(policy, bases):
    before, after = (AutoModelForCausalLM.from_pretrained(folder) for folder in (bases["tiny-llama"], policy))
    old, new = before.state_dict(), after.state_dict()
    changed = [name for name in new if not torch.equal(new[name][: len(old[name])], old[name])]
    assert changed and all("layers.1." in name for name in changed)
    assert AutoTokenizer.from_pretrained(policy).chat_template.rstrip().endswith("{% endif %}")


def dpo(policy, folder, settings, pairs=PAIRS):
    """Train by DPO into a folder and return the policy's."""
    train_dpo(policy, pairs, settings, Job(1, folder / "checkpoints", folder / "dpo", "dpo"))
    return folder / "dpo"


def test_dpo_raises_the_margin_of_its_pairs_over_the_reference(policy, tmp_path):
    settings = DPO.model_copy(update={"epochs": 6, "learning_rate": 3e-2})
    one, again = (dpo(policy, tmp_path / name, settings) for name in "ab")
    assert margin(one) > margin(policy) + 0.1
    first, second = (AutoModelForCausalLM.from_pretrained(folder).state_dict() for folder in (one, again))
    assert all(torch.equal(weight, second[name]) for name, weight in first.items())


def margin(folder) -> float:
    """Return the mean log-probability of the chosen answers minus that of the rejected ones."""
    model, tokenizer = load_policy(folder)

    def loglik(prompt, answer):
        turns = [{"role": "user", "content": prompt}]
        start = len(rendered(tokenizer, turns, add_generation_prompt=True))
        ids = torch.tensor([rendered(tokenizer, [*turns, {"role": "assistant", "content": answer}])])
        with torch.no_grad():
            found = torch.log_softmax(model(ids).logits[0, :-1], -1).gather(1, ids[0, 1:, None])
        return found[start - 1 :].sum().item()

    return np.mean([loglik(p["prompt"], p["chosen"]) - loglik(p["prompt"], p["rejected"]) for p in PAIRS])


@pytest.mark.parametrize(
    ("pairs", "changes", "words"),
    [
        (PAIRS[:3], {"gradient_accumulation": 2}, "3 preference pairs, fewer than the 4 of one update; raise alignment.prompts"),
        (PAIRS, {"max_length": 3}, "no example of 6 is left to train on; raise max_length"),
    ],
)  # fmt: skip
def test_too_few_or_too_long_pairs_are_an_error_that_leaves_nothing(policy, tmp_path, pairs, changes, words):
    assert words in refused(dpo, policy, tmp_path, DPO.model_copy(update=changes), pairs)
    assert not list(tmp_path.iterdir())


def test_responses_are_the_same_for_the_same_seed_and_differ_for_another(policy):
    prompts = [row["prompt"] for row in ROWS]
    sampler = Policy(policy, SAMPLING)
    first, again, other = (sampler.responses(prompts, 3, seed, "") for seed in (1, 1, 2))
    assert first == again != other
    assert [len(found) for found in first] == [3] * len(ROWS)
    answers = answers_of_runs({"base": [policy], "target": [policy]}, PAIRS, SAMPLING, "float32", 2, 5, "es")
    base, target = (
        [row["response"] for row in answers if row["policy"] == name] for name in ("base", "target")
    )
    assert base == target and len(base) == 2 * len(PAIRS)  # one seed for a run of every policy


def test_prompts_are_distinct_and_enough_of_them(capsys):
    rows = [{"id": str(n), "prompt": prompt, "chosen": "c"} for n, prompt in enumerate("aabcb")]
    expected = [{"id": name, "prompt": prompt} for name, prompt in zip("023", "abc", strict=True)]
    assert distinct_prompts(rows, 3, "dev") == expected
    assert distinct_prompts(rows, 4, "dev", alike=0.25) == distinct_prompts(rows, 3, "dev")
    assert "dev: 3 prompts, not 4" in capsys.readouterr().err
    assert distinct_prompts(rows, 2, "dev") == expected[:2]
    for count, alike, remedy in (
        (6, 0.25, "look for translations that are alike"),
        (4, 0, "raise pool.dev_share"),
    ):
        said = f"dev: 3 distinct prompts, not {count}; lower alignment.prompts or {remedy}"
        assert said in refused(distinct_prompts, rows, count, "dev", alike)


def test_trainings_of_a_policy_take_turns_in_the_runs(policy, monkeypatch):
    loaded = []

    @contextmanager
    def load(folder, *how):
        loaded.append(folder)
        yield SimpleNamespace(responses=lambda prompts, count, seed, label: [[folder]] * len(prompts))

    monkeypatch.setattr("polyreward.alignment.sampling.loaded_policy", load)
    folders = {"base": ["start"], "english": ["first", "second"]}
    answers = answers_of_runs(folders, PAIRS[:1], SAMPLING, "float32", 4, 5, "es")
    assert loaded == ["start", "first", "second"]
    found = {(row["policy"], row["run"]): row["response"] for row in answers}
    assert [found["english", run] for run in (1, 2, 3, 4)] == ["first", "second", "first", "second"]
    assert {found["base", run] for run in (1, 2, 3, 4)} == {"start"}


PROMPTS = [
    {"id": f"u{n}", "source": "u", "subset": "u", "prompt": f"Q{n % 8}", "chosen": "a", "rejected": "b"}
    for n in range(10)
]


def test_prompts_are_distinct_and_drawn_by_hash_and_hold_no_answer():
    drawn = drawn_prompts(PROMPTS, 5, 1, "here")
    assert len({row["prompt"] for row in drawn}) == 5
    assert (
        drawn == drawn_prompts(PROMPTS[:8], 5, 1, "here") == drawn_prompts(PROMPTS[7::-1], 5, 1, "here")[::-1]
    )
    assert set(drawn[0]) == {"id", "source", "subset", "prompt"}
    assert drawn != drawn_prompts(PROMPTS, 5, 2, "here")
    said = "here: 8 distinct prompts, not 9; lower alignment.prompts"
    assert said in refused(drawn_prompts, PROMPTS, 9, 1, "here")
