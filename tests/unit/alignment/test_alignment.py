"""From a policy's responses to win rates: labels, DPO, judging, and the statistics of who wins."""

import dataclasses
from collections import Counter
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
import trl.trainer.utils
from support import script
from tiny_models import ROWS
from transformers import AutoModelForCausalLM, AutoTokenizer

from polyreward.accel.vocabulary import split_the_vocabulary
from polyreward.alignment.sampling import Policy, answers_of_runs, distinct_prompts
from polyreward.alignment.win_rates import judge_accuracy, length_controlled, win_rates
from polyreward.analysis.bootstrap import Interval
from polyreward.core.errors import PolyrewardError
from polyreward.scoring.generative import TEMPLATE, VERDICT, judge
from polyreward.scoring.interface import Scores
from polyreward.scoring.pair_question import asked_in_pairs, swapped
from polyreward.settings.base import Lora, PolicyTraining
from polyreward.settings.transfer import Dpo, Sampling
from polyreward.training.policies import load_policy, train_dpo, train_sft
from polyreward.transfer.figure3 import figure3_table

JUDGING = script("score/judgements")
judgements = JUDGING.judgements
answered = script("score/reference_answers").answered
LABELLING = script("train/labelled_pairs")
parallel_instructions = script("translate/instructions").parallel_instructions
drawn_prompts = script("prepare/alignment_prompts").drawn_prompts
LORA = Lora(rank=2, alpha=4, top_layers=1)
SFT = PolicyTraining(
    epochs=1, learning_rate=1e-2, warmup_ratio=0.1, lr_scheduler="cosine", batch_size=2, gradient_accumulation=1,
    max_length=128, gradient_checkpointing=False, save_every=1, lora=LORA,
)  # fmt: skip
DPO = Dpo(**dict(SFT), beta=0.1, optimizer="adamw_torch")
SAMPLING = Sampling(temperature=1.0, top_k=20, max_new_tokens=6, batch_size=4)
PAIRS = [
    {"id": row["id"], "prompt": row["prompt"], "chosen": row["chosen"], "rejected": row["rejected"]}
    for row in ROWS
]


@dataclasses.dataclass
class ByText:
    """A scorer of answers by a function of their text."""

    value: object
    exact = True

    def score(self, conversations, label):
        values = [np.array([float(self.value(answer)) for answer in answers]) for _, answers in conversations]
        return Scores(values, [np.zeros(len(found), dtype=bool) for found in values])


def test_a_label_is_best_against_worst_and_every_prompt_is_counted():
    responses = [
        {"id": "a", "prompt": "p", "responses": ["xx", "x", "xxxx", "xxx"]},
        {"id": "b", "prompt": "p", "responses": ["same", "same", "same"]},
        {"id": "c", "prompt": "p", "responses": ["ab", "cd", "ab"]},
    ]
    pairs, counts = LABELLING.labelled(responses, ByText(len), "")
    assert pairs == [{"id": "a", "prompt": "p", "chosen": "xxxx", "rejected": "x", "margin": 3.0}]
    assert counts == {"prompts": 3, "identical": 1, "tied": 1, "pairs": 1}


def test_labellers_that_agree_on_half_of_the_pairs():
    first = [{"id": n, "chosen": "a", "rejected": "b"} for n in "xyz"]
    second = [{"id": "x", "chosen": "a", "rejected": "b"}, {"id": "y", "chosen": "b", "rejected": "a"}]
    assert LABELLING.agreement(first, second) == 0.5
    assert np.isnan(LABELLING.agreement(first, []))
    counts = {"prompts": 3, "identical": 0, "tied": 0, "pairs": 3}
    table = LABELLING.counts_table({"target": (first, counts), "english": (second, counts)}, "es")
    assert list(table["same_pair_as_first"]) == [1.0, 0.5]


def test_rows_are_spread_over_the_whole_list():
    evenly_spread = script("train/sft_policy").evenly_spread
    assert evenly_spread(list(range(10)), 3) == [0, 3, 6]
    assert evenly_spread(list(range(2)), 3) == [0, 1]


