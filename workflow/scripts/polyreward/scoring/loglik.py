"""Log-likelihoods of answers under a causal LM."""

import dataclasses
from collections.abc import Iterable, Iterator

import torch
from torch.nn.functional import cross_entropy

from polyreward.accel.onednn import multiply_by_onednn
from polyreward.accel.trees import can_share, last_states
from polyreward.core.conversations import answer_start
from polyreward.core.logs import progress
from polyreward.models.batches import padded, token_budget_batches
from polyreward.scoring.tokens import TextModel, Tokenized, short_text

# States that meet the vocabulary at once, and how many words of it at a time. With fewer states its weights
# are read from memory too often (0.7 GB for Gemma). With more words the logits do not stay in the cache.
TOGETHER = 256
VOCABULARY_PART = 16384


@dataclasses.dataclass(frozen=True)
class CausalLM(TextModel):
    """plain_head: whether its logits are its output embedding of the last states; else all logits of a batch
    are computed."""

    plain_head: bool


@torch.inference_mode()
def answer_states(
    lm: CausalLM, texts: Tokenized, label: str
) -> Iterator[tuple[tuple[int, int], int, torch.Tensor]]:
    """Yield ((group, member), position of the answer's first token, last hidden states (tokens, d_model)) of
    each distinct text."""
    decoder, pad = lm.model.get_decoder(), lm.tokenizer.pad_token_id
    with progress(label, len(texts)) as report:
        found = last_states(decoder, texts.groups, pad, lm.token_budget, lm.share, report=report)
        for *place, states in found:
            yield tuple(place), _start(lm, texts, *place), states


@torch.inference_mode()
def answer_logliks(
    lm: CausalLM, texts: Tokenized, label: str
) -> Iterator[tuple[tuple[int, int], float, int]]:
    """Yield ((group, member), log-likelihood given the prompt (nats), tokens) of each distinct answer, in no
    set order."""
    if not lm.plain_head:
        yield from _by_model(lm, texts, label)
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
    """Yield the log-probabilities (nats, fp32, on the CPU) of tokens after states, in the order of `found`.

    found: (last hidden states (n, d_model), token ids after each (n; or n, k, of one k), what to yield
    with them). lm: of a plain head."""
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
    tokens = torch.cat([tokens if tokens.dim() == 2 else tokens[:, None] for _, tokens, _ in waiting]).to(
        states.device
    )
    total = torch.full((len(states),), -torch.inf, device=states.device)
    wanted = torch.zeros(tokens.shape, device=states.device)
    first = 0
    for part in parts:
        logits = capped(lm.model, part(states.to(part.weight.device))).to(states.device)
        total = torch.logaddexp(total, logits.logsumexp(dim=-1))
        places, size = tokens - first, logits.shape[1]
        wanted = torch.where(
            (places >= 0) & (places < size), logits.gather(1, places.clamp(0, size - 1)), wanted
        )
        first += size
    logprobs = (wanted - total[:, None]).cpu().split([len(states) for states, *_ in waiting])
    for of_one, (_, tokens, given) in zip(logprobs, waiting, strict=True):
        yield of_one.reshape(tokens.shape), given


def _head_parts(head: torch.nn.Module) -> list[torch.nn.Module]:
    """Return a linear output embedding in parts of the vocabulary, with the same weights in memory; any other
    whole."""
    if type(head) is not torch.nn.Linear:
        return [head]
    parts = []
    for start in range(0, head.out_features, VOCABULARY_PART):
        rows = slice(start, start + VOCABULARY_PART)
        part = torch.nn.Linear(
            head.in_features, len(head.weight[rows]), bias=head.bias is not None, device="meta"
        )
        part.weight = torch.nn.Parameter(head.weight[rows], requires_grad=False)
        if head.bias is not None:
            part.bias = torch.nn.Parameter(head.bias[rows], requires_grad=False)
        parts.append(multiply_by_onednn(part))
    return parts


def _by_model(lm: CausalLM, texts: Tokenized, label: str) -> Iterator[tuple]:
    places = texts.distinct
    sequences = [texts.groups[group][member] for group, member in places]
    with progress(label, len(texts)) as report:
        for batch in token_budget_batches(list(map(len, sequences)), lm.token_budget):
            inputs = padded([sequences[i] for i in batch], lm.tokenizer.pad_token_id, lm.model.device)
            for i, logits in zip(batch, lm.model(**inputs).logits, strict=True):
                start = _start(lm, texts, *places[i])
                answer = sequences[i][start:]
                before = logits[start - 1 : len(sequences[i]) - 1].float()
                targets = torch.tensor(answer, device=logits.device)
                total = -cross_entropy(before, targets, reduction="sum").item()
                yield places[i], total, len(answer)
            report(len(batch))


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


def capped(model, logits: torch.Tensor) -> torch.Tensor:
    """Return logits as the model would give them, soft-capped where its configuration says so."""
    softcap = getattr(model.config.get_text_config(), "final_logit_softcapping", None)
    return torch.tanh(logits.float() / softcap) * softcap if softcap else logits.float()


def _start(lm: CausalLM, texts: Tokenized, group: int, member: int) -> int:
    if (group, member) in texts.cut:
        return 1  # the prompt may be cut away whole: all that is left counts
    ids = texts.groups[group][member]
    return min(answer_start(lm.tokenizer, texts.prompts[group], ids), len(ids) - 1)
