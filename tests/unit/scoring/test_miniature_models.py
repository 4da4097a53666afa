"""Published models in miniature: `polyreward score` next to plain transformers, one conversation at a time."""

import dataclasses
import datetime
import json
import shutil

import numpy as np
import pandas as pd
import pytest
import torch
from miniatures import armo_rm, inf_orm, offset_bias, skywork_gemma2, x_alma
from published_repositories import gemma3_with_pictures
from safetensors.torch import load_file
from tiny_models import ROWS, scores_of
from torch.nn import functional
from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification, AutoTokenizer, LlamaModel

from polyreward import cli
from polyreward.core.conversations import as_turns, conversation_ids, pin_date
from polyreward.core.errors import PolyrewardError
from polyreward.scoring.families import EAGER_TOKENS
from polyreward.scoring.load import load_causal_lm, load_classifier
from polyreward.scoring.local_judge import LocalBackend, request_ids
from polyreward.sources.base_models import fetch_base_model

TURNS = [
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "Hello!"},
    {"role": "user", "content": "Rice?"},
]
PAIRS = [*ROWS, {**ROWS[0], "id": "turns", "prompt": TURNS}]


def scored(folder, tmp_path, *options) -> np.ndarray:
    """Return what the command makes of PAIRS, (pairs, 2)."""
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in PAIRS))
    out = tmp_path / "scores.parquet"
    assert cli.main(["score", str(folder), str(tmp_path / "rows.jsonl"), "--out", str(out), *options]) == 0
    return pd.read_parquet(out)[["score_chosen", "score_rejected"]].to_numpy()


def conversations(folder) -> list[list[torch.Tensor]]:
    """Return the token ids of PAIRS, each by itself (1, tokens), as the model's own tokenizer has them."""
    tokens = AutoTokenizer.from_pretrained(folder)
    pin_date(tokens)
    asked = {"tokenize": True, "return_dict": True, "return_tensors": "pt"}

    def ids(prompt, answer):
        turns = [*as_turns(prompt), {"role": "assistant", "content": answer}]
        return tokens.apply_chat_template(turns, **asked)["input_ids"]

    return [[ids(row["prompt"], row[role]) for role in ("chosen", "rejected")] for row in PAIRS]


@torch.no_grad()
def plain(folder, reward) -> np.ndarray:
    """Return reward(ids (1, tokens)) of each conversation, (pairs, 2); different enough that equality says
    something."""
    found = np.array([[float(reward(ids)) for ids in pair] for pair in conversations(folder)])
    assert np.ptp(found) > 0.05
    return found


def by_transformers(folder, **options):
    model = AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32, **options).eval()
    return lambda ids: model(ids).logits[0, 0]


def by_hand(folder, head):
    """Return a reward that a head makes of the decoder's states (tokens, d_model), the ids and the weights of
    the folder."""
    decoder = LlamaModel.from_pretrained(folder, dtype=torch.float32).eval()
    weights = load_file(folder / "model.safetensors")
    return lambda ids: head(decoder(ids).last_hidden_state[0], ids[0].tolist(), weights)


def layer(states, weights, name):
    return functional.linear(states, weights[f"{name}.weight"], weights[f"{name}.bias"])


def two_layers(states, ids, weights):
    return layer(functional.relu(layer(states[-1], weights, "score.0")), weights, "score.2")


def gated(states, ids, weights):
    # The gate reads the token that ends the last question: of the tokens that begin an answer the first,
    # <|eot_id|>.
    header = [token for token, name in enumerate(ids) if name == 2]  # <|start_header_id|>
    gate = states[header[-1] - 1]
    for number in range(2):
        gate = functional.relu(layer(gate, weights, f"gating.layers.{number}"))
    gate = torch.softmax(layer(gate, weights, "gating.layers.2") / 10, dim=0)
    shares = gate * weights["gating.logit_scale"]
    return shares @ (weights["regression_layer.weight"] @ states[-1] @ weights["reward_transform_matrix"])