def test_a_policy_stops_where_an_answer_ends(base):
    model, tokenizer = load_policy(base)
    text = tokenizer.apply_chat_template(
        [{"role": "user", "content": "?"}, {"role": "assistant", "content": "!"}], tokenize=False
    )
    assert text.rstrip().endswith(tokenizer.eos_token)
    assert tokenizer.pad_token_id != tokenizer.eos_token_id
    assert model.generation_config.eos_token_id == tokenizer.eos_token_id


@pytest.fixture(scope="module")
def policy(bases, tmp_path_factory):
    folder = tmp_path_factory.mktemp("policy") / "sft"
    train_sft(bases["tiny-llama"], ROWS, SFT, 1, folder.parent / "checkpoints", folder, "sft")
    return folder


def test_sft_changes_what_it_may_and_is_a_plain_folder(policy, bases):
    before, after = (AutoModelForCausalLM.from_pretrained(folder) for folder in (bases["tiny-llama"], policy))
    old = before.state_dict()
    changed = {
        name
        for name, weight in after.state_dict().items()
        if not torch.equal(weight[: len(old[name])], old[name])
    }
    assert changed
    assert all("layers.1." in name for name in changed)
    assert AutoTokenizer.from_pretrained(policy).chat_template.rstrip().endswith("{% endif %}")


def test_what_no_loss_is_of_need_not_meet_the_vocabulary(base, monkeypatch):
    ids = torch.arange(40).reshape(2, 20) % 31 + 5
    labels = ids.clone()
    labels[:, :12] = -100
    found = []
    for only_labels in (False, True):
        model, _ = load_policy(base)
        monkeypatch.setattr("trl.trainer.utils._use_triton", lambda device: False)
        if only_labels:
            split_the_vocabulary()
            assert trl.trainer.utils._use_triton("cpu")  # else a new TRL asks elsewhere, and nothing is saved
        trl.trainer.utils.add_fused_lm_head(model, outputs=("log_probs", "entropy"))
        output = model(input_ids=ids, attention_mask=torch.ones_like(ids), labels=labels, fused_lm_head=True)
        output.loss.backward()
        found.append(
            (output.log_probs, output.entropy, model.get_decoder().layers[0].mlp.up_proj.weight.grad)
        )
    assert all(torch.allclose(plain, saved, atol=1e-5) for plain, saved in zip(*found, strict=True))


def test_dpo_raises_the_margin_of_its_pairs_over_the_reference(policy, tmp_path):
    settings = DPO.model_copy(update={"epochs": 6, "learning_rate": 3e-2})
    train_dpo(policy, PAIRS, settings, 1, tmp_path / "checkpoints", tmp_path / "dpo", "dpo")
    assert margin(tmp_path / "dpo") > margin(policy) + 0.1
    train_dpo(policy, PAIRS, settings, 1, tmp_path / "checkpoints", tmp_path / "again", "dpo")
    first, second = (
        AutoModelForCausalLM.from_pretrained(tmp_path / name).state_dict() for name in ("dpo", "again")
    )
    assert all(torch.equal(weight, second[name]) for name, weight in first.items())


def margin(folder) -> float:
    """Return the mean log-probability of the chosen answers minus that of the rejected ones."""
    model, tokenizer = load_policy(folder)

    def loglik(prompt, answer):
        turns = [{"role": "user", "content": prompt}]
        start = len(
            tokenizer.apply_chat_template(turns, tokenize=True, return_dict=True, add_generation_prompt=True)[
                "input_ids"
            ]
        )
        whole = [*turns, {"role": "assistant", "content": answer}]
        ids = torch.tensor(
            [tokenizer.apply_chat_template(whole, tokenize=True, return_dict=True)["input_ids"]]
        )
        with torch.no_grad():
            found = torch.log_softmax(model(ids).logits[0, :-1], -1).gather(1, ids[0, 1:, None])
        return found[start - 1 :].sum().item()

    return float(
        np.mean([loglik(p["prompt"], p["chosen"]) - loglik(p["prompt"], p["rejected"]) for p in PAIRS])
    )


