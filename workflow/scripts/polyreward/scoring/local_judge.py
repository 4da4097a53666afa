"""A judge that is run here: a causal LM as the backend of a generative reward model."""

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np
import torch

from polyreward.accel.shared_prompts import Begun
from polyreward.accel.trees import last_states
from polyreward.core.conversations import Messages, as_turns, conversation_ids, rendered
from polyreward.core.errors import PolyrewardError
from polyreward.core.logs import progress
from polyreward.models.batches import batched_logits, left_padded, token_budget_batches
from polyreward.models.generation import ends_of, writes_by_graphs, written
from polyreward.scoring.generative import NEW_TOKENS, Judge
from polyreward.scoring.interface import Composite
from polyreward.scoring.load import causal_lm_of
from polyreward.scoring.loglik import CausalLM, token_logprobs
from polyreward.scoring.pair_question import PairJudge, judge_of


@dataclasses.dataclass(frozen=True)
class LocalBackend(Composite):
    """A causal LM as a backend. Requests are truncated on the left to lm.max_length. max_new_tokens: of a
    reply as text."""

    lm: CausalLM
    max_new_tokens: int

    def cut(self, requests: Sequence[Messages]) -> list[bool]:
        """Return which requests are longer than lm.max_length."""
        return cut_requests(self.lm.tokenizer, requests, self.lm.max_length)

    @torch.inference_mode()
    def label_logprobs(self, requests: Sequence[Messages], labels: Sequence[str], job: str) -> np.ndarray:
        """Return log-probabilities (nats) of the labels after the generation prompt (requests, labels)."""
        tokens = torch.tensor(label_tokens(self.lm.tokenizer, labels))
        found = np.empty((len(requests), len(labels)))
        sequences = kept_ids(self.lm.tokenizer, requests, self.lm.max_length)
        for index, logprobs in self._next_logprobs(sequences, tokens, job):
            found[index] = logprobs
        return found

    @torch.inference_mode()
    def replies(self, requests: Sequence[Messages], job: str) -> list[str]:
        """Return greedy replies."""
        sequences = kept_ids(self.lm.tokenizer, requests, self.lm.max_length)
        found = generated(self.lm, sequences, self.max_new_tokens, job)
        return self.lm.tokenizer.batch_decode(found, skip_special_tokens=True)

    def _next_logprobs(
        self, sequences: Sequence[list[int]], tokens: torch.Tensor, job: str
    ) -> Iterator[tuple[int, torch.Tensor]]:
        """Yield (index, log-probabilities (nats) of the tokens as the next one) of each sequence."""
        lm = self.lm
        if not lm.plain_head:
            pad = lm.tokenizer.pad_token_id
            found = batched_logits(lm.model, sequences, pad, lm.token_budget, lm.single_beyond)
            for index, logits in found:
                yield index, logits[len(sequences[index]) - 1].float().log_softmax(dim=-1)[tokens].cpu()
            return
        order = sorted(range(len(sequences)), key=sequences.__getitem__)  # what begins alike shares a row
        with progress(job, len(sequences)) as report:
            found = last_states(
                lm.model.get_decoder(),
                [[sequences[index]] for index in order],
                lm.tokenizer.pad_token_id,
                lm.token_budget,
                lm.share,
                report=report,
                single_beyond=lm.single_beyond,
            )
            ends = ((states[-1:], tokens[None], order[group]) for group, _, states in found)
            for logprobs, index in token_logprobs(lm, ends):
                yield index, logprobs[0]


def generated(lm: CausalLM, sequences: Sequence[list[int]], max_new_tokens: int, job: str) -> list[list[int]]:
    """Return the likeliest tokens that a model adds to each sequence, with the one that ends them."""
    found: list[list[int]] = [[] for _ in sequences]
    for batch, new, _ in generated_by_batch(lm, sequences, max_new_tokens, job):
        for i, tokens in zip(batch, new, strict=True):
            found[i] = tokens
    return found


