"""Think-as-Locals: the layout and its reader, rewards with known answers, pairs, criteria, and a GRPO run that resumes."""

import dataclasses
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import yaml
from tiny_models import ROOT
from transformers import AutoModelForCausalLM, AutoTokenizer

from polyreward.core.errors import PolyrewardError
from polyreward.scoring.criteria_layout import FAULTS, LABELS, MOST, Reply, question, read_reply, written
from polyreward.scoring.label_logprobs import label_logprobs, verdict_ids
from polyreward.think_as_locals.criteria import at_once, criteria_of, ending, read_criteria, warmup_rows
from polyreward.think_as_locals.curves import curves
from polyreward.think_as_locals.grpo import GrpoSettings, train_grpo
from polyreward.think_as_locals.pairs import both_orders, dataset_pairs, dealt, hands, training_pairs
from polyreward.think_as_locals.rewards import REWARDS, Rewards, appropriateness, correctness, layout
from polyreward.training.common import LoraSettings
from polyreward.training.policies import load_policy

CULTURES = ["ar", "zh", "en", "de", "ja", "ko", "ru", "es", "th", "vi"]
DOMAINS = ["commonsense", "values", "safety", "linguistics"]
GOOD = "1. It fits everyday life in Germany.\n2. What is usual in Japan does not count here.\nVerdict: B"

READABLE = {
    GOOD: (("It fits everyday life in Germany.", "What is usual in Japan does not count here."), "B"),
    "1. x\nVerdict: A": (("x",), "A"),
    "\n 1. x\nVerdict: A \n": (("x",), "A"),
    "1.  Zwei  Wörter \nVerdict: A": (("Zwei  Wörter",), "A"),
    "1. A is better\nVerdict: B": (("A is better",), "B"),
    "1. A\nVerdict: B": (("A",), "B"),
    "1. a\u2028b\nVerdict: B": (("a\u2028b",), "B"),
    "1. x\n\n\nVerdict: A": (("x",), "A"),
    "**1. x**\n\n**Verdict: B**": (("x",), "B"),
    "1. x\n**Verdict:** A": (("x",), "A"),
    "1. x\n*Verdict: A*": (("x",), "A"),
    "> 1. x\n> `Verdict: B`": (("x",), "B"),
    "## Criteria\n1. x\n## Verdict\nB": (("x",), "B"),
    "Criteria:\n1. x\nVerdict: A": (("x",), "A"),
    "What a local checks:\n1) x\n2) y\nverdict: a.": (("x", "y"), "A"),
    "- x\nVerdict: [[A]]": (("x",), "A"),
    "* x\n* y\n\nVerdict - [B]": (("x", "y"), "B"),
    "(1) x\nVerdict: (b)": (("x",), "B"),
    "1、甲。\nVerdict：Ａ。": (("甲。",), "A"),
    "1. x\nVerdict: “A”": (("x",), "A"),
    "1. x\nVerdict A": (("x",), "A"),
    "1. x\nThe verdict is A.": (("x",), "A"),
    "1. x\nFinal verdict: Answer B": (("x",), "B"),
    "1. x Verdict: A": (("x",), "A"),
    "1. x\nA": (("x",), "A"),
    "1. x\n[[B]]": (("x",), "B"),
    "1. x\nAnswer: B.": (("x",), "B"),
    "1. x\nVerdict: A\nVerdict: A": (("x",), "A"),
    "1. x\nVerdict: A\nI am sure.": (("x",), "A"),
    "1. x\nVerdict: B, since a local says so.": (("x",), "B"),
    "1. The verdict depends on law.\n2. y\nVerdict: B": (("The verdict depends on law.", "y"), "B"),
    "2. x\n4. y\nVerdict: A": (("x", "y"), "A"),
    "It is usual there.\nVerdict: A": (("It is usual there.",), "A"),
    "\n".join(f"{n}. c" for n in range(1, MOST + 2)) + "\nVerdict: A": (("c",) * (MOST + 1), "A"),
}
# {reply: (what it says before the place of a verdict, what is wrong)}
UNREADABLE = {
    "": ((), "no verdict"),
    "1. x": (("x",), "no verdict"),
    "1. B": (("B",), "no verdict"),
    "1. x\nAbove all": (("x", "Above all"), "no verdict"),
    "1. x\nVerdict:": (("x",), "no verdict"),
    "1. x\nVerdict: C": (("x",), "no verdict"),
    "1. x\nVerdict: AB": (("x",), "no verdict"),
    "1. x\nVerdict: banana": (("x",), "no verdict"),
    "1. x\nVerdict: A or B": (("x",), "no verdict"),
    "1. x\nVerdict: A, B": (("x",), "no verdict"),
    "1. x\nVerdict: A because B is foreign": (("x",), "no verdict"),
    "1. x\nVerdict: A\nVerdict: B": (("x",), "several verdicts"),
    "1. x\nVerdict: A Verdict: B": (("x",), "several verdicts"),
    "1. The Verdict: is B\nVerdict: A": ((), "several verdicts"),
    "A": ((), "no criteria"),
    "Verdict: A": ((), "no criteria"),
    "1. \nVerdict: A": ((), "no criteria"),
    "Criteria:\nVerdict: A": ((), "no criteria"),
    "Verdict: A\n1. x": ((), "no criteria"),
}