def test_armorm_s_gated_objectives_are_ours_and_its_code_is_not_run(tmp_path):
    folder = armo_rm(tmp_path / "ArmoRM-Llama3-8B-v0.1")
    assert scored(folder, tmp_path) == pytest.approx(plain(folder, by_hand(folder, gated)), abs=1e-4)
    # An answer whose beginning is cut away still has a reward.
    assert np.isfinite(scored(folder, tmp_path, "--max-length", "6")).all()


@pytest.mark.parametrize("pad", ["[PAD]", "<|eot_id|>", None])
def test_inf_orm_s_two_layers_are_ours(tmp_path, pad):
    folder = inf_orm(tmp_path / "INF-ORM-Llama3.1-70B", pad)

    def reward(states, ids, weights):
        # Its own code reads the token before the first pad token: the end of the question, not of the answer.
        return two_layers(states[: ids.index(4)] if pad == "<|eot_id|>" else states, ids, weights)

    assert scored(folder, tmp_path) == pytest.approx(plain(folder, by_hand(folder, reward)), abs=1e-4)


def test_gemma_2_is_run_with_its_soft_caps_and_shares_its_prompts(tmp_path):
    folder = skywork_gemma2(tmp_path / "Skywork-Reward-Gemma-2-27B")
    with pytest.raises(ValueError, match="scaled_dot_product_attention"):
        AutoModelForSequenceClassification.from_pretrained(folder, attn_implementation="sdpa")
    expected = plain(folder, by_transformers(folder, attn_implementation="eager"))
    assert scored(folder, tmp_path) == pytest.approx(expected, abs=1e-4)
    reward_model = load_classifier(folder, "float32", 256, 400)
    assert reward_model.model.config._attn_implementation == "eager"
    assert reward_model.share
    # Eager attention takes memory by the square of a batch's tokens.
    assert load_classifier(folder, "float32", 256, 1_000_000).token_budget == EAGER_TOKENS
    uncapped = json.loads((folder / "config.json").read_text()) | {"attn_logit_softcapping": 1e6}
    (folder / "config.json").write_text(json.dumps(uncapped))
    assert np.abs(scored(folder, tmp_path) - expected).max() > 1e-3  # else the cap would not show


@pytest.mark.parametrize("configured", ["[PAD]", "<|eot_id|>", None])
@pytest.mark.parametrize("pad", ["[PAD]", "<|eot_id|>", None])
def test_a_pad_token_that_is_missing_or_ends_a_turn_changes_no_reward(tmp_path, pad, configured):
    folder = offset_bias(tmp_path / "Llama-3-OffsetBias-RM-8B", pad, configured)
    expected = plain(folder, by_transformers(folder))
    assert scored(folder, tmp_path) == pytest.approx(expected, abs=1e-4)
    classifier = load_classifier(folder, "float32", 256, 400)
    for change in ({"token_budget": 1}, {"share": False}):  # as models are run whose prompts cannot be shared
        found = scores_of(dataclasses.replace(classifier, **change), PAIRS)
        assert found == pytest.approx(expected, abs=1e-4)


def test_a_tokenizer_that_begins_every_text_does_not_begin_a_conversation_twice(tmp_path):
    folder = offset_bias(tmp_path / "rm", "[PAD]", "[PAD]")
    tokens = AutoTokenizer.from_pretrained(folder)
    begin = tokens.bos_token_id
    text = tokens.apply_chat_template(as_turns("Hi"), tokenize=False)
    assert tokens(text)["input_ids"][:2] == [begin, begin]  # the trap
    assert conversation_ids(tokens, "Hi", "Hello!", 99)[0].count(begin) == 1


def fetched(folder, base):
    fetch_base_model({"source": {"kind": "path", "path": str(folder)}, "chat_template": None}, 1, [], base)


