"""Rows that share a prompt give what whole rows give: logits, gradients, and texts that are written."""

import pytest
import torch
from transformers import (
    AutoModelForCausalLM,
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    LlamaConfig,
    LlamaForCausalLM,
    MambaConfig,
    MambaForCausalLM,
)

from polyreward.accel.shared_prompts import (
    generate_from_shared_prompts,
    rest_of_rows,
    runs_from_shared_prompts,
)

SMALL = {"vocab_size": 60, "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 3, "num_attention_heads": 2,
         "num_key_value_heads": 1, "head_dim": 8, "pad_token_id": 0, "eos_token_id": 1, "bos_token_id": 2}  # fmt: skip
# Prompts of six tokens, the first and third row's the same one, the last row's with padding; then what each
# goes on with.
IDS = torch.tensor(
    [
        [0, 5, 6, 7, 8, 9, 10, 11, 12],
        [0, 5, 6, 7, 8, 4, 10, 11, 12],
        [0, 5, 6, 7, 8, 9, 20, 21, 0],
        [0, 0, 0, 7, 8, 9, 20, 0, 0],
    ]
)
MASK = (IDS != 0).long()


def model_of(name):
    torch.manual_seed(1)
    if name == "llama":
        return LlamaForCausalLM(LlamaConfig(**SMALL)).eval()
    # Its window is shorter than a prompt, so that a layer's cache no longer holds the prompt's beginning.
    kinds = ["sliding_attention", "full_attention", "sliding_attention"]
    return Gemma3ForCausalLM(Gemma3TextConfig(**SMALL, sliding_window=4, layer_types=kinds)).eval()


@pytest.fixture(params=["llama", "gemma"])
def model(request):
    return model_of(request.param)


def whole_rows(model):
    positions = torch.tensor(
        [[0, 0, 1, 2, 3, 4, 5, 6, 7]] * 2 + [[0, 0, 1, 2, 3, 4, 5, 6, 6], [0, 0, 0, 0, 1, 2, 3, 3, 3]]
    )
    return model(input_ids=IDS, attention_mask=MASK, position_ids=positions, use_cache=False).logits[:, 6:]


def test_the_rest_of_rows_gives_the_logits_and_gradients_of_whole_rows(model):
    read = MASK[:, 6:].bool()
    rest = model(**rest_of_rows(model, IDS, MASK, 6), use_cache=False).logits[read]
    rest.pow(2).sum().backward()
    found = {name: weight.grad.clone() for name, weight in model.named_parameters()}
    model.zero_grad()
    whole = whole_rows(model)[read]
    whole.pow(2).sum().backward()
    torch.testing.assert_close(rest, whole, atol=1e-6, rtol=1e-5)
    for name, weight in model.named_parameters():
        torch.testing.assert_close(found[name], weight.grad, atol=1e-5, rtol=1e-4)


def test_each_different_prompt_is_run_once(model, monkeypatch):
    rows, forward = [], model.forward

    def counted(input_ids, **options):
        rows.append(len(input_ids))
        return forward(input_ids=input_ids, **options)

    monkeypatch.setattr(model, "forward", counted)
    rest = rest_of_rows(model, IDS, MASK, 6)
    assert rows == [3]
    assert rest["input_ids"].tolist() == IDS[:, 6:].tolist()
    assert rest["position_ids"].tolist() == [[5, 6, 7], [5, 6, 7], [5, 6, 6], [3, 3, 3]]


@pytest.mark.parametrize("sampling", [{"do_sample": False}, {"do_sample": True, "temperature": 0.7}])
def test_the_same_texts_are_written(model, sampling):
    asked = {"input_ids": IDS[:, :6], "attention_mask": MASK[:, :6], "max_new_tokens": 10, **sampling}
    written = []
    for share in (False, True):
        if share:
            generate_from_shared_prompts(model)
        torch.manual_seed(3)
        written.append(model.generate(**asked))
    assert torch.equal(*written)
    assert len(set(map(tuple, written[0][:, 6:].tolist()))) > 1


def test_a_model_is_asked_whether_it_can(model, bases):
    assert runs_from_shared_prompts(model)
    assert all(runs_from_shared_prompts(AutoModelForCausalLM.from_pretrained(one)) for one in bases.values())
    mamba = MambaConfig(vocab_size=60, hidden_size=16, num_hidden_layers=2, state_size=4)
    assert not runs_from_shared_prompts(MambaForCausalLM(mamba).eval())