@pytest.mark.parametrize(("text", "read"), READABLE.items())
def test_a_reply_is_read_as_a_person_would(text, read):
    assert read_reply(text, ended=True) == Reply(*read)


@pytest.mark.parametrize(("text", "read"), UNREADABLE.items())
def test_what_names_no_single_label_is_not_guessed_at(text, read):
    criteria, fault = read
    assert read_reply(text, ended=True) == Reply(criteria, fault=fault)


@pytest.mark.parametrize("text", [GOOD, "1. x\n2. y\n3. and so on", *UNREADABLE])
def test_what_was_cut_off_is_endless_even_after_a_verdict(text):
    found = read_reply(text, ended=False)
    assert (found.verdict, found.fault) == (None, "endless")
    assert found.criteria == read_reply(text, ended=True).criteria


def test_a_verdict_alone_is_in_form_where_no_criteria_are_wanted():
    assert read_reply("Verdict: A", ended=True, criteria_wanted=False) == Reply((), "A")
    assert read_reply("Verdict:", ended=True, criteria_wanted=False) == Reply(fault="no verdict")


def test_what_is_written_is_read_again():
    for verdict in LABELS:
        criteria = ("Первое.", "二つ目。", "ثالثًا")
        assert read_reply(written(criteria, verdict), ended=True) == Reply(criteria, verdict)
    assert written((), "A") == "Verdict: A"


@pytest.mark.parametrize("braces", ["{", "}", "{prompt}", "{first} {most}", "\\1 %s"])
def test_a_question_holds_its_texts_as_they_are(braces):
    asked = question(f"p{braces}p", f"a{braces}a", f"b{braces}b")
    assert asked.startswith(f"p{braces}p\n\nAnswer A: a{braces}a (A)\nAnswer B: b{braces}b (B)\n\n")
    assert f"one to {MOST} numbered criteria" in asked


def test_a_conversation_is_asked_about_whole():
    turns = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}]
    assert question(turns, "x", "y").startswith("system: Be brief.\nuser: Hello\n")


def test_rewards_of_verdict_and_layout():
    right, wrong, broken = Reply(("x",), "A"), Reply(("x",), "B"), Reply(fault="no verdict")
    assert [correctness(reply, "A") for reply in (right, wrong, broken)] == [1.0, -1.0, -1.0]
    assert [layout(reply) for reply in (right, wrong, broken)] == [1.0, 1.0, -1.0]