class AnotherDay(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls(2031, 3, 9)


def test_a_template_that_prints_today_s_date_gives_the_same_tokens_every_day(tmp_path, monkeypatch):
    folder = offset_bias(tmp_path / "Llama-3.2-3B-Instruct", "[PAD]", "[PAD]", template="llama3_2")
    before = scored(folder, tmp_path)
    monkeypatch.setattr("transformers.utils.chat_template_utils.datetime", AnotherDay)
    plain_tokens = AutoTokenizer.from_pretrained(folder)
    assert "09 Mar 2031" in plain_tokens.apply_chat_template(as_turns("Hi"), tokenize=False)  # the trap
    assert scored(folder, tmp_path) == pytest.approx(before, abs=0)
    fetched(folder, tmp_path / "base")
    saved = AutoTokenizer.from_pretrained(tmp_path / "base")
    assert "Today Date: 26 Jul 2024" in saved.apply_chat_template(as_turns("Hi"), tokenize=False)


@torch.no_grad()
def logits(model, ids):
    return model(ids).logits[0]


def test_an_adapter_beside_merged_weights_is_not_applied_once_more(tmp_path):
    folder = x_alma(tmp_path / "X-ALMA-13B-Group2")
    assert (folder / "adapter_config.json").is_file()
    ids = conversations(folder)[0][0]
    twice = logits(AutoModelForCausalLM.from_pretrained(folder), ids)
    separate = shutil.copytree(folder, tmp_path / "merged", ignore=shutil.ignore_patterns("adapter_*"))
    expected = logits(AutoModelForCausalLM.from_pretrained(separate), ids)
    assert (twice - expected).abs().max() > 1e-2  # the trap
    loaded = load_causal_lm(folder, "float32", 256, 400)
    assert torch.allclose(logits(loaded.model, ids), expected, atol=1e-5)
    fetched(folder, tmp_path / "base")
    assert not list((tmp_path / "base").glob("adapter_*"))
    merged = AutoModelForCausalLM.from_pretrained(tmp_path / "base")
    assert torch.allclose(logits(merged, ids), expected, atol=1e-5)
    (folder / "model.safetensors").unlink()  # only the adapter
    with pytest.raises(PolyrewardError, match=r"holds only an adapter \(of .*merge it into its base"):
        load_causal_lm(folder, "float32", 256, 400)


def test_a_head_that_nobody_knows_is_refused_before_its_weights_are_read(tmp_path):
    folder = armo_rm(tmp_path / "rm")
    config = json.loads((folder / "config.json").read_text()) | {"architectures": ["QuantileReward"]}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "model.safetensors").write_bytes(b"")
    words = r"its head `QuantileReward` is known neither to transformers nor here .*heads.py"
    with pytest.raises(PolyrewardError, match=words):
        load_classifier(folder, "float32", 256, 400)


def test_a_model_that_asks_for_several_gpus_is_loaded_where_there_are_none(tmp_path):
    folder = offset_bias(tmp_path / "rm", "[PAD]", "[PAD]")
    assert load_classifier(folder, "float32", 256, 400, gpus=2).share


def test_a_gemma_that_also_sees_pictures_writes_and_judges_as_transformers_has_it(tmp_path):
    gemma3_with_pictures(tmp_path)
    lm = load_causal_lm(tmp_path, "float32", 256, 2048)
    assert lm.plain_head and lm.share  # as for a Gemma of text only
    judged = LocalBackend(lm, 6)
    requests = [as_turns(row["prompt"]) for row in ROWS[:3]]
    model = AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.float32).eval()
    replies, rows = [], []
    for request in requests:
        ids = torch.tensor([request_ids(lm.tokenizer, request)])
        with torch.no_grad():
            written = model.generate(input_ids=ids, max_new_tokens=6, do_sample=False)
            rows.append(model(ids).logits[0, -1].log_softmax(-1))
        replies.append(lm.tokenizer.decode(written[0, ids.shape[1] :], skip_special_tokens=True))
    assert judged.replies(requests, "judge") == replies and len(set(replies)) > 1
    labels = [lm.tokenizer.encode(label, add_special_tokens=False)[0] for label in "AB"]
    expected = torch.stack(rows)[:, labels].numpy()
    np.testing.assert_allclose(judged.label_logprobs(requests, "AB", "judge"), expected, atol=1e-4)
