"""Rows that begin with the same prompt: it is run once, and each row goes on from its keys and values.

Unlike rows of `trees`, `generate` and training by TRL can go on from a model's cache, gradients included."""

import dataclasses
from collections.abc import Sequence

import torch

from polyreward import accel
from polyreward.models.batches import left_padded, positions


def rest_of_rows(model, input_ids: torch.Tensor, attention_mask: torch.Tensor, shared: int) -> dict:
    """Run the first `shared` tokens of rows, each different beginning once; return a model's inputs for
    the rest.

    input_ids, attention_mask: (rows, tokens); padding may be anywhere. A model then gives the states of
    whole rows, to rounding, and gradients flow into what is shared."""
    places = positions(attention_mask)
    begins = torch.cat([input_ids[:, :shared], attention_mask[:, :shared]], dim=1)
    different, of_row = torch.unique(begins, dim=0, return_inverse=True)
    ids, mask = different.split(shared, dim=1)
    options = {"use_cache": True, "logits_to_keep": 1}  # its logits are not read
    cache = model(input_ids=ids, attention_mask=mask, position_ids=positions(mask), **options).past_key_values
    cache.batch_select_indices(of_row)
    rest = {"input_ids": input_ids[:, shared:], "position_ids": places[:, shared:]}
    return {**rest, "attention_mask": attention_mask, "past_key_values": cache}


@dataclasses.dataclass
class Begun:
    """Rows that a model has run: what it can go on from, once.

    mask: (rows, tokens), padded on the left. cache: keys and values of these tokens and any behind them."""

    mask: torch.Tensor
    cache: object

    def go_on(self, rests: Sequence[Sequence[int]], pad_token_id: int | None) -> dict:
        """Return a model's inputs for other tokens behind the rows: of each, its last token first.

        Raises what a cache does that has forgotten too much."""
        shared = self.mask.shape[1] - 1
        self.cache.crop(shared - self.cache.get_seq_length())
        rest = left_padded(rests, pad_token_id, self.mask.device)
        mask = torch.cat([self.mask[:, :shared], rest["attention_mask"]], dim=1)
        ids, places = rest["input_ids"], positions(mask)[:, shared:]
        return {
            "input_ids": ids,
            "position_ids": places,
            "attention_mask": mask,
            "past_key_values": self.cache,
        }


def generate_from_shared_prompts(model) -> None:
    """Let a model's `generate` run equal prompts once."""
    plain = model.generate

    def generate(input_ids: torch.Tensor, attention_mask: torch.Tensor, **options):
        cache = rest_of_rows(model, input_ids, attention_mask, input_ids.shape[1] - 1)["past_key_values"]
        return plain(input_ids=input_ids, attention_mask=attention_mask, past_key_values=cache, **options)

    model.generate = generate


@torch.no_grad()
def runs_from_shared_prompts(model) -> bool:
    """Ask a model whether it gives the same states this way as for whole rows, as those with a cache do."""
    if not accel.on():
        return False
    ids = torch.arange(27).reshape(3, 9) * 7 % min(model.config.vocab_size, 997)
    ids[1, :6] = ids[0, :6]
    mask = torch.ones_like(ids)
    mask[:2, :2] = mask[2, :4] = 0
    ids, mask = ids.to(model.device), mask.to(model.device)
    try:
        rest = model(**rest_of_rows(model, ids, mask, 6), use_cache=False).logits
    except accel.CANNOT:
        return False
    whole = model(input_ids=ids, attention_mask=mask, position_ids=positions(mask), use_cache=False).logits
    return accel.alike(rest, whole[:, 6:], model.dtype)
