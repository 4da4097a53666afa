"""What a run's jobs do with models, in tokens and GPU hours.

A job reads its input files, whose sizes follow from the settings, as often as its parameters say. Tokens, the
size of its model and the card's speed make its hours."""

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

from polyreward.core.errors import PolyrewardError
from polyreward.ops.planning.sized_scale import SizedScale
from polyreward.ops.resources import ModelJob, parameters_b
from polyreward.ops.workflow import dry_run_jobs, memory_function

AT_ONCE = ("labels", "no-criteria")  # verdicts of which a judge writes no more than a token


@dataclasses.dataclass(frozen=True)
class Job:
    """A job of a dry run. model: what its rule says of its models, None where it holds none."""

    rule: str
    wildcards: dict
    input: Sequence[str]
    output: Sequence[str]
    params: dict
    benchmark: str | None
    model: ModelJob | None
    mem_mb: int

    @property
    def held(self) -> list[dict]:
        """Return the entries of its models, those on servers too."""
        if self.model is None:
            return []
        found = self.model.models(self.wildcards)
        return [self.model.known[one] if isinstance(one, str) else one for one in found]


@dataclasses.dataclass(frozen=True)
class Work:
    """What a job does with one model. kind: train, score, generate (by transformers), vllm or server."""

    rule: str
    model: str
    kind: str
    read: float
    written: float = 0.0
    hours: float = 0.0


def planned_jobs(targets: Sequence[str], configfiles: Sequence[str], root: Path) -> list[Job]:
    """Return the jobs of a run from nothing.

    Raises PolyrewardError with Snakemake's own words where it does not resolve."""
    for path in configfiles:
        if not (root / path).is_file():
            raise PolyrewardError(
                f"{path}: no such file; name an overlay, such as workflow/scales/paper.yaml"
            )
    with contextlib.chdir(root):
        return [_job(job) for job in dry_run_jobs(targets, configfiles)]


def _job(job) -> Job:
    found = memory_function(job.rule)
    model = found if isinstance(found, ModelJob) else None
    return Job(
        job.rule.name,
        job.wildcards,
        job.input,
        [str(path) for path in job.output],
        dict(job.params.items()),
        str(job.benchmark) if job.benchmark else None,
        model,
        model(job.wildcards) if model else 0,
    )


@dataclasses.dataclass(frozen=True)
class Texts:
    """A file of rows of some texts, a prompt with an answer each.

    tokens: of a text. asks: how often a judge is asked about a row, about `shown` of its texts at a time."""

    rows: float
    texts: float
    tokens: float
    asks: float = 1
    shown: float = 1

    @property
    def read(self) -> float:
        """Return the tokens of all its texts."""
        return self.rows * self.texts * self.tokens


class Sizes:
    """The sizes of the files that jobs with models read."""

    def __init__(self, scale: SizedScale):
        """Size all kinds of files."""
        self.scale = scale
        carb, alignment, answer = (
            scale.settings.carb,
            scale.settings.alignment,
            scale.facts["text"]["carb_answer"],
        )
        locals_, questions = scale.settings.think_as_locals, scale.carb_questions
        cultures, items = len(carb.cultures), scale.carb_items / len(carb.cultures)
        reply = scale.reply(alignment.sampling.max_new_tokens)
        prompt = scale.sizes[alignment.prompt_data or scale.settings.pool.datasets[0]].tokens / 2
        instructions = scale.sizes[alignment.instructions]
        asked = min(instructions.rows, alignment.max_instructions or instructions.rows)
        passages, many = scale.sizes[scale.settings.passages], carb.candidates.per_question
        written = questions.tokens + scale.reply(carb.candidates.max_new_tokens)

        def drawn(part: str) -> float:
            return min(items, len(carb.domains) * (getattr(carb, part).items_per_cell or items))

        self.files = {
            "train": _pairs(scale.train_pairs()),
            "prompts": Texts(alignment.prompts, 1, prompt),
            "passages": Texts(passages.rows, 1, passages.tokens),
            "instructions": Texts(asked, 1, instructions.tokens),
            "responses": Texts(alignment.prompts, alignment.responses, prompt + reply),
            "pairs": Texts(alignment.prompts, 2, prompt + reply),
            "answers": Texts(3 * alignment.runs * asked, 1, instructions.tokens + reply, 2, 2),
            "questions": Texts(questions.rows, 1, questions.tokens),
            "candidates": Texts(questions.rows, many, written, many, many),
            "carb": Texts(items, 4, 2 * answer, 4, 4),
            "carb_train": Texts(items, 1, answer),
            "carb_perturbation": Texts(drawn("perturbation"), 5, 2 * answer, 8, 2),
            "carb_consistency": Texts(drawn("consistency"), cultures, 2 * answer, 2 * (cultures - 1), 2),
            "completions": Texts(scale.carb_items, 4, answer),
            "possible_items": Texts(scale.carb_items, 4, 4 * answer),
            "warmup": Texts(2 * locals_.warmup.pairs if locals_.warmup else 0, 1, 4 * answer),
            "grpo": Texts(1, 1, 4 * answer),
            "samples": Texts(locals_.samples * cultures, 1, 4 * answer),
            "held_out": Texts(locals_.held_out, 1, 4 * answer, 2),
        }
        for use, size in zip(("main", "twins"), scale.benchmarks(), strict=True):
            self.files[getattr(scale.settings.benchmarks, use)] = _pairs(size)
        self.files |= {name: _pairs(scale.sizes[name]) for name in scale.settings.own_benchmarks}

    def of(self, path: str) -> Texts | None:
        """Return the size of a file, or None where it is not one of these."""
        file, text = Path(path), self.scale.facts["text"]
        names = (file.stem, file.stem.split("_")[0], file.parent.name)
        found = next((self.files[name] for name in names if name in self.files), None)
        source = self.scale.settings.source_language
        if found is None or "3_translated" not in file.parts or file.stem == source:
            return found
        return dataclasses.replace(found, tokens=found.tokens * text["other_languages"])