def test_fewer_pairs_than_an_update_takes_are_an_error(policy, tmp_path):
    with pytest.raises(
        PolyrewardError, match="3 preference pairs, fewer than the 4 of one update; raise alignment.prompts"
    ):
        folders = (tmp_path / "checkpoints", tmp_path / "dpo")
        train_dpo(policy, PAIRS[:3], DPO.model_copy(update={"gradient_accumulation": 2}), 1, *folders, "dpo")
    assert not list(tmp_path.iterdir())


def test_examples_longer_than_max_length_are_an_error_where_none_is_left(policy, tmp_path):
    with pytest.raises(PolyrewardError, match="no example of 6 is left to train on; raise max_length"):
        train_dpo(
            policy,
            PAIRS,
            DPO.model_copy(update={"max_length": 3}),
            1,
            tmp_path / "checkpoints",
            tmp_path / "dpo",
            "dpo",
        )


def test_responses_are_the_same_for_the_same_seed_and_differ_for_another(policy):
    prompts = [row["prompt"] for row in ROWS]
    sampler = Policy(policy, SAMPLING)
    first, again, other = (sampler.responses(prompts, 3, seed, "") for seed in (1, 1, 2))
    assert first == again != other
    assert [len(found) for found in first] == [3] * len(ROWS)
    answers = answers_of_runs({"base": [policy], "target": [policy]}, PAIRS, SAMPLING, "float32", 2, 5, "es")
    by_policy = {
        name: [row["response"] for row in answers if row["policy"] == name] for name in ("base", "target")
    }
    assert by_policy["base"] == by_policy["target"]  # one seed for a run of every policy
    assert len(answers) == 2 * 2 * len(PAIRS)


def test_prompts_are_distinct_and_enough_of_them():
    rows = [{"id": str(n), "prompt": prompt, "chosen": "c"} for n, prompt in enumerate("aabcb")]
    assert distinct_prompts(rows, 3, "dev") == [
        {"id": "0", "prompt": "a"},
        {"id": "2", "prompt": "b"},
        {"id": "3", "prompt": "c"},
    ]
    with pytest.raises(PolyrewardError, match="dev: 3 distinct prompts, not 4"):
        distinct_prompts(rows, 4, "dev")


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


def test_what_trainings_differ_by_is_in_the_interval_of_a_win_rate():
    """Five trainings of 300 instructions, of which each wins with a probability of its own."""
    generator, levels = np.random.default_rng(1), [0.3, 0.4, 0.5, 0.6, 0.7]
    judged = pd.DataFrame(
        [
            {"language": "es", "policy": policy, "run": run, "id": f"i{n}", "margin": 0.0,
             "win": float(generator.random() < (levels[run - 1] if policy == "english" else 0.5)),
             "length_response": 5 + n % 3, "length_reference": 6}
            for policy in ("base", "english") for run in range(1, 6) for n in range(300)
        ]
    )  # fmt: skip
    alike, apart = (win_rates(judged, INTERVAL, n).set_index("policy") for n in (1, 5))
    assert apart["win_rate_pct"].tolist() == pytest.approx(alike["win_rate_pct"].tolist())
    assert apart.loc["base", "low"] == alike.loc["base", "low"]  # it is not trained
    width = {name: table["high"] - table["low"] for name, table in (("alike", alike), ("apart", apart))}
    # A standard deviation of 15.8 points between trainings is 7.1 of their mean; Student's t of four is 2.78
    assert width["apart"]["english"] == pytest.approx(2 * 2.78 * 7.1, rel=0.25)
    assert width["alike"]["english"] < 8
    assert width["apart"]["english - base"] > 3 * width["alike"]["english - base"]


REFERENCES = [
    {"id": "i1", "prompt": "p", "reference": "four"},
    {"id": "i2", "prompt": "q", "reference": "sixsix"},
]


