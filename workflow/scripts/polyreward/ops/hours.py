"""Estimate a job's hours on a card from what it reads and writes, where none of its rule has run yet.

Sizes of sets are those that their authors state. Lengths are guesses until a scale's own data and tokenizers
are there. No estimate was compared with a run on a card."""

import json
from collections.abc import Callable, Mapping
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from tokenizers import Tokenizer

from polyreward.config.scale import Scale
from polyreward.ops.memory import Shape
from polyreward.ops.resources import Job, parameters_b, shape_of
from polyreward.settings.base import Lora, Section

START_S = 25  # a job's seconds to import torch and transformers, and to load a small model
PADDING = 1.8  # padded tokens per token: a trainer's batches are not sorted by length
ADAPTERS = 1.3  # factor of time with adapters, whose small multiplications come in between
# Without gpu-check: tokens/s of a billion parameters, in training and scoring, and ms of a layer to write one
# more token. By data sheets, of which a third is reached: of cards of up to 48 GB (an A10), and larger ones
DATA_SHEETS = {
    "small": {"train": 7_000.0, "score": 25_000.0, "layer_step_ms": 1.0},
    "large": {"train": 17_000.0, "score": 60_000.0, "layer_step_ms": 1.0},
}
SMALL_GIB = 48
# Rows of published sets; of what is not here, scale mini's few
ROWS = {"mp-86k": 86_000, "rewardbench": 2_985, "multilingual-rewardbench": 2_870, "belebele": 488}
ROWS |= {"x-alpacaeval": 805, "ultrafeedback": 60_000}
FEW = 150
ITEMS = 27  # of a culture and domain, where all are taken
# Tokens of a conversation, an instruction, a passage, an item's prompt with an answer, a judge's question
CONVERSATION, INSTRUCTION, PASSAGE, ITEM, QUESTION = 420, 40, 150, 90, 900
SENTENCE = 25
LONGER = {"en": 1.0, "es": 1.3, "it": 1.35, "ko": 1.7, "zh": 1.25}  # times the tokens of English
LONGER_ELSE = 1.4
SAMPLE = 200  # rows that are tokenized


def card_speeds(gpu_gib: float, measured: Mapping[str, float]) -> dict[str, float]:
    """Return a card's speeds: what gpu-check measured, else the data sheet's."""
    return {**DATA_SHEETS["small" if gpu_gib <= SMALL_GIB else "large"], **measured}


class Work(NamedTuple):
    """What a job does: tokens that it reads, steps of writing, and tokens that it learns from."""

    reads: float = 0.0
    writes: float = 0.0
    learns: float = 0.0