def _pairs(size) -> Texts:
    return Texts(size.rows, 2, size.tokens, 2, 2)


def job_work(job: Job, sizes: Sizes) -> Iterator[Work]:
    """Yield what a job does with each of its models."""
    if job.model is None or job.model.kind == "load":
        return
    files = [found for found in map(sizes.of, job.input) if found]
    kind = {"train": _trained, "supervise": _trained, "grpo": _grpo, "generate": _generated}
    for entry in job.held:
        yield from kind.get(job.model.kind, _scored)(job, entry, files, sizes)


def _trained(job: Job, entry: dict, files: list[Texts], sizes: Sizes) -> Iterator[Work]:
    settings = job.model.training
    rows = getattr(settings, "rows", None)
    if rows:  # SFT trains on so many chosen answers of each language
        read = sum(min(rows, file.rows) * file.tokens for file in files)
    else:
        read = sum(file.read for file in files) * (1 + bool(job.params.get("criteria")))
    yield _work(job, entry, "train", sizes, read * settings.epochs)
    if hasattr(settings, "beta"):  # DPO's reference policy reads them once
        yield _work(job, entry, "score", sizes, read)


def _grpo(job: Job, entry: dict, files: list[Texts], sizes: Sizes) -> Iterator[Work]:
    settings = job.model.training
    prompt = files[0].tokens
    replies = settings.steps * settings.batch_size * settings.gradient_accumulation
    reply, asked = sizes.scale.reply(settings.max_new_tokens), replies / settings.generations
    writer = "vllm" if settings.vllm else "generate"
    yield _work(job, entry, writer, sizes, asked * prompt, replies * reply / settings.iterations)
    yield _work(job, entry, "train", sizes, replies * (prompt + reply))
    if "reward" in job.params:
        many = settings.generations
        answers = [Texts(asked, many, prompt + reply, many, many)]
        yield from _scored(job, entry["reference"], answers, sizes)


def _generated(job: Job, entry: dict, files: list[Texts], sizes: Sizes) -> Iterator[Work]:
    params = job.params
    how = params.get("engine") or params["sampling"]
    writer = "vllm" if how.get("serve") else "generate"
    if "engine" in params:
        rows = params["first"] or float("inf")
        read = sum(min(file.rows, rows) * file.texts * file.tokens for file in files)
        yield _work(job, entry, writer, sizes, read, read * sizes.scale.facts["text"]["other_languages"])
        return
    many = params.get("responses") or params.get("runs", 1) * len(params.get("names", "1"))
    many *= 1 if how.get("greedy") else getattr(how["settings"], "per_question", 1)
    replies = sum(min(file.rows, params.get("prompts", file.rows)) for file in files) * many
    written = replies * sizes.scale.reply(how["settings"].max_new_tokens)
    yield _work(job, entry, writer, sizes, sum(file.tokens for file in files) / len(files) * replies, written)