def hand_computed(folder, request, criteria, label) -> float:
    """Return a label's log-probability where a reply has it, token by token: the plainest way there is."""
    model, tokenizer = load_policy(folder)
    turns = [{"role": "user", "content": request}, {"role": "assistant", "content": "\n".join([*criteria, f"Verdict: {label}"])}]
    before = tokenizer.apply_chat_template(turns, tokenize=False).rpartition(f" {label}")[0]
    assert before.endswith("Verdict:")
    ids, total = tokenizer.encode(before, add_special_tokens=False), 0.0
    for token in tokenizer.encode(f" {label}", add_special_tokens=False):
        with torch.no_grad():
            logits = model(torch.tensor([ids])).logits[0, -1].double()
        total += (logits[token] - logits.exp().sum().log()).item()
        ids.append(token)
    return total


def test_appropriateness_is_the_difference_of_two_hand_computed_logprobs(base):
    model, tokenizer = load_policy(base)
    requests = [question("How do I greet?", "Bow.", "Shake hands."), question("What is eaten?", "Rice with fish.", "Bread.")]
    replies = [Reply(("It is usual there.", "Nothing else counts."), "B"), Reply(("Short.",), "A")]
    found = appropriateness(model, tokenizer, requests, replies, ["A", "B"], 999, 999)
    by_hand = [
        hand_computed(base, request, [f"{n}. {text}" for n, text in enumerate(reply.criteria, 1)], right)
        - hand_computed(base, request, [], right)
        for request, reply, right in zip(requests, replies, ["A", "B"], strict=True)
    ]
    assert found == pytest.approx(by_hand, abs=1e-4)
    assert min(map(abs, found)) > 1e-4  # random weights, so that nothing is zero by itself


def test_appropriateness_is_of_the_right_verdict_whatever_the_reply_says(base):
    model, tokenizer = load_policy(base)
    request = question("How do I greet?", "Bow.", "Shake hands.")
    replies = [Reply(("It is usual.",), "A"), Reply(("It is usual.",), "B")]
    same, other = appropriateness(model, tokenizer, [request] * 2, replies, ["A"] * 2, 999, 999)
    assert same == pytest.approx(other, abs=1e-5)


def test_a_reply_out_of_form_never_gains_on_those_in_form(base):
    model, tokenizer = load_policy(base)
    request, other = question("How do I greet?", "Bow.", "Shake hands."), question("p", "x", "y")
    replies = [
        Reply(("It is usual.",), "A"),
        Reply(("z z z", "z"), "A"),
        Reply(("Good.",), fault="endless"),
        Reply(fault="no verdict"),
    ]
    one, two, broken, alone = appropriateness(model, tokenizer, [*[request] * 3, other], replies, ["A"] * 4, 999, 999)
    assert broken == min(one, two) != max(one, two)
    assert alone == 0.0


def test_appropriateness_needs_no_gradient_and_leaves_the_model_as_it_was(base):
    model, tokenizer = load_policy(base)
    model.train()
    asked = question("How do I greet?", "Bow.", "Shake hands.")
    appropriateness(model, tokenizer, [asked], [Reply(("x",), "A")], ["A"], 999, 999)
    assert model.training
    assert all(weight.grad is None for weight in model.parameters())


def test_logprobs_do_not_depend_on_their_batch_and_are_of_the_label_alone(base):
    model, tokenizer = load_policy(base)
    asked = [(question("p", "x", "y " * n), criteria) for n in (1, 9, 40) for criteria in ((), ("Long " * n, "Short."))]
    alone = np.concatenate([label_logprobs(model, tokenizer, [one], 999, 999) for one in asked])
    assert label_logprobs(model, tokenizer, asked, 999, 10_000) == pytest.approx(alone, abs=1e-4)
    ids, labels = verdict_ids(tokenizer, *asked[1])
    assert tokenizer.decode(ids).endswith("Verdict:")
    assert [tokenizer.decode(tokens).strip() for tokens in labels] == list(LABELS)


