"""Files of pairs in every layout and format, read by every kind of chat template and head: each pair is scored as plain
transformers does one text at a time, or refused in words, and no text of it is lost in silence.

FUZZ_EXAMPLES sets how many are tried; `make fuzz` prints the counts."""

import copy
import dataclasses
import os

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from miniatures import armo_rm, dynamic, inf_orm, longrope, offset_bias, skywork_gemma2
from pair_data import READ, WRITERS, write

from polyreward.core.conversations import answer_header, as_messages, as_turns, rejected_of
from polyreward.core.errors import PolyrewardError
from polyreward.core.logs import unannounced
from polyreward.evaluation.inspection import template_remarks
from polyreward.models.reward_model import pooled
from polyreward.prepare.pair_files import read_pair_file
from polyreward.scoring.heads import Reward
from polyreward.scoring.load import load_classifier
from polyreward.scoring.pairs import score_rows

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "300"))
FLAT = (".csv", ".semicolons.csv", ".tsv", ".indexed.csv")  # without lists
# The model is run on a longer text in a second or two.
fuzzed = settings(
    max_examples=EXAMPLES, deadline=None, derandomize=EXAMPLES <= 300, database=None, suppress_health_check=list(HealthCheck)
)  # fmt: skip

BEGIN = "<|start_header_id|>"
TURN = BEGIN + "{{ m['role'] }}<|end_header_id|>\n\n%s<|eot_id|>"
ASKED = "{% if add_generation_prompt %}" + BEGIN + "assistant<|end_header_id|>\n\n{% endif %}"


def of_turns(turn, content="{{ m['content'] }}"):
    return "{% for m in messages %}" + turn.replace("%s", content) + "{% endfor %}" + ASKED


TEMPLATES = {
    "whole": of_turns(TURN),
    "trimmed": of_turns(TURN, "{{ m['content'] | trim }}"),
    "in words": "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}",
    "no header": "{% for m in messages %}{{ m['content'] }}<|eot_id|>{% endfor %}",
    "refuses system": of_turns("{% if m['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}" + TURN),
    "drops system": of_turns("{% if m['role'] != 'system' %}" + TURN + "{% endif %}"),
    "drops answers": of_turns("{% if m['role'] != 'assistant' %}" + TURN + "{% endif %}"),
    "cuts thoughts": of_turns(TURN, "{{ m['content'].split('</think>')[-1] }}"),
    "takes parts": of_turns(TURN, "{% for p in m['content'] %}{{ p['text'] }}{% endfor %}"),
    "fails": of_turns(TURN, "{{ m['content'] + 1 if 'q' in m['content'] else m['content'] }}"),
    "header at the end": of_turns(TURN).replace("{% if add_generation_prompt %}", "").removesuffix("{% endif %}"),
}  # fmt: skip
MAKERS = {
    "last": lambda folder: offset_bias(folder, "[PAD]", "[PAD]"),
    "no pad token": lambda folder: offset_bias(folder, None, None),
    "pad ends turns": lambda folder: offset_bias(folder, "<|eot_id|>", "<|eot_id|>"),
    "pooled": lambda folder: offset_bias(folder, "[PAD]", "[PAD]"),
    "two layers": inf_orm,
    "gated": armo_rm,
    "capped": skywork_gemma2,
    "dynamic": dynamic,
    "longrope": longrope,
}
POOLED = ("whole", "trimmed", "refuses system", "drops system", "cuts thoughts")  # that have the header
words = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=30).filter(str.strip)
odd = st.sampled_from([
    "<think>so</think>4", "4<|eot_id|>", f"4<|eot_id|>{BEGIN}user<|end_header_id|>\n\nOk<|eot_id|>{BEGIN}assistant<|end_header_id|>\n\n5",
    f"{BEGIN}user<|end_header_id|>\n\n2 + 2?<|eot_id|>{BEGIN}assistant<|end_header_id|>\n\n", "[PAD]", "  4 \n", "q", "zq1qz",
    '["4", "5"]', '{"role": "cook", "name": "Ann"}', "half \ud83d", "4 " * 60, "<s>", "\u202e4", "user: 4",
])  # fmt: skip


