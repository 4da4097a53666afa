"""What a job reads, writes and learns from: tokens and steps, counted before anything runs.

Sizes of sets are those that their authors state, and lengths of texts are guesses. Times come from measured
speeds only (ops/planning.py)."""

from dataclasses import dataclass
from math import inf
from pathlib import Path

from polyreward.core.kinds import REWARD_KINDS
from polyreward.ops.resources import Job
from polyreward.sheet.data import carb_parts, drawn_share, quartet_choices
from polyreward.sheet.engines import engine_of
from polyreward.sheet.entries import Models

PADDING = 1.8  # padded tokens per token: a trainer's batches are not sorted by length
# Rows of published sets; of what is not here, scale mini's few
ROWS = {"mp-86k": 86_000, "rewardbench": 2_985, "multilingual-rewardbench": 2_870, "x-alpacaeval": 805}
FEW = 150
ITEMS, QUESTIONS = 27, 60  # of a culture and domain, and of a CARB set, where all are taken
ASKED, BOOKS = 20, 3  # answers of a place quartet, to its five questions; kinds of open books
ASKED_ONCE = ("judgements", "locals_scores", "locals_perturbed_scores", "locals_held_out")
# Tokens of a conversation, an item's prompt with an answer, a judge's question
CONVERSATION, ITEM, QUESTION = 420, 90, 900
TRANSLATED = 1.4  # times the tokens of English: 1.3 in Spanish, 1.7 in Korean


@dataclass(frozen=True)
class Work:
    """What a job does. reads, learns: tokens that pass through the model, forward only or trained on.

    steps: of writing, each of one token for every text of a batch. requests: that a judge answers. updates:
    of GRPO."""

    reads: float = 0.0
    learns: float = 0.0
    steps: float = 0.0
    requests: float = 0.0
    updates: int = 0


