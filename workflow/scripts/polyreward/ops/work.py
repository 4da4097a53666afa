"""What a job reads, writes and learns from: tokens and steps, counted before anything runs.

Sizes of sets are those that their authors state, and lengths of texts are guesses. Times come from measured
speeds only (ops/planning.py)."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from math import inf
from pathlib import Path

from polyreward.core.kinds import REWARD_KINDS
from polyreward.core.yaml_files import read_yaml
from polyreward.ops.resources import Job
from polyreward.prepare.pair_files import read_pair_file
from polyreward.prepare.topics import CULTURE, quartet_kind
from polyreward.scoring.generative import NEW_TOKENS
from polyreward.sheet.data import carb_parts, drawn_share, quartet_choices
from polyreward.sheet.engines import Engine, engine_of
from polyreward.sheet.entries import Models

PADDING = 1.8  # padded tokens per token: a trainer's batches are not sorted by length
# Rows of published sets; of what is not here, scale mini's few. Of gsm-symbolic, three pairs of each problem
ROWS = {"mp-86k": 86_000, "rewardbench": 2_985, "multilingual-rewardbench": 2_870, "x-alpacaeval": 805}
ROWS |= {"belebele": 488, "gsm-symbolic": 300}
FEW = 150
ITEMS, QUESTIONS = 27, 60  # of a culture and domain, and of a CARB set, where all are taken
# Answers of a place quartet: to its four questions, and to the one that names no place
ASKED = {"quartets": 16, "unplaced_quartets": 4}
BOOKS = 3  # kinds of open books
# Of lessons: topics at most, pairs of a quartet, and quartets of a topic (carb/culture/)
LESSONS, LESSON_PAIRS, LESSON_QUARTETS = 18, 12, 3
ASKED_ONCE = ("judgements", "locals_scores", "locals_perturbed_scores", "locals_held_out")
# Tokens of a conversation, an item's prompt with an answer or a passage, a judge's question
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

    @property
    def counted(self) -> bool:
        """Whether anything could be counted before the run."""
        return any((self.reads, self.learns, self.steps, self.requests, self.updates))


class Counts:
    """Counts the work of a scale's jobs. root: of the project, whose topics are counted."""

    def __init__(self, models: Models, root: Path):
        self.models, self.settings, self.root = models, models.settings, root

    def work(self, job: Job) -> Work:
        """Return what a job does; nothing for one without a model on a card."""
        if not job.on_card:
            return Work()
        reads, steps, learns = self._work(job.rule, job.wildcards)
        judges = [one for one in job.on_card if one.get("kind") == "generative"]
        requests = self.requests(job, any("question" in one for one in judges)) if judges else 0.0
        if judges and job.rule == "carb_scores":
            reads *= 4  # each of the four orders holds all four answers
        updates = job.model.training.steps if job.model.kind == "grpo" else 0
        return Work(reads, learns, steps, requests, updates)

    def _work(self, rule: str, wildcards) -> tuple[float, float, float]:
        """Return the tokens that a job reads, its steps of writing, and the tokens that it learns from.

        A step writes one token of each text of a batch. All are 0 where nothing can be counted before the
        run: the answers that carb_similarities reads are known once they are there.
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
        translation = settings.translation
        passages = min(ROWS.get(settings.passages, FEW), settings.max_passages or inf)
        items, rewrites = cells * (carb.items_per_cell or ITEMS), carb.perturbation.items_per_cell or ITEMS
        reads = steps = learns = 0.0
        match rule:
            case "reward_model" | "judge_reward_model":
                tokens = self._tokens(wildcards.model.rpartition("_")[2])
                learns = 2 * pairs * settings.reward_model.epochs * PADDING * tokens
            case "taught_reward_model":  # at most, since only topics of facts are taught
                taught = min(LESSONS, self.topics // 2) * (1 if carb.quartets.files else LESSON_QUARTETS)
                learns = 2 * taught * LESSON_PAIRS * carb.lessons.epochs * PADDING * ITEM
            case "sft_policy":
                sft = alignment.sft
                learns = min(sft.rows, pairs) * sft.epochs * PADDING * self._tokens(*languages)
            case "reward_scores" | "single_scores":  # the first also with the source's reward model
                reads = (2 if rule == "reward_scores" else 1) * self._scored(benchmark, wildcards.language)
            case "cross_reward_scores":
                reads = (len(languages) - 1) * self._scored(benchmark, *languages)
            case "ready_made_scores":
                reads = self._scored(benchmark, *languages)
            case "base_likelihood_scores" | "single_likelihood_scores":  # with and without the request
                among = languages if rule == "base_likelihood_scores" else [wildcards.language]
                reads = 2 * self._scored(benchmark, *among)
            case "base_probe_scores":
                rows = min(pairs, settings.probe_pairs or inf) + self._rows(benchmark)
                reads = 2 * rows * self._tokens(*languages)
            case "passage_states":  # under the base and a reward model of each language
                reads = (1 + len(languages)) * passages * self._tokens(*languages, each=ITEM)
            case "translated_rows" | "translated_passages" | "translated_instructions" | "engine_sample":
                engine = engine_of(self.models, wildcards.language)
                match rule:
                    case "translated_rows":
                        sets = {"train": pairs, "prompts": alignment.prompts / 3, "dev": FEW, "judge": FEW}
                        rows = sets.get(wildcards.rowset) or self._rows(wildcards.rowset)
                        reads = 1.5 * rows * CONVERSATION
                    case "translated_passages":
                        reads = passages * ITEM
                    case "translated_instructions":
                        reads = instructions * CONVERSATION
                    case "engine_sample":
                        engine = Engine(self.models, wildcards.engine, wildcards.language)
                        each = 1.5 * CONVERSATION if translation.quality_data == "dev" else ITEM
                        reads = translation.quality_rows * each
                per_batch = engine.settings.batch_size / (2 if engine.settings.unit == "sentence" else 1.5)
                steps = reads / per_batch
            case "sampled_responses" | "policy_answers":
                texts = responses if rule == "sampled_responses" else answers
                steps = texts / sampling.batch_size * sampling.max_new_tokens
            case "labelled_pairs":
                reads = 2 * responses * CONVERSATION
            case "dpo_policy":
                reads = learns = preferred
            case "reference_answers":
                written = self.models.catalog.reward_models[alignment.reference].get(
                    "max_new_tokens", NEW_TOKENS
                )
                reads = instructions * CONVERSATION
                steps = _steps(instructions, CONVERSATION, written, settings.scoring.token_budget)
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
            case "locals_held_out":  # each pair in both orders
                texts = 2 * judges.held_out
                reads = texts * QUESTION
                steps = _steps(texts, QUESTION, judges.judge.max_new_tokens, judges.judge_token_budget)
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
                steps = _steps(texts, QUESTION, written, judges.judge_token_budget)
            case "carb_states":  # what the jobs that read the same items need
                of_items = {"carb": "carb_scores", "quartets": "quartet_scores"}
                return self._work(of_items.get(wildcards.itemset, "carb_perturbed_scores"), wildcards)
            case "carb_scores":
                reads = 4 * items * ITEM
            case "carb_likelihood_scores":  # with and without the prompt
                reads = 2 * 4 * items * ITEM
            case "quartet_scores":
                reads = ASKED[wildcards.itemset] * self.quartets * ITEM
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
        if job.rule == "reference_answers":
            return reads / CONVERSATION
        return reads / (QUESTION if job.rule in ASKED_ONCE else ITEM)  # each answer that is read

    @cached_property
    def quartets(self) -> int:
        """The place quartets of all languages, with those of open books; at most, since some topics have too
        few cultures for two."""
        made, carb, topics = quartet_choices(self.settings), self.settings.carb, self.topics
        books = BOOKS * min(carb.quartets.open_books, topics)
        return len(made["languages"]) * int(topics * carb.quartets.per_topic + books)

    @cached_property
    def topics(self) -> int:
        """The topics of place quartets; at most, since some have too few cultures."""
        carb = self.settings.carb
        if carb.quartets.files:
            return FEW
        folders = dict.fromkeys(carb_parts(carb)[1], carb.topics) | {CULTURE: carb.quartets.topics}
        domains, kinds = Counter(), Counter()
        for domain, folder in folders.items():
            files = (self.root / folder).glob(f"{domain}*.yaml")
            found = [quartet_kind(topic) for path in files for topic in read_yaml(path)]
            kinds.update(kind for kind in found if kind)
            domains[domain] = len(found) - found.count(None)
        of_domains, of_kinds = (
            sum(min(count, most or inf) for count in counts.values())
            for counts, most in ((domains, carb.topics_per_domain), (kinds, carb.quartets.max_topics))
        )
        return int(min(of_domains, of_kinds))

    def _pairs(self, benchmark: str) -> float:
        """Return a benchmark's pairs. Requests of templates have several fills and kinds of wrong answers."""
        each = (self.settings.fills_per_template or 1) * (self.settings.kinds_per_request or 1)
        single = benchmark in ROWS or benchmark in self._own_rows
        return self._rows(benchmark) * (1 if single else each)

    def _rows(self, benchmark: str) -> float:
        """Return the pairs of a benchmark that are drawn."""
        if benchmark in self._own_rows:
            return self._own_rows[benchmark]
        sections = self.models.catalog.benchmarks.get(benchmark, {}).get("sections", ())
        drawn = drawn_share(self.settings, benchmark)["templates"]
        return min(ROWS.get(benchmark, FEW), drawn * len(sections) if drawn else inf)

    @cached_property
    def _own_rows(self) -> dict[str, int]:
        """The pairs of each of the user's own benchmarks; 0 of a dataset whose size is not stated."""
        return {
            name: (
                ROWS.get(own.dataset, 0)
                if own.dataset
                else len(read_pair_file(self.root / own.path, layout=own.layout).rows)
            )
            for name, own in self.settings.own_benchmarks.items()
        }

    def _tokens(self, *languages: str, each: int = CONVERSATION) -> float:
        """Return the tokens of one conversation in each language. each: of one in English."""
        source = self.settings.source_language
        return sum(each * (1 if one == source else TRANSLATED) for one in languages)

    def _scored(self, benchmark: str, *languages: str) -> float:
        """Return the tokens of a benchmark's pairs in each language."""
        return 2 * self._rows(benchmark) * self._tokens(*languages)


def _steps(texts: float, read: int, written: int, token_budget: int) -> float:
    """Return the steps of writing, where a batch holds as many texts as fit a budget of tokens."""
    return texts / (token_budget / (read + written)) * written


def writes_text(entry: dict) -> bool:
    """Return whether a reward model is a judge that writes, and is not only asked for its label."""
    writes = "kind" in entry and REWARD_KINDS[entry["kind"]].writes
    return writes and entry.get("verdict", "labels") not in ("labels", "no-criteria")