def answers(*texts, policy="base", run=1):
    return [
        {"policy": policy, "run": run, "id": f"i{n}", "response": text} for n, text in enumerate(texts, 1)
    ]


def test_a_longer_response_wins_by_a_judge_of_length_and_an_empty_one_loses():
    judged = judgements(answers("longer", " ") + answers("four", "s", run=2), REFERENCES, ByText(len), "es")
    assert list(judged["win"]) == [1.0, 0.0, 0.5, 0.0]
    assert list(judged["length_response"]) == [6, 0, 4, 1]
    assert judged["margin"][1] == -np.inf


class Weighing:
    """A backend that takes the first answer shown to be the better one with a probability of 0.6, the second
    of 0.2."""

    exact = True

    def label_logprobs(self, requests, labels, job):
        return np.log(np.tile([0.6, 0.2], (len(requests), 1)))

    def cut(self, requests):
        return [False for _ in requests]


def test_a_judge_that_weighs_gives_a_response_its_probability_and_an_empty_one_nothing():
    question = {
        "system": "",
        "text": "{prompt}{first}{second}",
        "verdicts": ["m", "M"],
        "pattern": "^([mM])$",
    }
    weighing = asked_in_pairs(judge(Weighing(), "labels", TEMPLATE, VERDICT), {"question": question})
    judged = judgements(answers("longer", " "), REFERENCES, weighing, "es")
    expected = 0.25 if swapped("p", ("longer", "four")) else 0.75
    assert list(judged["win"]) == pytest.approx([expected, 0])
    assert list(judged["margin"]) == pytest.approx([2 * expected - 1, -np.inf])


def test_a_judge_that_knows_no_difference_is_told_of(capsys):
    judged = judgements(answers("a", "b"), REFERENCES, ByText(lambda _: 0), "es")
    assert list(judged["win"]) == [0.5, 0.5]
    assert "every comparison is a tie" in capsys.readouterr().err


LONG = [
    {
        "id": f"i{n}",
        "prompt": f"Question {n}?",
        "reference": " ".join(f"word{n}{i}" for i in range(20 + n)) + ".",
    }
    for n in range(5)
]


def test_known_pairs_are_a_reference_and_a_worse_answer_of_each_kind():
    pairs = JUDGING.known_pairs(LONG)
    assert {pair["id"] for pair in pairs} == {"i0", "i1", "i2", "i3"}  # the fifth has no partner
    assert Counter(pair["kind"] for pair in pairs) == dict.fromkeys(JUDGING.KINDS, 4)
    assert all(pair["chosen"] != pair["rejected"] for pair in pairs)
    off_topic = {pair["id"]: pair["rejected"] for pair in pairs if pair["kind"] == "off_topic"}
    assert off_topic["i0"] == LONG[1]["reference"] and off_topic["i1"] == LONG[0]["reference"]
    echo = next(pair for pair in pairs if pair["kind"] == "echo" and pair["id"] == "i2")
    assert echo["rejected"] == "Question 2?"


def test_answers_too_short_for_a_kind_make_no_pair_of_it():
    assert {pair["kind"] for pair in JUDGING.known_pairs(REFERENCES)} == {"off_topic", "echo"}


def test_a_judge_of_length_gets_half_of_what_is_as_long_and_all_that_is_cut():
    found = JUDGING.known_judgements(LONG, ByText(len), "es")
    right = found.groupby("kind")["right"].mean()
    assert right["off_topic"] == right["garble"] == 0.5  # garbled answers tie, and a tie is half right
    assert right["cut"] == right["echo"] == 1
    table = judge_accuracy(found, INTERVAL).set_index("kind")
    assert list(table.index) == ["all", *JUDGING.KINDS]
    assert table.loc["all", "accuracy_pct"] == pytest.approx(100 * right.mean())
    assert table.loc["cut", "accuracy_pct"] == 100 and table.loc["cut", "low"] < 100
    assert list(table["n_pairs"]) == [24, 4, 4, 4, 4, 4, 4]