def test_the_rewards_as_trl_calls_them(tiny_gemma):
    model, tokenizer = load_policy(tiny_gemma)
    end = tokenizer.eos_token_id
    rewards, logged = Rewards(tokenizer, [end], 999, 999), {}
    rewards.trainer = SimpleNamespace(model=model)
    texts = [GOOD, GOOD, "Verdict: A", "1. x\nVerdict: A\nVerdict: B", GOOD]
    request = question("p", "x", "y")
    called = {
        "prompts": [[{"role": "user", "content": request}]] * 5, "right": ["B", "A", "A", "A", "B"],
        "completions": [[{"role": "assistant", "content": text}] for text in texts],
        "completion_ids": [[5, end], [5, end], [5, end], [5, end], [5, 6]],
        "log_metric": logged.__setitem__, "trainer_state": None,
    }  # fmt: skip
    by_name = {function.__name__: function(**called) for function in rewards.functions()}
    assert list(by_name) == list(REWARDS)
    assert by_name["correctness"] == [1.0, -1.0, -1.0, -1.0, -1.0]
    assert by_name["layout"] == [1.0, 1.0, -1.0, -1.0, -1.0]
    in_form, broken = by_name["appropriateness"][:2], by_name["appropriateness"][2:]
    assert 0.0 not in in_form
    assert broken == [min(in_form)] * 3
    assert logged == {f"faults/{fault}": 0.2 * (fault in ("endless", "several verdicts", "no criteria")) for fault in FAULTS}


def test_judges_without_criteria_are_rewarded_for_a_verdict_alone(tiny_gemma):
    tokenizer = load_policy(tiny_gemma)[1]
    rewards = Rewards(tokenizer, [1], 999, 999, criteria=False)
    called = {
        "prompts": [[]] * 2,
        "completions": [[{"role": "assistant", "content": text}] for text in ("Verdict: A", "Verdict:")],
        "completion_ids": [[5, 1]] * 2,
        "right": ["A", "A"],
    }
    assert [function(**called) for function in rewards.functions()] == [[1.0, -1.0], [0.0, 0.0], [1.0, -1.0]]


def item(topic: str, culture: str, domain: str = "commonsense") -> dict:
    first, *others = [other for other in CULTURES if other != culture][:3]
    four = [first, culture, *others]
    return {
        "id": f"{topic}_{culture}", "culture": culture, "domain": domain, "source": "custom", "topic": topic,
        "prompt": f"What is {topic} in {culture}?", "answers": [f"{topic} of {other}" for other in four], "chosen": 1,
        "references": [{"value": other, "culture": other} for other in four],
    }  # fmt: skip


ITEMS = [item(f"{domain}-{n}", culture, domain) for domain in DOMAINS for n in range(2) for culture in ("de", "ja")]


def test_an_item_makes_three_pairs_and_each_stands_in_both_orders():
    pairs = training_pairs(ITEMS[:1])
    assert pairs[0] == {
        "id": "commonsense-0_de_ar", "prompt": "What is commonsense-0 in de?", "chosen": "commonsense-0 of de",
        "rejected": "commonsense-0 of ar", "culture": "de", "language": "de", "topic": "commonsense-0", "domain": "commonsense",
        "elsewhere": "ar",
    }  # fmt: skip
    assert [pair["elsewhere"] for pair in pairs] == ["ar", "zh", "en"]
    first, second = both_orders(pairs[:1])
    assert (first["right"], second["right"]) == ("A", "B")
    assert first["request"] == question(pairs[0]["prompt"], pairs[0]["chosen"], pairs[0]["rejected"])
    assert second["request"] == question(pairs[0]["prompt"], pairs[0]["rejected"], pairs[0]["chosen"])
    assert len({asked["id"] for asked in both_orders(pairs)}) == 6