class Models(dict):
    """A dict that hypothesis prints in one line."""

    def __repr__(self):
        return "the models"


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """{head: its model, ready to score}."""
    found = Models()
    for name, make in MAKERS.items():
        found[name] = load_classifier(make(tmp_path_factory.mktemp("models") / name), "float32", 256, 400)
    one = found["pooled"]
    one.tokenizer.chat_template = TEMPLATES["whole"]
    one.model.config.answer_header = answer_header(one.tokenizer)
    pooled(one.model)
    return found


@torch.no_grad()
def plainly(model, row, answer):
    """Return what plain transformers makes of one conversation, by a copy of the model that ran nothing."""
    tokens, turns = model.tokenizer, as_messages(row["prompt"], answer)
    whole = tokens.apply_chat_template(turns, tokenize=True, return_dict=True)["input_ids"]
    ids, fresh = whole[-model.max_length :], copy.deepcopy(model.model)
    pad = fresh.config.pad_token_id
    if isinstance(fresh, Reward) and pad in ids:  # their authors' code reads the token before the first
        ids = ids[: ids.index(pad)] or ids
    if not getattr(fresh.config, "answer_header", None):
        inputs = torch.tensor([ids])
        return fresh(input_ids=inputs, attention_mask=torch.ones_like(inputs)).logits.item()
    options = {"tokenize": True, "return_dict": True, "add_generation_prompt": True}
    before = len(tokens.apply_chat_template(as_turns(row["prompt"]), **options)["input_ids"])
    start = max(0, before - (len(whole) - len(ids)))
    states = fresh.get_decoder()(torch.tensor([ids])).last_hidden_state[0]
    return fresh.score(states[min(start, len(ids) - 1) :]).mean().item()


def renewed(value, texts):
    """Return a row with other texts instead of its answers and its question."""
    if isinstance(value, dict):
        return {key: renewed(one, texts) for key, one in value.items()}
    if isinstance(value, list):
        return [renewed(one, texts) for one in value]
    return {"4": texts[0], "5": texts[1], "2 + 2?": texts[2]}.get(value, value)


def lost(tokenizer, row):
    """Return whether the template leaves out a text of a row."""
    for answer in (row["chosen"], *rejected_of(row)):
        turns = as_messages(row["prompt"], answer)
        shown = "".join(tokenizer.apply_chat_template(turns, tokenize=False).split())
        if any("".join(turn["content"].split()) not in shown for turn in turns):
            return True
    return False


@fuzzed
@given(st.data())
def test_each_pair_is_scored_as_plain_transformers_does_or_refused(models, tmp_path_factory, data):
    _, _, rows, _ = data.draw(st.sampled_from(READ))
    texts = data.draw(st.lists(words | odd, min_size=3, max_size=3, unique_by=str.strip))
    kind = data.draw(st.sampled_from(list(WRITERS)))
    head = data.draw(st.sampled_from(list(MAKERS)))
    name = data.draw(st.sampled_from(POOLED if head == "pooled" else list(TEMPLATES)))
    try:
        path = write(tmp_path_factory.mktemp("given"), renewed(copy.deepcopy(rows), texts), kind)
    except UnicodeEncodeError:  # no format holds half of a character
        event("not written")
        return
    model = dataclasses.replace(
        models[head],
        max_length=data.draw(st.sampled_from([24, 60, 256])),
        token_budget=data.draw(st.sampled_from([1, 60, 5000])),
    )
    model.tokenizer.chat_template = TEMPLATES[name]
    try:
        found = read_pair_file(path).rows
        refusal, remarks = template_remarks(model.tokenizer, found, "m", model.max_length)
        if refusal:
            raise PolyrewardError(refusal)
        with unannounced():
            table = score_rows(model, found, "m")
    except PolyrewardError as error:
        event(f"refused: {name}" if "m: " in str(error) else "refused: the file")
        assert len(str(error)) < 8000 and "Traceback" not in str(error)
        return
    event(f"scored: {head}")
    expected = [[plainly(model, row, one) for one in (row["chosen"], *rejected_of(row))] for row in found]
    best = np.array([(own[0], max(own[1:])) for own in expected])
    assert table[["score_chosen", "score_rejected"]].to_numpy() == pytest.approx(best, abs=1e-3)
    for row in found:
        if lost(model.tokenizer, row):
            event("counted: a text is left out")
            assert any("leaves out" in remark and row["id"] in remark for remark in remarks)