def _scored(job: Job, entry: dict, files: list[Texts], sizes: Sizes) -> Iterator[Work]:
    params = job.params
    if "generators" in params:  # each writes its share
        share = sum(file.read for file in files) / len(params["generators"])
        yield _work(job, entry, "server" if "server" in entry else "generate", sizes, share, share / 2)
        return
    if "part" in params:  # the part of both benchmarks that judges of Think-as-Locals see
        files = list(_part(files, params["part"], sizes.scale))
    if "entries" in params:
        scorers = list(params["entries"].values())
    else:
        scorers = [params.get("entry") or params.get("reward", {}).get("entry") or entry]
    for asked in scorers:
        if asked.get("kind") == "generative":
            yield _judged(job, entry, asked, files, sizes)
        else:
            read = _read(job, files, sizes) * (1 + ("reference" in asked))
            yield _work(job, entry, "score", sizes, read)


def _judged(job: Job, entry: dict, asked: dict, files: list[Texts], sizes: Sizes) -> Work:
    """Return what a judge reads and writes. asked: its entry, as the job loads it."""
    read = written = 0.0
    for file in files:
        asks = file.rows * (1 if "question" in asked and file.shown == 2 else file.asks)
        read += asks * file.shown * file.tokens
        if asked.get("verdict", "labels") not in AT_ONCE:
            written += asks * sizes.scale.reply(asked.get("max_new_tokens", 512))
    writer = "server" if "server" in asked else "vllm" if "serve" in asked else "generate"
    return _work(job, entry, writer, sizes, read, written)


def _part(files: list[Texts], part: dict, scale: SizedScale) -> Iterator[Texts]:
    benchmark = scale.catalogs["benchmarks"][scale.settings.benchmarks.main]
    subsets, domains = sum(map(len, benchmark["sections"].values())), len(scale.settings.carb.domains)
    for file in files:
        if file.texts == 2:
            rows = min(file.rows, subsets * (part["rows_per_subset"] or file.rows))
            yield dataclasses.replace(file, rows=rows)
        else:  # an item is three pairs
            items = min(file.rows, domains * (part["items_per_cell"] or file.rows))
            yield Texts(3 * items, 2, file.tokens, 2, 2)


def _read(job: Job, files: list[Texts], sizes: Sizes) -> float:
    """Return the tokens that a job's reward models or bases read."""
    pairs = job.params.get("pairs")
    if isinstance(pairs, int) or (pairs is None and "benchmarks" in job.params):  # the probe's training pairs
        trained_on = [sizes.of(path) for path in job.input.train]
        return sum(min(file.rows, pairs or file.rows) * file.texts * file.tokens for file in trained_on)
    if pairs:  # of a model and a file
        return sum(files[number].read for _, number in pairs)
    models = len(job.params.get("names", job.params.get("labellers", "1")))
    alone = any("statistics_" in path for path in job.output)  # answers with their prompts, and without
    return sum(file.read for file in files) * models * (1 + alone)


def _work(job: Job, entry: dict, kind: str, sizes: Sizes, read: float, written: float = 0.0) -> Work:
    speed = sizes.scale.facts["tokens_per_s"]
    name = entry.get("server", {}).get("model") or job.model.name(entry)
    if kind == "server":
        return Work(job.rule, name, kind, read, written)
    if kind == "train":
        seconds = read / speed["train"]["value"] * _operations(job.model.training, entry, sizes.scale)
    else:
        seconds = read / speed["score"]["value"]
    seconds += written / speed[kind]["value"] if written else 0.0
    billions = parameters_b(entry, job.model.known, unknown=None)
    return Work(
        job.rule, name, kind, read, written, float("nan") if billions is None else seconds * billions / 3600
    )


def _operations(settings, entry: dict, scale: SizedScale) -> float:
    """Return the operations of a training over those that tokens_per_s.train is of."""
    of, layers, lora = scale.facts["train_operations"], entry.get("layers"), settings.lora
    share = min(1, lora.top_layers / layers) if lora and layers else 1
    done = of["forward"] + of["recomputed"] * settings.gradient_checkpointing + of["backward"] * share
    return (done + of["weight_gradients"] * (not lora)) / sum(of.values())


def work_table(jobs: Sequence[Job], scale: SizedScale) -> pd.DataFrame:
    """Return the columns of Work: what each rule does with each model."""
    sizes = Sizes(scale)
    rows = [dataclasses.asdict(work) for job in jobs for work in job_work(job, sizes)]
    table = pd.DataFrame(rows, columns=[field.name for field in dataclasses.fields(Work)])
    return table.groupby(["rule", "model", "kind"], sort=False, as_index=False).sum(min_count=1)