class Estimate:
    """Hours of a scale's jobs."""

    def __init__(self, scale: Scale, root: Path, speeds: Mapping[str, float]):
        """Take the scale, the project's folder, and a card's speeds as card_speeds returns them."""
        self.scale, self.settings, self.root, self.speeds = scale, scale.settings, root, speeds
        self.lengths: dict[tuple[str, str, str], float] = {}

    def seconds(self, job: Job) -> float:
        """Return how long a job takes; 0 for one without a model, which a card does not wait for."""
        entries, model = job.on_card, job.model
        if not entries:
            return 0.0
        if job.rule not in self.rules:
            return START_S
        largest = max(entries, key=lambda one: parameters_b(one, model.known))
        shape, billions = shape_of(largest, model.known), parameters_b(largest, model.known)
        found = self.rules[job.rule]
        work = found(job.wildcards) if callable(found) else found
        writing = work.writes * shape.layers * self.speeds["layer_step_ms"] / 1e3
        reading = billions * work.reads / self.speeds["score"]
        learning = billions * work.learns * self._learning(shape, model.training) / self.speeds["train"]
        return START_S + writing + (reading + learning) / model.processes

    @staticmethod
    def _learning(shape: Shape, training: Section | None) -> float:
        """Return the multiplications of training, times those of all weights without checkpoints."""
        if training is None:
            return 0.0
        lora: Lora | None = training.lora
        again = 2 if training.gradient_checkpointing else 0
        if lora is None:
            return (6 + again) / 6
        share = 1.0 if again else shape.adapted(lora) / shape.layers
        return ADAPTERS * (2 + again + 2 * share) / 6

    def length(self, base: str, language: str, rowset: str = "train") -> float:
        """Return the tokens of a set's conversation, by the tokenizer on its rows where both are there."""
        key = base, language, rowset
        if key not in self.lengths:
            known = base in self.scale.known.models
            folder = self.root / self.scale.base_folder(base) if known else self.root
            tokenizer, rows = (
                folder / "tokenizer.json",
                self.root / self.scale.paths.translated(rowset, language),
            )
            found = known and tokenizer.is_file() and rows.is_file()
            guess = CONVERSATION * LONGER.get(language, LONGER_ELSE)
            self.lengths[key] = _measured_length(tokenizer, rows) if found else guess
        return self.lengths[key]

    @property
    def pairs(self) -> float:
        """The pairs of the train set."""
        pool = self.settings.pool
        return sum(pool.max_pairs.get(name, ROWS.get(name, FEW)) for name in pool.datasets)

    def rows(self, benchmark: str) -> float:
        """Return the pairs of a benchmark that are drawn."""
        facts = self.scale.known.benchmarks.get(benchmark, {})
        drawn = getattr(self.settings.templates_per_section, self.scale.use_of(benchmark), None)
        whole = ROWS.get(benchmark, FEW)
        return min(whole, drawn * len(facts.get("sections", ())) if drawn else whole)

    @property
    def items(self) -> float:
        """CARB's items."""
        carb = self.settings.carb
        return len(carb.cultures) * len(carb.domains) * (carb.items_per_cell or ITEMS)

    @property
    def instructions(self) -> float:
        """Figure 3's instructions in one language."""
        whole = ROWS.get(self.settings.alignment.instructions, FEW)
        return min(whole, self.settings.alignment.max_instructions or whole)

    def _scored(self, base: str, benchmark: str, languages, models: float = 1) -> Work:
        length = sum(self.length(base, language, benchmark) for language in languages)
        return Work(reads=2 * models * self.rows(benchmark) * length)

    def _translated(self, texts: float, length: float) -> Work:
        named = self.settings.translation.engine
        name = named if isinstance(named, str) else next(iter(named.values()))
        engine = self.settings.translation.engines[name]
        if engine.kind == "gettext":
            return Work()
        at_once, longest = (SENTENCE, 2 * SENTENCE) if engine.unit == "sentence" else (length, 1.5 * length)
        return Work(texts * length, _steps(texts * length / at_once, engine.batch_size, longest))

    def _sampled(self, replies: float) -> Work:
        sampling = self.settings.alignment.sampling
        return Work(writes=_steps(replies, sampling.batch_size, sampling.max_new_tokens))

    def _judged(self, replies: float) -> Work:
        judges = self.settings.think_as_locals
        at_once = judges.judge_token_budget / (QUESTION + judges.judge.max_new_tokens)
        return Work(replies * QUESTION, _steps(replies, at_once, judges.judge.max_new_tokens))

    @staticmethod
    def _by_grpo(grpo, passes: float) -> Work:
        """Return the work of a training by GRPO; passes: over all replies, that learn nothing."""
        replies = grpo.steps * grpo.batch_size * grpo.gradient_accumulation
        tokens = replies * (0.5 * grpo.max_length + grpo.max_new_tokens)
        written = 0.0 if grpo.vllm else grpo.steps / grpo.iterations * grpo.max_new_tokens
        return Work(passes * tokens, written, tokens)

    @cached_property
    def rules(self) -> dict[str, Work | Callable[..., Work]]:
        """{rule: the work of each of its jobs, or a function from a job's wildcards to it}."""
        settings, languages = self.settings, self.scale.languages
        main, source = settings.benchmarks.main, settings.source_language
        alignment, judges, carb = settings.alignment, settings.think_as_locals, settings.carb
        of_judges, first = judges.evaluation, (*settings.bases, "?")[0]
        subsets = sum(map(len, self.scale.known.benchmarks[main]["sections"].values()))
        cells, judged_cells = (len(carb.domains) * len(of) for of in (carb.cultures, of_judges.cultures))
        rewrites = carb.perturbation.items_per_cell or ITEMS
        of_set = 60 if carb.questions_per_culture is None else carb.questions_per_culture * len(carb.cultures)
        questions = of_set * len(carb.questions)
        candidates = questions * carb.candidates.per_question * len(carb.policies)
        answers = 3 * alignment.runs * self.instructions
        judged = of_judges.cultures if of_judges.benchmark else languages
        judged_rows = self.rows(of_judges.benchmark or main)
        asked = 2 * (
            len(judged) * min(subsets * (of_judges.rows_per_subset or 10**9), judged_rows)
            + 3 * judged_cells * (of_judges.items_per_cell or ITEMS)
        )
        pairs = {"train": self.pairs, "prompts": alignment.prompts / 3, "dev": FEW, "judge": FEW}
        writer = settings.scoring.token_budget / (INSTRUCTION + alignment.sampling.max_new_tokens)

        def benchmark(wc) -> str:
            return wc.get("benchmark") or main

        def every_language(wc) -> Work:
            return self._scored(first, benchmark(wc), languages)

        def trained(wc) -> Work:
            base, _, language = wc.model.rpartition("_")
            conversations = 2 * self.pairs * settings.reward_model.epochs
            return Work(learns=conversations * PADDING * self.length(base, language))

        def probed(wc) -> Work:
            rows = min(self.pairs, settings.probe_pairs or self.pairs) + self.rows(main)
            return Work(2 * rows * sum(self.length(wc.base, language) for language in languages))

        def translated(wc) -> Work:
            return self._translated(3 * (pairs.get(wc.rowset) or self.rows(wc.rowset)), CONVERSATION / 2)

        passages, warmup = ROWS.get(settings.passages, FEW), judges.warmup
        preferred = 2 * alignment.prompts * CONVERSATION * PADDING
        responses = alignment.prompts * alignment.responses
        of_items = Work(16 * self.items * ITEM)
        of_candidates = Work(candidates * (ITEM + carb.candidates.max_new_tokens))
        written = Work(writes=len(carb.generators) * _steps(self.items, 32, 128))
        greedy = Work(writes=_steps(questions, 64, carb.candidates.max_new_tokens))
        consistent = len(carb.cultures) * (carb.consistency.items_per_cell or ITEMS)
        references = _steps(self.instructions, writer, alignment.sampling.max_new_tokens)
        return {
            "reward_model": trained,
            "judge_reward_model": trained,
            "reward_scores": lambda wc: self._scored(wc.base, benchmark(wc), [wc.language], 2),
            "source_reward_scores": lambda wc: self._scored(wc.base, benchmark(wc), [source]),
            "cross_reward_scores": lambda wc: self._scored(wc.base, main, languages, len(languages) - 1),
            "catalogued_reward_scores": every_language,
            "base_loglik_scores": every_language,
            "base_pmi_scores": every_language,
            "anchor_scores": lambda wc: self._scored(first, wc.benchmark, [wc.language]),
            "base_probe_scores": probed,
            "passage_states": Work(passages * len(languages) * (1 + len(languages)) * PASSAGE),
            "translated_rows": translated,
            "translated_passages": self._translated(passages, PASSAGE),
            "translated_instructions": self._translated(self.instructions, INSTRUCTION),
            "engine_sample": self._translated(settings.translation.quality_rows, PASSAGE),
            "sampled_responses": self._sampled(responses),
            "policy_answers": self._sampled(answers),
            "labelled_pairs": Work(2 * responses * CONVERSATION),
            "dpo_policy": Work(reads=preferred, learns=preferred),
            "reference_answers": Work(writes=references),
            "judgements": Work(2 * (answers + 2 * FEW) * QUESTION),
            "locals_warmup": lambda wc: Work(learns=2 * warmup.pairs * warmup.epochs * QUESTION * PADDING),
            "locals_grpo": self._by_grpo(judges.grpo, 4),
            "grpo_policy": lambda wc: self._by_grpo(carb.grpo, 3),
            "locals_scores": self._judged(asked),
            "locals_held_out": self._judged(2 * judges.held_out),
            "locals_perturbed_scores": self._judged(14 * judged_cells * rewrites),
            "carb_scores": of_items,
            "carb_judge_scores": of_items,
            "carb_perturbed_scores": Work(2 * cells * (7 * rewrites + consistent) * ITEM),
            "carb_completions": written,
            "carb_paraphrases": written,
            "carb_similarities": Work(12 * self.items * ITEM),
            "candidates": Work(writes=questions * carb.candidates.max_new_tokens),
            "grpo_answers": greedy,
            "grpo_start_answers": greedy,
            "candidate_scores": of_candidates,
            "candidate_judge_scores": of_candidates,
        }


def _steps(replies: float, at_once: float, tokens: float) -> float:
    """Return the steps of writing replies in batches: a step writes one token of each."""
    return max(1.0, replies / at_once) * tokens


def _measured_length(tokenizer: Path, rows: Path) -> float:
    read = Tokenizer.from_file(str(tokenizer))
    with rows.open(encoding="utf-8") as lines:
        texts = [json.loads(line) for line in islice(lines, SAMPLE)]
    said = [f"{row['prompt']}\n{row[role]}" for row in texts for role in ("chosen", "rejected")]
    return sum(len(found.ids) for found in read.encode_batch(said)) / max(len(said), 1)