class Counts:
    """Counts the work of a scale's jobs. root: of the project, whose folders of topics are counted."""

    def __init__(self, models: Models, root: Path):
        self.models, self.settings, self.root = models, models.settings, root

    def work(self, job: Job) -> Work:
        """Return what a job does; nothing for one without a model on a card."""
        if not job.on_card:
            return Work()
        reads, steps, learns = self._work(job.rule, job.wildcards)
        judges = [one for one in job.on_card if one.get("kind") == "generative"]
        requests = self.requests(job, any("question" in one for one in judges)) if judges else 0.0
        return Work(
            reads, learns, steps, requests, job.model.training.steps if job.model.kind == "grpo" else 0
        )

    def _work(self, rule: str, wildcards) -> tuple[float, float, float]:
        """Return the tokens that a job reads, its steps of writing, and the tokens that it learns from.

        A step writes one token of each text of a batch. All are 0 for a rule that is not here: not counted.
        """
        settings, languages = self.settings, self.settings.languages
        alignment, judges, carb = settings.alignment, settings.think_as_locals, settings.carb
        benchmark = getattr(wildcards, "benchmark", settings.benchmarks.main)
        pairs = sum(settings.pool.max_pairs.get(one, ROWS.get(one, FEW)) for one in settings.pool.datasets)
        responses, sampling = alignment.prompts * alignment.responses, alignment.sampling
        instructions = min(ROWS.get(alignment.instructions, FEW), alignment.max_instructions or inf)
        answers, preferred = 3 * alignment.runs * instructions, 2 * alignment.prompts * CONVERSATION * PADDING
        in_set = (carb.questions_per_culture or 0) * len(carb.cultures) or QUESTIONS
        questions, longest = in_set * len(carb.questions), carb.candidates.max_new_tokens
        cells = len(carb.domains) * len(carb.cultures)
        items, rewrites = cells * (carb.items_per_cell or ITEMS), carb.perturbation.items_per_cell or ITEMS
        reads = steps = learns = 0.0
        match rule:
            case "reward_model" | "judge_reward_model":
                tokens = self._tokens(wildcards.model.rpartition("_")[2])
                learns = 2 * pairs * settings.reward_model.epochs * PADDING * tokens
            case "reward_scores" | "single_scores":  # the first also with the source's reward model
                reads = (2 if rule == "reward_scores" else 1) * self._scored(benchmark, wildcards.language)
            case "cross_reward_scores":
                reads = (len(languages) - 1) * self._scored(benchmark, *languages)
            case "ready_made_scores" | "base_likelihood_scores":  # the second with and without the request
                reads = (1 if rule == "ready_made_scores" else 2) * self._scored(benchmark, *languages)
            case "base_probe_scores":
                rows = min(pairs, settings.probe_pairs or inf) + self._rows(benchmark)
                reads = 2 * rows * self._tokens(*languages)
            case "translated_rows":
                sets = {"train": pairs, "prompts": alignment.prompts / 3, "dev": FEW, "judge": FEW}
                reads = 1.5 * (sets.get(wildcards.rowset) or self._rows(wildcards.rowset)) * CONVERSATION
                engine = engine_of(self.models, wildcards.language).settings
                steps = reads / engine.batch_size * (2 if engine.unit == "sentence" else 1.5)
            case "sampled_responses" | "policy_answers":
                texts = responses if rule == "sampled_responses" else answers
                steps = texts / sampling.batch_size * sampling.max_new_tokens
            case "labelled_pairs":
                reads = 2 * responses * CONVERSATION
            case "dpo_policy":
                reads = learns = preferred
            case "judgements":
                reads = 2 * (answers + 2 * FEW) * QUESTION
            case "locals_warmup":
                learns = 2 * judges.warmup.pairs * judges.warmup.epochs * QUESTION * PADDING
            case "locals_grpo" | "grpo_policy":
                grpo, passes = (judges.grpo, 4) if rule == "locals_grpo" else (carb.grpo, 3)
                texts = grpo.steps * grpo.batch_size * grpo.gradient_accumulation
                learns = texts * (0.5 * grpo.max_length + grpo.max_new_tokens)
                reads = passes * learns
                steps = 0.0 if grpo.vllm else grpo.steps / grpo.iterations * grpo.max_new_tokens
            case "locals_scores" | "locals_perturbed_scores":
                judged, written = judges.evaluation, judges.judge.max_new_tokens
                rows, per_cell = 0, 7 * rewrites
                if rule == "locals_scores":
                    sections = self.models.catalog.benchmarks[benchmark]["sections"].values()
                    most = sum(map(len, sections)) * (judged.rows_per_subset or inf)
                    among = judged.cultures if judged.benchmark else languages
                    rows = len(among) * min(most, self._rows(judged.benchmark or benchmark))
                    per_cell = 3 * (judged.items_per_cell or ITEMS)
                texts = 2 * (rows + len(carb.domains) * len(judged.cultures) * per_cell)
                reads = texts * QUESTION
                steps = texts / (judges.judge_token_budget / (QUESTION + written)) * written
            case "carb_scores":
                reads = 16 * items * ITEM
            case "quartet_scores":
                reads = ASKED * self.quartets() * ITEM
            case "carb_perturbed_scores":
                consistent = len(carb.cultures) * (carb.consistency.items_per_cell or ITEMS)
                reads = 2 * cells * (7 * rewrites + consistent) * ITEM
            case "carb_completions" | "carb_paraphrases":
                steps = len(carb.generators) * items / 32 * 128
            case "candidates":
                steps = questions * longest
            case "grpo_answers" | "grpo_start_answers":
                steps = questions / 64 * longest
            case "candidate_scores":
                texts = questions * carb.candidates.per_question * len(carb.policies)
                reads = texts * (ITEM + longest)
        return reads, steps, learns

    def requests(self, job: Job, one_question: bool) -> float:
        """Return how often a job asks a judge: an item's answers are shown as often as there are answers.

        one_question: the judge has a question of its own for two answers, which it is asked once.
        """
        carb, times = self.settings.carb, 1 if one_question else 2
        if job.rule in ("ready_made_scores", "single_scores"):
            languages = self.settings.languages if job.rule == "ready_made_scores" else [""]
            return times * self._pairs(job.wildcards.benchmark) * len(languages)
        if job.rule == "carb_scores":
            return 4 * len(carb.domains) * len(carb.cultures) * (carb.items_per_cell or ITEMS)
        reads = self._work(job.rule, job.wildcards)[0]
        return reads / (QUESTION if job.rule in ASKED_ONCE else ITEM)  # each answer that is read

    def quartets(self) -> int:
        """Return the place quartets of all languages, with those of open books; at most, since some topics
        have fewer cultures."""
        made, carb = quartet_choices(self.settings), self.settings.carb
        most = carb.topics_per_domain or inf
        topics = len(list((self.root / carb.quartets.topics).glob("culture_*.yaml")))
        for domain in carb_parts(carb)[1]:
            topics += min(most, len(list((self.root / carb.topics).glob(f"{domain}_*.yaml"))))
        if carb.quartets.files:
            topics = FEW
        books = BOOKS * min(carb.quartets.open_books, topics)
        return len(made["languages"]) * int(topics * carb.quartets.per_topic + books)

    def _pairs(self, benchmark: str) -> float:
        """Return a benchmark's pairs. Requests of templates have several fills and kinds of wrong answers."""
        each = (self.settings.fills_per_template or 1) * (self.settings.kinds_per_request or 1)
        return self._rows(benchmark) * (1 if benchmark in ROWS else each)

    def _rows(self, benchmark: str) -> float:
        """Return the pairs of a benchmark that are drawn."""
        sections = self.models.catalog.benchmarks.get(benchmark, {}).get("sections", ())
        drawn = drawn_share(self.settings, benchmark)["templates"]
        return min(ROWS.get(benchmark, FEW), drawn * len(sections) if drawn else inf)

    def _tokens(self, *languages: str) -> float:
        """Return the tokens of one conversation in each language."""
        source = self.settings.source_language
        return sum(CONVERSATION * (1 if one == source else TRANSLATED) for one in languages)

    def _scored(self, benchmark: str, *languages: str) -> float:
        """Return the tokens of a benchmark's pairs in each language."""
        return 2 * self._rows(benchmark) * self._tokens(*languages)


def writes_text(entry: dict) -> bool:
    """Return whether a reward model is a judge that writes, and is not only asked for its label."""
    writes = "kind" in entry and REWARD_KINDS[entry["kind"]].writes
    return writes and entry.get("verdict", "labels") not in ("labels", "no-criteria")
