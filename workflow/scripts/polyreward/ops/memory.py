"""What a model takes of a card, by its layers' sizes: weights, gradients, optimizer, activations and cache.

Bytes throughout. Activations are those of transformers' decoders; tests/unit/ops/test_memory.py compares them
with measured peaks."""

from dataclasses import dataclass

from polyreward.settings.base import GrpoTraining, Lora, Section
from polyreward.settings.transfer import RewardModelTraining

CONTEXT = 1e9  # bytes of CUDA's libraries and kernels
FRAGMENTS = 1.1  # PyTorch's allocator holds so many times the bytes of activations
# Bytes that a layer keeps of a token for the backward pass, per number of its width and of its MLP's.
WIDE, MLP = 37, 8
FLOAT32 = 1.6  # factor where nothing is cast to bfloat16
CHECKPOINT = 4  # bytes of a number with checkpointing, which keeps only a layer's input
# What one layer holds at once of a token, as above: in its backward pass, and in a pass that learns nothing
BACKWARD, READING = (5, 3), (12, 6)
# Tokens and words of a part of the vocabulary's logits, as TRL multiplies them (trl.kernels.chunked_logprob)
TILE = (4096, 32768)
EAGER = 8  # bytes of eager attention, per pair of tokens of a row and per head


@dataclass(frozen=True)
class Shape:
    """The sizes of a decoder, as `shape` in workflow/catalog/models.yaml has them."""

    layers: int
    width: int
    mlp: int
    heads: int
    kv_heads: int
    head_dim: int
    vocabulary: int

    @property
    def attention(self) -> tuple[int, int]:
        """Numbers of a token's queries, and of its keys."""
        return self.heads * self.head_dim, self.kv_heads * self.head_dim

    @property
    def layer(self) -> int:
        """Parameters of a layer."""
        queries, keys = self.attention
        return self.width * (2 * queries + 2 * keys + 3 * self.mlp)

    @property
    def parameters(self) -> int:
        """Parameters of all layers and of the token embedding."""
        return self.layers * self.layer + self.vocabulary * self.width

    def adapted(self, lora: Lora | None) -> int:
        """Layers that a gradient passes."""
        return min(self.layers, lora.top_layers) if lora else self.layers

    def adapters(self, lora: Lora) -> int:
        """Parameters of adapters on the top layers."""
        queries, keys = self.attention
        both_ends = 7 * self.width + 2 * queries + 2 * keys + 3 * self.mlp
        return self.adapted(lora) * lora.rank * both_ends

    def cache(self, tokens: int) -> int:
        """Bytes of the keys and values of so many tokens, in bfloat16."""
        return 4 * self.layers * self.attention[1] * tokens


def scoring_bytes(
    shape: Shape, parameters: float, tokens: int, size: int, cached: bool, eager: int = 0
) -> tuple[float, float]:
    """Return what a model takes that scores or writes: throughout, and what its largest batch adds.

    tokens: at once, of all rows together. size: bytes of a number. cached: does it keep keys and values, as
    writing does? eager: tokens of the longest row where attention is eager, else 0.
    """
    wide, in_mlp = READING
    work = tokens * (wide * shape.width + in_mlp * shape.mlp) * size / 2
    work += EAGER * shape.heads * tokens * eager + (shape.cache(tokens) if cached else 0)
    return CONTEXT + size * parameters, FRAGMENTS * work


def training_bytes(
    shape: Shape,
    parameters: float,
    settings: Section,
    rows: int,
    half: bool,
    shards: int = 1,
    reference: float = 0.0,
) -> tuple[float, float]:
    """Return what a training takes of each of its cards: throughout, and what its largest step adds.

    rows: that its forward pass has at once. half: does it compute in bfloat16? Trained weights are float32.
    shards: cards that the state is split over. reference: parameters of a frozen copy next to it.
    """
    lora, grpo = settings.lora, isinstance(settings, GrpoTraining)
    moments = 2 if "8bit" in getattr(settings, "optimizer", "") else 8
    states = (2 if half else 4) * reference
    if lora:  # training/grpo.py loads what adapters leave as it is in bfloat16
        states += (2 if grpo and half else 4) * parameters + (8 + moments) * shape.adapters(lora)
    else:
        states += (8 + moments) * parameters
    tokens = rows * (settings.max_length + (settings.max_new_tokens if grpo else 0))
    kept, work = _kept(shape, settings, half)
    vocabulary = 0.0
    if not isinstance(settings, RewardModelTraining):
        vocabulary = _vocabulary(shape, tokens, lora is None, half, shards)
    step = tokens * kept + max(tokens * work, vocabulary)
    if half and not (grpo and lora):  # autocast's copies of weights are kept until the backward pass
        step += 2 * shape.layer * (1 if settings.gradient_checkpointing else shape.adapted(lora))
    if grpo and not settings.vllm:  # all replies of an update are written at once, before it
        step = max(step, shape.cache(tokens * settings.gradient_accumulation))
    return CONTEXT + states / shards, FRAGMENTS * step


def _vocabulary(shape: Shape, tokens: float, whole: bool, half: bool, shards: int) -> float:
    """Return the bytes in which a policy's loss meets the vocabulary, a part at a time.

    whole: the output embedding is trained. Where weights are spread over cards, each gathers its gradient.
    """
    size, embedding = (2 if half else 4), 4 * shape.vocabulary * shape.width
    part = size * TILE[1] * min(tokens, TILE[0])
    if half:  # the part's own words are cast
        part += size * min(TILE[1], shape.vocabulary) * shape.width
    return part + embedding * (whole + (shards > 1))


def _kept(shape: Shape, settings: Section, half: bool) -> tuple[float, float]:
    """Return the bytes of a token's activations until the backward pass, and those of a layer's pass."""
    times = 1 if half else FLOAT32
    a_layer = times * (WIDE * shape.width + MLP * shape.mlp)
    in_backward = times * (BACKWARD[0] * shape.width + BACKWARD[1] * shape.mlp)
    if settings.gradient_checkpointing:
        return shape.layers * CHECKPOINT * shape.width, a_layer + in_backward
    return shape.adapted(settings.lora) * a_layer, in_backward


def gib(count: float) -> float:
    """Return bytes in GiB."""
    return count / 1024**3