def test_a_judge_is_measured_over_kinds_that_not_every_answer_has():
    known = pd.DataFrame({
        "language": "es", "id": ["a", "b", "c", "a"], "kind": ["off_topic"] * 3 + ["cut"], "right": [1.0, 1.0, 0.5, 0.0],
    })  # fmt: skip
    table = judge_accuracy(known, INTERVAL).set_index("kind")
    assert table.loc["off_topic", "accuracy_pct"] == pytest.approx(100 * 2.5 / 3)
    assert table.loc["cut", "accuracy_pct"] == 0
    assert table.loc["all", "accuracy_pct"] == pytest.approx(100 * 2.5 / 6)


def made_up(rates: dict[str, float], instructions=200, runs=2, lengths=None, seed=1):
    generator = np.random.default_rng(seed)
    return pd.DataFrame([
        {"language": "es", "policy": policy, "run": run, "id": f"i{n}", "win": float(generator.random() < rate), "margin": 0.0,
         "length_response": (lengths or {}).get(policy, 50) + int(generator.integers(20)), "length_reference": 60}
        for policy, rate in rates.items() for run in range(1, runs + 1) for n in range(instructions)
    ])  # fmt: skip


INTERVAL = Interval(samples=2000, confidence=0.95, seed=1)


def test_win_rates_are_means_and_differences_are_paired():
    judged = made_up({"base": 0.2, "target": 0.5, "english": 0.5})
    table = win_rates(judged, INTERVAL).set_index("policy")
    assert table.loc["base", "win_rate_pct"] == pytest.approx(
        100 * judged[judged["policy"] == "base"]["win"].mean()
    )
    difference = table.loc["english", "win_rate_pct"] - table.loc["target", "win_rate_pct"]
    assert table.loc["english - target", "win_rate_pct"] == pytest.approx(difference)
    assert table.loc["english - base", "low"] > 0  # 30 points: decided
    assert table.loc["english - target", "low"] < 0 < table.loc["english - target", "high"]
    assert table["low"].le(table["win_rate_pct"]).all() and table["high"].ge(table["win_rate_pct"]).all()
    by_run = judged[judged["policy"] == "base"].groupby("run")["win"].mean()
    assert table.loc["base", "run_sd"] == pytest.approx(100 * by_run.std())
    assert list(table["n_instructions"].unique()) == [200]


def test_what_length_alone_wins_is_taken_out():
    rng = np.random.default_rng(3)
    long, short = rng.integers(80, 160, 4000), rng.integers(1, 80, 4000)
    lengths = np.concatenate([long, short])
    chance = 1 / (1 + np.exp(-4 * np.tanh((lengths - 80) / (lengths - 80).std())))
    judged = pd.DataFrame({
        "policy": ["english"] * 4000 + ["base"] * 4000, "win": (rng.random(8000) < chance).astype(float),
        "length_response": lengths, "length_reference": 80,
    })  # fmt: skip
    raw = judged.groupby("policy")["win"].mean()
    assert raw["english"] - raw["base"] > 0.6
    controlled = length_controlled(judged)
    assert controlled["english"] == pytest.approx(0.5, abs=0.08)
    assert controlled["base"] == pytest.approx(0.5, abs=0.08)


def test_a_policy_that_always_or_never_wins_still_has_a_controlled_rate():
    judged = made_up({"base": 0.0, "target": 1.0, "english": 0.5})
    controlled = length_controlled(judged)
    assert controlled["base"] < 0.05 < 0.95 < controlled["target"]
    assert controlled["english"] == pytest.approx(0.5, abs=0.1)


def test_the_figures_table_holds_every_run_and_both_rates():
    judged = made_up({"base": 0.2, "target": 0.5, "english": 0.5}, instructions=20)
    table = figure3_table(win_rates(judged, INTERVAL), judged)
    assert set(table["quantity"]) == {"win rate", "length-controlled", "run 1", "run 2"}
    assert len(table) == 6 + 6 + 2 * 3
    assert table["n_instructions"].notna().all()