def test_pairs_are_dealt_once_each_and_by_their_hashes_alone():
    pairs = training_pairs(ITEMS)
    found = dealt(pairs, {"warmup": 10, "grpo": 20}, 1)
    assert {use: len(own) for use, own in found.items()} == {"warmup": 10, "grpo": 20, "rest": 18}
    assert len({pair["id"] for own in found.values() for pair in own}) == 48
    assert dealt(pairs[::-1], {"warmup": 10, "grpo": 20}, 1) == found
    assert dealt(pairs, {"warmup": 10, "grpo": 20}, 2) != found
    with pytest.raises(PolyrewardError, match="48 pairs to train on, but warmup 40, grpo 20 are asked for"):
        dealt(pairs, {"warmup": 40, "grpo": 20}, 1)


def test_datasets_join_grpo_alone_and_samples_are_of_each_culture():
    others = dataset_pairs([{"id": "h1", "prompt": "p", "chosen": "c", "rejected": ["r", "s"]}, {"id": "h2", "prompt": "q",
                            "chosen": "c", "rejected": "r"}])  # fmt: skip
    assert [(pair["id"], pair["rejected"]) for pair in others] == [("h1_0", "r"), ("h1_1", "s"), ("h2_0", "r")]
    found = hands(training_pairs(ITEMS), others, [], warmup=10, grpo=26, held_out=4, samples=2, seed=1)
    assert {use: len(own) for use, own in found.items()} == {"warmup": 10, "grpo": 26, "held_out": 4, "samples": 4}
    assert all("culture" in pair for pair in found["warmup"])
    assert [pair["culture"] for pair in found["samples"]] == ["de", "de", "ja", "ja"]
    every = hands(training_pairs(ITEMS), others, [], warmup=0, grpo=51, held_out=0, samples=2, seed=1)
    assert {pair["id"] for pair in others} <= {pair["id"] for pair in every["grpo"]}
    assert every["samples"] == []


def test_shares_say_how_many_pairs_of_each_source_grpo_gets_and_the_rest_is_filled_at_random():
    made = [("care", 40), ("helpsteer3", 200), ("mini-pool/chat", 20)]
    others = [{"id": f"{source}-{n}", "prompt": "p", "chosen": "c", "rejected": "r", "source": source}
              for source, count in made for n in range(count)]  # fmt: skip

    def sources(shares, grpo=60):
        dealt_out = hands(training_pairs(ITEMS), others, [], warmup=10, grpo=grpo, held_out=0, samples=2, seed=1, shares=shares)
        assert len(dealt_out["grpo"]) == grpo == len({pair["id"] for pair in dealt_out["grpo"]})
        found = [pair.get("source", "own") for pair in dealt_out["grpo"]]
        assert found != sorted(found)  # sources are mixed
        return Counter(found)

    assert sources({"care": 0.5, "own": 0.25, "mini-pool": 0.25}) == {"care": 30, "own": 15, "mini-pool/chat": 15}
    assert sources({"care": 1.0})["care"] == 40  # it has no more
    assert sources({"care": 0.5})["care"] >= 30
    assert sources({}) == sources(None)


EASY = [{"id": f"off-{n}_0", "prompt": f"p{n}", "chosen": f"c{n}", "rejected": f"c{n + 1}"} for n in range(30)]