def generated_by_batch(
    lm: CausalLM, sequences: Sequence[list[int]], max_new_tokens: int, job: str
) -> Iterator[tuple[list[int], list[list[int]], Begun | None]]:
    """Yield (indices of some sequences, what the model adds to each, what it has run of them).

    The last is None where it writes by graphs."""
    # What is masked may be any token; but finished replies are padded too, and an end token is not shown.
    pad = lm.tokenizer.eos_token_id if lm.tokenizer.pad_token_id is None else lm.tokenizer.pad_token_id
    ends = ends_of(lm.model.generation_config, lm.tokenizer)
    settings = {"do_sample": False, "num_beams": 1, "repetition_penalty": 1.0}
    graphs = writes_by_graphs(lm.model)
    with progress(job, len(sequences)) as report:
        lengths = [len(ids) + max_new_tokens for ids in sequences]
        for batch in token_budget_batches(lengths, lm.token_budget, lm.single_beyond):
            prompts = [sequences[i] for i in batch]
            if graphs:
                new, begun = written(lm.model, prompts, pad, max_new_tokens, **settings).tolist(), None
            else:
                new, begun = _written_and_kept(lm, prompts, pad, max_new_tokens, settings)
            stops = [
                next((place for place, token in enumerate(row, 1) if token in ends), len(row)) for row in new
            ]
            added = [row[:stop] for row, stop in zip(new, stops, strict=True)]
            yield batch, added, begun
            report(len(batch))


@torch.inference_mode()
def _written_and_kept(
    lm: CausalLM, prompts: list[list[int]], pad: int, max_new_tokens: int, settings: dict
) -> tuple[list[list[int]], Begun]:
    """Return what a model adds to each prompt, and what it has run of them."""
    inputs = left_padded(prompts, pad, lm.model.device)
    more = {"pad_token_id": pad, "return_dict_in_generate": True}
    said = lm.model.generate(**inputs, max_new_tokens=max_new_tokens, **settings, **more)
    new = said.sequences[:, inputs["input_ids"].shape[1] :].tolist()
    return new, Begun(inputs["attention_mask"], said.past_key_values)


def label_tokens(tokenizer, labels: Sequence[str]) -> list[int]:
    """Return the token that begins each label in an answer, as the chat template sets it.

    Where the template opens an answer in another way, it is the first token of the label by itself. Raises
    PolyrewardError where two labels begin with the same token."""
    start = request_ids(tokenizer, as_turns("?"))
    answered = [conversation_ids(tokenizer, "?", label, len(start) + 99)[0] for label in labels]
    tokens = [ids[len(start)] for ids in answered if ids[: len(start)] == start]
    if len(set(tokens)) < len(labels):
        tokens = [tokenizer.encode(label, add_special_tokens=False)[0] for label in labels]
    if len(set(tokens)) < len(labels):
        raise PolyrewardError(
            f"judge: of the labels {', '.join(labels)} two begin with the same token; set verdict: text"
        )
    return tokens


def request_ids(tokenizer, request: Messages) -> list[int]:
    """Tokenise a request with the tokenizer's own chat template, up to where the reply begins."""
    return rendered(tokenizer, request, add_generation_prompt=True)


def kept_ids(tokenizer, requests: Sequence[Messages], max_length: int) -> list[list[int]]:
    """Return the tokens of each request, truncated on the left to max_length."""
    return [request_ids(tokenizer, request)[-max_length:] for request in requests]


def cut_requests(tokenizer, requests: Sequence[Messages], max_length: int) -> list[bool]:
    """Return which requests have more than max_length tokens."""
    return [len(request_ids(tokenizer, request)) > max_length for request in requests]


def load_judge(entry: dict, scoring: dict, cache) -> Judge | PairJudge:
    """Load a judge that is run here; arguments as in load_reward_model."""
    new_tokens = entry.get("max_new_tokens", NEW_TOKENS)
    return judge_of(entry, LocalBackend(causal_lm_of(entry, scoring), new_tokens))