ITEM = {"id": "i1", "prompt": {"en": "Why?", "es": "¿Por qué?"}, "reference": {"en": "So.", "es": "Así."}}


def test_instructions_are_taken_apart_by_language():
    other = {"id": "i2", "prompt": {"en": "Who?", "es": "¿Quién?"}, "reference": {"en": "I.", "es": "Yo."}}
    found = parallel_instructions([ITEM, other], ["en", "es"], "x.yaml", ["prompt", "reference"])
    assert found["es"][0] == {"id": "i1", "prompt": "¿Por qué?", "reference": "Así."}
    assert [row["id"] for row in found["en"]] == ["i1", "i2"]


def test_every_missing_text_of_an_instruction_is_named():
    broken = {"id": "i2", "prompt": {"en": "Who?"}, "reference": {"en": " ", "es": "Yo."}}
    with pytest.raises(PolyrewardError) as error:
        parallel_instructions([ITEM, broken], ["en", "es"], "x.yaml", ["prompt", "reference"])
    assert "x.yaml, prompt: passage `i2` is not in es" in str(error.value)
    assert "x.yaml, reference: passage `i2` is not in en" in str(error.value)


def test_instructions_without_references_are_answered_by_a_model():
    bare = [{"id": "i1", "prompt": ITEM["prompt"]}, {"id": "i2", "prompt": {"en": "Who?", "es": "¿Quién?"}}]
    rows = parallel_instructions(bare, ["en", "es"], "x.yaml", ["prompt"])["es"]
    assert rows == [{"id": "i1", "prompt": "¿Por qué?"}, {"id": "i2", "prompt": "¿Quién?"}]
    assert answered(rows, Echo(), "references")[0] == {
        "id": "i1",
        "prompt": "¿Por qué?",
        "reference": "¿POR QUÉ?",
    }


def test_an_empty_reference_answer_is_named():
    with pytest.raises(PolyrewardError, match="`i9`: an empty reply"):
        answered([{"id": "i9", "prompt": " "}], Echo(), "references")


def test_a_few_empty_reference_answers_are_left_out_with_what_was_answered_to_them(capsys):
    rows = [{"id": f"i{n}", "prompt": " " if n == 7 else "Why?"} for n in range(100)]
    references = answered(rows, Echo(), "references")
    assert [row["id"] for row in references] == [f"i{n}" for n in range(100) if n != 7]
    assert "1 of 100 instructions are left out" in capsys.readouterr().err
    answers = [{"policy": "sft", "run": 1, "id": f"i{n}", "response": "Because"} for n in (6, 7)]
    assert list(judgements(answers, references, ByText(len), "en")["id"]) == ["i6"]


class Echo:
    """A model that repeats its prompt in capitals."""

    def replies(self, requests, job):
        return [turn["content"].upper() for (turn,) in requests]


PROMPTS = [
    {"id": f"u{n}", "source": "u", "subset": "u", "prompt": f"Q{n % 8}", "chosen": "a", "rejected": "b"}
    for n in range(10)
]


def test_prompts_are_distinct_drawn_by_hash_and_hold_no_answer():
    drawn = drawn_prompts(PROMPTS, 5, 1, "here")
    assert len({row["prompt"] for row in drawn}) == 5
    assert (
        drawn == drawn_prompts(PROMPTS[:8], 5, 1, "here") == drawn_prompts(PROMPTS[7::-1], 5, 1, "here")[::-1]
    )
    assert set(drawn[0]) == {"id", "source", "subset", "prompt"}
    assert drawn != drawn_prompts(PROMPTS, 5, 2, "here")


def test_too_few_distinct_prompts_are_told():
    with pytest.raises(PolyrewardError, match="here: 8 distinct prompts, not 9; lower alignment.prompts"):
        drawn_prompts(PROMPTS, 9, 1, "here")