def test_easy_pairs_are_a_share_of_the_warm_up_and_of_grpo_where_they_come_first():
    sizes = {"warmup": 10, "grpo": 20, "held_out": 6, "samples": 1}
    found = hands(training_pairs(ITEMS), [], EASY, **sizes, seed=1, easy_shares={"warmup": 0.5, "grpo": 0.5})
    easy = {use: [pair["id"].startswith("off-") for pair in own] for use, own in found.items()}
    assert sorted(easy["warmup"]) == [False] * 5 + [True] * 5
    assert easy["grpo"] == [True] * 10 + [False] * 10
    assert not any(easy["held_out"] + easy["samples"]) and len(easy["held_out"]) == 6
    ids = [pair["id"] for own in found.values() for pair in own]
    assert len(ids) == len(set(ids))
    trained = {pair["topic"] for use in ("warmup", "grpo") for pair in found[use] if "topic" in pair}
    assert {pair["topic"] for pair in found["held_out"]} <= trained
    with pytest.raises(PolyrewardError, match="think_as_locals.easy: 30 pairs to train on, but warmup 5, grpo 30 are asked for"):
        hands(training_pairs(ITEMS), [], EASY, **{**sizes, "grpo": 60}, seed=1, easy_shares={"warmup": 0.5, "grpo": 0.5})


def test_one_pair_of_each_of_some_items_is_held_out_and_grpo_gets_their_others():
    pairs, sizes = training_pairs(ITEMS), {"warmup": 6, "held_out": 5, "samples": 1}
    found = hands(pairs, [], [], grpo=10, **sizes, seed=1)
    items = {use: [(pair["topic"], pair["culture"]) for pair in of_use] for use, of_use in found.items()}
    assert len(set(items["held_out"])) == 5
    assert Counter(items["grpo"]) == dict.fromkeys(items["held_out"], 2)
    assert not set(items["warmup"] + items["samples"]) & set(items["held_out"])
    more = hands(pairs, [], [], grpo=20, **sizes, seed=1)
    assert more["held_out"] == found["held_out"] and len(more["grpo"]) == 20
    assert not {pair["id"] for pair in more["grpo"]} & {pair["id"] for use in ("warmup", "held_out") for pair in more[use]}
    with pytest.raises(PolyrewardError, match="think_as_locals.held_out: 17 items, but 16 are there to train on"):
        hands(pairs, [], [], warmup=0, grpo=1, held_out=17, samples=1, seed=1)


@pytest.fixture(scope="module")
def templates():
    return read_criteria(ROOT / "resources/carb/criteria.yaml", CULTURES, DOMAINS)


@pytest.fixture(scope="module")
def places():
    cultures = yaml.safe_load((ROOT / "resources/carb/cultures.yaml").read_text(encoding="utf-8"))["cultures"]
    return {culture: entry["places"] for culture, entry in cultures.items()}


def test_every_criterion_in_every_language_and_place_makes_a_reply_in_form(templates, places):
    for language, of_language in templates.items():
        for line in [line for lines in of_language.values() for line in lines]:
            for place in places.values():
                criterion = line.replace("{place}", place[language])
                assert read_reply(written([criterion, criterion], "A"), ended=True) == Reply((criterion, criterion), "A")


def test_criteria_name_the_items_own_place_and_that_of_the_wrong_answer(templates, places):
    asked = both_orders(training_pairs([item("tea", "ja")]))[0]  # its wrong answer is Egypt's
    here, elsewhere = criteria_of(asked, templates, places, "en", True, 1)
    assert "in Japan" in here and "in Egypt" in elsewhere
    here, elsewhere = criteria_of(asked, templates, places, "de", True, 1)
    assert "in Japan" in here and "in Ägypten" in elsewhere
    assert criteria_of(asked, templates, places, "de", False, 1) == (here,)


def test_a_pair_of_no_culture_gets_a_criterion_that_holds_anywhere(templates, places):
    rows = warmup_rows(EASY[:1], templates, places, None, True, 0, 1)
    assert [read_reply(row["chosen"], ended=True).verdict for row in rows] == ["A", "B"]
    assert {read_reply(row["chosen"], ended=True).criteria[0] for row in rows} <= set(templates["en"]["anywhere"])


