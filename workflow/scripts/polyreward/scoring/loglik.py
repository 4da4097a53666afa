"""Log-likelihoods of answers under a causal LM."""

import dataclasses
from collections.abc import Iterable, Iterator

import torch
from torch.nn.functional import cross_entropy

from polyreward.accel.onednn import multiply_by_onednn
from polyreward.accel.trees import can_share, last_states
from polyreward.core.conversations import answer_start
from polyreward.core.logs import progress
from polyreward.models.batches import batched_logits
from polyreward.scoring.tokens import TextModel, Tokenized, short_text

# States that meet the vocabulary at once, and how many words of it at a time. With fewer states its weights
# are read from memory too often (0.7 GB for Gemma). With more words the logits do not stay in the cache.
TOGETHER = 256
VOCABULARY_PART = 16384


@dataclasses.dataclass(frozen=True)
class CausalLM(TextModel):
    """plain_head: whether its logits are its output embedding of the last states; else it is run whole."""

    plain_head: bool


@torch.inference_mode()
def causal_lm(model: torch.nn.Module, tokenizer, max_length: int, token_budget: int) -> CausalLM:
    """Find out how a causal LM can be run, by asking the model itself on a short text."""
    decoder, head = model.get_decoder(), model.get_output_embeddings()
    if decoder is None or decoder is model or head is None:
        return CausalLM(model, tokenizer, max_length, token_budget, False, False)
    inputs = short_text(model)
    states = decoder(**inputs, use_cache=False).last_hidden_state[0]
    logits = model(**inputs).logits[0].float()
    # Of a model over several cards the last states are on another one than its logits.
    plain = torch.allclose(capped(model, head(states)).to(logits.device), logits, atol=1e-2, rtol=1e-2)
    share = plain and can_share(decoder)
    return CausalLM(model, tokenizer, max_length, token_budget, share, plain)


@torch.inference_mode()
def answer_states(
    lm: CausalLM, texts: Tokenized, label: str
) -> Iterator[tuple[tuple[int, int], int, torch.Tensor]]:
    """Yield ((group, member), position of the answer's first token, last hidden states (tokens, d_model)) of
    each distinct text."""
    decoder, pad = lm.model.get_decoder(), lm.tokenizer.pad_token_id
    with progress(label, len(texts)) as report:
        found = last_states(
            decoder,
            texts.groups,
            pad,
            lm.token_budget,
            lm.share,
            report=report,
            single_beyond=lm.single_beyond,
        )
        for *place, states in found:
            yield tuple(place), _start(lm, texts, *place), states


@torch.inference_mode()
def answer_logliks(
    lm: CausalLM, texts: Tokenized, label: str
) -> Iterator[tuple[tuple[int, int], float, int]]:
    """Yield ((group, member), log-likelihood given the prompt (nats), tokens) of each distinct answer, in no
    set order."""
    if not lm.plain_head:
        sequences = [texts.groups[group][member] for group, member in texts.distinct]
        pad = lm.tokenizer.pad_token_id
        for i, logits in batched_logits(lm.model, sequences, pad, lm.token_budget, lm.single_beyond):
            start = _start(lm, texts, *texts.distinct[i])
            targets = torch.tensor(sequences[i][start:], device=logits.device)
            before = logits[start - 1 : len(sequences[i]) - 1].float()
            yield texts.distinct[i], -cross_entropy(before, targets, reduction="sum").item(), len(targets)
        return

    def found() -> Iterator[tuple]:
        for place, start, states in answer_states(lm, texts, label):
            group, member = place
            answer = torch.tensor(texts.groups[group][member][start:], dtype=torch.long)
            yield states[start - 1 : -1], answer, place  # only its positions meet the vocabulary

    for logprobs, place in token_logprobs(lm, found()):
        yield place, logprobs.sum().item(), len(logprobs)


@torch.inference_mode()
def token_logprobs(
    lm: CausalLM, found: Iterable[tuple[torch.Tensor, torch.Tensor, object]]
) -> Iterator[tuple[torch.Tensor, object]]:
    """Yield the log-probabilities (nats, fp32, on the CPU) of tokens after states, in the order of
    `found`.

    found: (last hidden states (n, d_model), token ids after each (n; or n, k), what to yield with them)."""
    parts = _head_parts(lm.model.get_output_embeddings())
    waiting: list[tuple] = []
    for one in found:
        waiting.append(one)
        if sum(len(states) for states, *_ in waiting) >= TOGETHER:
            yield from _logprobs(lm, parts, waiting)
            waiting = []
    if waiting:
        yield from _logprobs(lm, parts, waiting)


def _logprobs(
    lm: CausalLM, parts: list[torch.nn.Module], waiting: list[tuple]
) -> Iterator[tuple[torch.Tensor, object]]:
    states = torch.cat([states for states, *_ in waiting])
    device = states.device
    tokens = torch.cat([tokens if tokens.dim() == 2 else tokens[:, None] for _, tokens, _ in waiting]).to(
        device
    )
    total = torch.full((len(states),), -torch.inf, device=device)
    wanted = torch.zeros(tokens.shape, device=device)
    first = 0
    for part in parts:
        logits = capped(lm.model, part(states.to(part.weight.device))).to(device)
        total = torch.logaddexp(total, logits.logsumexp(dim=-1))
        places, size = tokens - first, logits.shape[1]
        here = (places >= 0) & (places < size)
        wanted = torch.where(here, logits.gather(1, places.clamp(0, size - 1)), wanted)
        first += size
    logprobs = (wanted - total[:, None]).cpu().split([len(states) for states, *_ in waiting])
    for of_one, (_, tokens, given) in zip(logprobs, waiting, strict=True):
        yield of_one.reshape(tokens.shape), given


def _head_parts(head: torch.nn.Module) -> list[torch.nn.Module]:
    """Return a linear output embedding in parts of the vocabulary, without a copy; any other whole."""
    if type(head) is not torch.nn.Linear:
        return [head]
    parts = []
    for start in range(0, head.out_features, VOCABULARY_PART):
        weight = head.weight[start : start + VOCABULARY_PART]
        part = torch.nn.Linear(head.in_features, len(weight), bias=head.bias is not None, device="meta")
        part.weight = torch.nn.Parameter(weight, requires_grad=False)
        if head.bias is not None:
            bias = head.bias[start : start + VOCABULARY_PART]
            part.bias = torch.nn.Parameter(bias, requires_grad=False)
        parts.append(multiply_by_onednn(part))
    return parts


def capped(model, logits: torch.Tensor) -> torch.Tensor:
    """Return logits as the model would give them, soft-capped where its configuration says so."""
    softcap = getattr(model.config.get_text_config(), "final_logit_softcapping", None)
    return torch.tanh(logits.float() / softcap) * softcap if softcap else logits.float()


def _start(lm: CausalLM, texts: Tokenized, group: int, member: int) -> int:
    if (group, member) in texts.cut:
        return 1  # the prompt may be cut away whole: all that is left counts
    ids = texts.groups[group][member]
    return min(answer_start(lm.tokenizer, texts.prompts[group], ids), len(ids) - 1)
