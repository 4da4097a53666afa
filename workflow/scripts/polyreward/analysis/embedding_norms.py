"""Norms of the token embeddings of each language, among all tokens and at matched frequency.

Source: arXiv 2410.18027, Figure 2 (all tokens). The matched comparison is ours: rare tokens have other norms
than frequent ones in any language, and what few tokens a tokenizer has for one language may all be rare."""

import heapq
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import ks_2samp

from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.core.seals import intact

NORM_COLUMNS = ["base_model", "panel", "eval_language", "side", "token_id", "norm"]
KS_COLUMNS = [
    *("base_model", "panel", "eval_language", "n_language", "n_source"),
    *("median_norm_language", "median_norm_source", "median_id_language", "median_id_source"),
    *("ks", "p_value", "constant_norms", "vocabulary_norm_mean", "vocabulary_norm_sd"),
]
MAX_RANK_RATIO = 1.25  # of a pair of tokens at matched frequency
TEXTS_AT_A_TIME = 1000  # that are tokenised, so that few of their tokens are in memory
CONSTANT_BELOW = 0.01  # relative standard deviation of a vocabulary's norms


def token_sets(tokenizer, texts: Mapping[str, Sequence[str]], share: float = 1.0) -> dict[str, list[int]]:
    """Return {language: sorted token ids} that have that share or more of their uses in the language's texts.

    share: above 0.5, so that no token is of two languages; uses are counted as if each language had as many
    tokens."""
    if not 0.5 < share <= 1:
        raise ValueError(f"share {share}: above 0.5 and at most 1, so that sets are disjoint")
    used = {language: _uses_of(tokenizer, list(of)) for language, of in texts.items()}
    rates = {
        language: {token: count / counts.total() for token, count in counts.items()}
        for language, counts in used.items()
    }
    everywhere: Counter[int] = Counter()
    for of_language in rates.values():
        everywhere.update(of_language)
    sets = {
        language: sorted(token for token, rate in of_language.items() if rate >= share * everywhere[token])
        for language, of_language in rates.items()
    }
    problems = [
        f"`{language}` ({len(texts[language])} texts, {len(used[language])} tokens) has no token of its own"
        f" (token_share {share:g}). Add more text in this language, or remove it from target_languages"
        for language, tokens in sets.items()
        if not tokens
    ]
    raise_all(problems, "token sets")
    return sets


def _uses_of(tokenizer, texts: list[str]) -> Counter[int]:
    uses: Counter[int] = Counter()
    for start in range(0, len(texts), TEXTS_AT_A_TIME):
        for ids in tokenizer(texts[start : start + TEXTS_AT_A_TIME], add_special_tokens=False)["input_ids"]:
            uses.update(ids)
    return uses


def matched(
    tokens: Sequence[int], pool: Sequence[int], max_ratio: float = MAX_RANK_RATIO
) -> list[tuple[int, int]]:
    """Pair tokens of a language with different tokens of the source language's set at the nearest rank,
    sorted.

    The rank (token id + 1) is a proxy for frequency: BPE merges frequent pieces first, and frequency falls
    about as 1 / rank. Nearness is the ratio of two ranks. Greedy without replacement, the nearest pair first;
    a token without a match within max_ratio is left out."""
    free = sorted(pool)
    queue = [(*_nearest(token, free), token) for token in tokens] if free else []
    heapq.heapify(queue)
    pairs = []
    while queue and free and queue[0][0] <= max_ratio:
        _, candidate, token = heapq.heappop(queue)
        place = bisect_left(free, candidate)
        if place < len(free) and free[place] == candidate:
            pairs.append((token, free.pop(place)))
        else:  # taken meanwhile: the nearest that is left is farther away
            heapq.heappush(queue, (*_nearest(token, free), token))
    return sorted(pairs)


def _nearest(token: int, free: Sequence[int]) -> tuple[float, int]:
    place = bisect_left(free, token)
    near = free[max(place - 1, 0) : place + 1]
    return min(((max(token, other) + 1) / (min(token, other) + 1), other) for other in near)