def test_the_warm_up_has_right_replies_in_form_in_both_orders(templates, places):
    rows = warmup_rows(training_pairs(ITEMS), templates, places, None, True, 0, 1)
    assert len(rows) == 2 * 48
    read = [read_reply(row["chosen"], ended=True) for row in rows]
    assert [reply.verdict for reply in read] == ["A", "B"] * 48
    assert len({reply.criteria for reply in read}) > 10
    assert warmup_rows(training_pairs(ITEMS), templates, places, "en", True, 0, 1) != rows
    assert [read_reply(row["chosen"], True, criteria_wanted=False) for row in at_once(rows)] == [
        Reply((), verdict) for verdict in ["A", "B"] * 48
    ]


def test_the_last_criterion_names_the_right_answer_and_its_label(templates, places):
    pairs = training_pairs([item("tea", "ja")])[:1]
    first, second = warmup_rows(pairs, templates, places, "en", False, 60, 1)
    assert first["chosen"].endswith(" in Japan: tea of ja (A)\nVerdict: A") and second["chosen"].endswith(
        "tea of ja (B)\nVerdict: B"
    )
    assert read_reply(second["chosen"], ended=True).verdict == "B"


@pytest.mark.parametrize(
    ("text", "most", "end"),
    [
        ("Fewer than 20.", 20, "Fewer than 20."),
        ("One line,\n\nand another.", 40, "One line, and another."),
        ("The people elect the head of state for six years.", 20, "for six years."),
        ("全国に同じ額が時給で定められている。", 8, "定められている。"),
        ("unbroken-word-of-many-letters x", 20, "ord-of-many-letters x"[-20:]),
    ],
)
def test_a_long_answer_is_named_by_its_end(text, most, end):
    assert ending(text, most) == end


def test_every_gap_in_the_criteria_is_named(tmp_path):
    text = "en: {values: [no place, '{place} and {place}'], anywhere: ['here {place}']}\n"
    (tmp_path / "c.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(PolyrewardError) as error:
        read_criteria(tmp_path / "c.yaml", ["en", "de"], ["values"])
    told = str(error.value)
    assert "language en: no criteria of elsewhere" in told and "language de: no criteria of values" in told
    assert "'here {place}' has {place} 1 times; leave it out" in told and "language de: no criteria of anywhere" in told
    assert "'no place' has {place} 0 times" in told and "has {place} 2 times" in told


LORA = LoraSettings(rank=2, alpha=4, top_layers=1)
ALL = {"correctness": 1.0, "appropriateness": 1.0, "layout": 1.0}
GRPO = GrpoSettings(
    steps=4, generations=2, iterations=2, learning_rate=1e-2, warmup_ratio=0.1, lr_scheduler="cosine", batch_size=4,
    gradient_accumulation=1, max_length=200, max_new_tokens=12, temperature=1.0, beta=0.04, epsilon=0.2, precision="float32",
    gradient_checkpointing=False, save_every=2, vllm=False, lora=LORA, liger=False, rewards=ALL, criteria=True,
)  # fmt: skip
QUESTIONS = both_orders(training_pairs([item("tea", culture) for culture in CULTURES])[:8])


class EvenTokens(Rewards):
    """In place of the layout, which random weights never find: the share of even token ids, which can be learnt."""

    def layout(self, completions, completion_ids, **kwargs):
        return [float(np.mean([token % 2 == 0 for token in ids])) for ids in completion_ids]


def grpo(start, folder, name="model", rewards=EvenTokens, **changes):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("polyreward.think_as_locals.grpo.Rewards", rewards)
        train_grpo(start, QUESTIONS, dataclasses.replace(GRPO, **changes), 1, folder / "checkpoints", folder / name, name)
    return folder / name


@pytest.fixture(scope="module")
def grpo_folder(bases, tmp_path_factory):
    return grpo(bases["tiny-gemma"], tmp_path_factory.mktemp("grpo"))


def weights(folder) -> dict[str, torch.Tensor]:
    return AutoModelForCausalLM.from_pretrained(folder).state_dict()


def changed_weights(before, after) -> set[str]:
    old, new = weights(before), weights(after)
    return {name for name, weight in new.items() if not torch.equal(weight[: len(old[name])], old[name])}


def test_grpo_changes_the_adapted_layers_alone_and_leaves_a_plain_folder(grpo_folder, bases):
    changed = changed_weights(bases["tiny-gemma"], grpo_folder)
    assert changed and all("layers.1." in name for name in changed)
    assert AutoTokenizer.from_pretrained(grpo_folder).chat_template
    assert not (grpo_folder.parent / "checkpoints").exists()


def test_grpo_tells_of_every_step_and_of_what_is_known_of_it(grpo_folder):
    table = curves({"full": grpo_folder / "training.json"})
    assert list(table["step"]) == [1, 2, 3, 4]
    assert list(table["step"][table["reward"].notna()]) == [1, 3]  # every second step has new replies
    assert (table["correctness"].dropna() == -1).all()
    assert (table["reward"].dropna() == table["layout"].dropna() - 1).all()
    assert set(table["groups"].dropna()) == {2}
    assert (table["kl"] > 0).any() and table[["entropy", "loss"]].notna().all(axis=None)
    assert "step_time" not in (grpo_folder / "training.json").read_text()


def test_groups_whose_rewards_are_all_equal_are_counted_and_teach_nothing(bases, tmp_path):
    folder = grpo(bases["tiny-gemma"], tmp_path, rewards=Rewards, beta=0.0)
    table = curves({"full": folder / "training.json"})
    assert table["groups_equal"].dropna().tolist() == [2, 2]
    assert table["reward"].dropna().tolist() == [-2, -2]  # no right verdict, no layout
    assert table["valid_share"].dropna().tolist() == [0, 0]
    assert table["share_endless"].dropna().tolist() == [1, 1]
    assert not changed_weights(bases["tiny-gemma"], folder)


def test_grpo_in_bfloat16_leaves_what_it_does_not_train_as_it_was(bases, tmp_path):
    folder = grpo(bases["tiny-gemma"], tmp_path, precision="bfloat16", steps=2)
    changed = changed_weights(bases["tiny-gemma"], folder)
    assert changed and all("layers.1." in name for name in changed)
    assert {weight.dtype for weight in weights(folder).values()} == {torch.float32}


def test_grpo_raises_what_is_rewarded(bases, tmp_path):
    folder = grpo(bases["tiny-gemma"], tmp_path, steps=40, lora=None, generations=4, batch_size=16, beta=0.0)
    reward = curves({"full": folder / "training.json"})["layout"].dropna().tolist()
    assert np.mean(reward[-3:]) > np.mean(reward[:3]) + 0.1


def test_a_killed_grpo_run_goes_on_and_ends_with_the_same_weights(grpo_folder, bases, tmp_path, monkeypatch, capsys):
    class KilledError(Exception):
        pass

    def die(self, args, state, control, **kwargs):
        if state.global_step == 3:
            raise KilledError

    with monkeypatch.context() as patched:
        patched.setattr("polyreward.training.grpo.Announce.on_step_end", die)
        with pytest.raises(KilledError):
            grpo(bases["tiny-gemma"], tmp_path)
    assert not (tmp_path / "model").exists()
    resumed = grpo(bases["tiny-gemma"], tmp_path)
    assert "resumes from checkpoint-2" in capsys.readouterr().err
    whole, again = weights(grpo_folder), weights(resumed)
    assert all(torch.equal(weight, again[name]) for name, weight in whole.items())
    assert (resumed / "training.json").read_text() == (grpo_folder / "training.json").read_text()


def test_fewer_questions_than_an_update_takes_are_an_error(bases, tmp_path):
    with pytest.raises(PolyrewardError, match="0 of 16 questions are left to train on, fewer than the 2 of one update"):
        grpo(bases["tiny-gemma"], tmp_path, max_length=5)
    assert not list(tmp_path.iterdir())