def norm_table(norms: np.ndarray, sets: Mapping[str, Sequence[int]], source: str) -> pd.DataFrame:
    """Return a row for each token to plot: panel ("all" or "matched"), eval_language, side, token_id, norm.

    norms: of the whole vocabulary. A matched panel has both sides of each language's pairs."""
    parts = []
    for language, tokens in sets.items():
        parts.append(("all", language, "source" if language == source else "language", tokens))
        if language != source:
            pairs = matched(tokens, sets[source])
            parts.append(("matched", language, "language", [token for token, _ in pairs]))
            parts.append(("matched", language, "source", [match for _, match in pairs]))
    records = [
        (panel, language, side, token, norms[token]) for panel, language, side, ids in parts for token in ids
    ]
    table = pd.DataFrame(records, columns=NORM_COLUMNS[1:])
    bad = table.loc[~np.isfinite(table["norm"]), "token_id"].unique()
    if len(bad):
        raise PolyrewardError(
            f"token embedding: {len(bad)} rows are not finite, as row {bad[0]}; the model's file is damaged"
        )
    return table


def ks_table(table: pd.DataFrame, source: str) -> pd.DataFrame:
    """Return how far each language's norms lie from the source language's, a row for each panel and language.

    ks: the two-sample Kolmogorov-Smirnov statistic; nan where nothing was matched. p_value takes tokens for
    independent draws, which they are not. median_id_*: median ranks, equal where matching worked."""
    sets = dict(iter(table.groupby(["panel", "eval_language", "side"])))
    records = []
    for panel in ("all", "matched"):
        for language in table.loc[table["eval_language"] != source, "eval_language"].unique():
            own = sets.get((panel, language, "language"), table[:0])
            other = sets.get((panel, source if panel == "all" else language, "source"), table[:0])
            test = ks_2samp(own["norm"], other["norm"]) if len(own) and len(other) else None
            records.append(
                {
                    "panel": panel,
                    "eval_language": language,
                    "n_language": len(own),
                    "n_source": len(other),
                    "median_norm_language": own["norm"].median(),
                    "median_norm_source": other["norm"].median(),
                    "median_id_language": own["token_id"].median(),
                    "median_id_source": other["token_id"].median(),
                    "ks": test.statistic if test else np.nan,
                    "p_value": test.pvalue if test else np.nan,
                }
            )
    return pd.DataFrame(records)


def is_constant(norms: np.ndarray) -> bool:
    """Return whether a whole vocabulary's norms are alike; likeness across languages then says nothing."""
    return bool(norms.std() < CONSTANT_BELOW * norms.mean())


def base_norms(
    base_folder: str | Path, texts: Mapping[str, Sequence[str]], source: str, share: float
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the norm table (NORM_COLUMNS) and KS table (KS_COLUMNS) of a causal language model's folder.

    texts, share: as in token_sets."""
    import torch  # imported here, since the figure needs this module's columns only
    from transformers import AutoModelForCausalLM, AutoTokenizer

    name = Path(base_folder).name
    model = AutoModelForCausalLM.from_pretrained(intact(base_folder), dtype=torch.float32)
    weights = model.get_input_embeddings().weight.detach().numpy()
    del model  # its other weights, together with a vocabulary in fp64, take more than the rule asks for
    norms = np.concatenate(
        [np.linalg.norm(part.astype(np.float64), axis=1) for part in np.array_split(weights, 64)]
    )
    table = norm_table(norms, token_sets(AutoTokenizer.from_pretrained(base_folder), texts, share), source)
    tests = ks_table(table, source).assign(
        constant_norms=is_constant(norms), vocabulary_norm_mean=norms.mean(), vocabulary_norm_sd=norms.std()
    )
    return table.assign(base_model=name)[NORM_COLUMNS], tests.assign(base_model=name)[KS_COLUMNS]
