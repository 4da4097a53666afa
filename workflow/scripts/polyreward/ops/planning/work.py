"""The tokens that each rule has models read and write."""

import dataclasses
from collections.abc import Iterator

import pandas as pd

from polyreward.ops.planning.sized_scale import SizedScale

# Where a judge's `question` is asked
ASKED_ONCE = ("catalogued_reward_scores", "configured_reward_scores", "judgements", "locals_scores")
WORK_COLUMNS = ["rule", "model", "kind", "read_tokens", "written_tokens"]


@dataclasses.dataclass(frozen=True)
class Work:
    """What a rule does with one model, over all its jobs.

    kind: train, score, generate (by transformers), vllm or server; tokens that it reads, and that it
    writes."""

    rule: str
    model: str
    kind: str
    read_tokens: float
    written_tokens: float = 0.0


def work(scale: SizedScale) -> pd.DataFrame:
    """Return WORK_COLUMNS: what each rule does with each model."""
    parts = [_translation, _training, _scoring, _carb, _carb_grpo, _carb_perturbed, _alignment, _locals]
    table = pd.DataFrame(
        [dataclasses.astuple(item) for part in parts for item in part(scale)], columns=WORK_COLUMNS
    )
    return table.groupby(["rule", "model", "kind"], sort=False, as_index=False).sum()


def _translation(scale: SizedScale) -> Iterator[Work]:
    translation, alignment = scale.config["translation"], scale.config["alignment"]
    sets = [scale.train_pairs(), *scale.benchmarks()]
    texts = sum(
        2 * size.rows * size.tokens for size in sets
    )  # a prompt and two answers are about two conversations
    if alignment["prompt_data"]:
        texts += alignment["prompts"] * scale.sizes[alignment["prompt_data"]].tokens / 2
    sample = scale.sizes[scale.config["passages"]]
    for language in scale.config["target_languages"]:
        asked = {scale.engine(language): texts - _released(scale, language)}
        for name in translation["quality_engines"]:
            asked[name] = asked.get(name, 0) + min(translation["quality_rows"], sample.rows) * sample.tokens
        for name, tokens in asked.items():
            engine = translation["engines"][name]
            if "model" in engine:
                model = engine["model"][language] if isinstance(engine["model"], dict) else engine["model"]
                yield Work(
                    "translated_rows",
                    model,
                    scale.writer(),
                    tokens,
                    tokens * scale.facts["text"]["other_languages"],
                )


def _released(scale: SizedScale, language: str) -> float:
    """Return the tokens of pairs that come in a language, and are not translated."""
    datasets, benchmarks, config = scale.catalogs["datasets"], scale.catalogs["benchmarks"], scale.config
    sets = [(config["pool"]["datasets"], scale.train_pairs())]
    for use, size in zip(("main", "twins"), scale.benchmarks(), strict=True):
        sets.append(([benchmarks[config["benchmarks"][use]]["dataset"]], size))
    return sum(
        2 * size.rows * size.tokens
        for names, size in sets
        if all(
            datasets[name].get("holds") == "pairs" and language in datasets[name].get("languages", {})
            for name in names
        )
    )


def _training(scale: SizedScale) -> Iterator[Work]:
    config, size = scale.config, scale.train_pairs()
    once = 2 * size.rows * size.tokens * config["reward_model"]["epochs"]
    for base in config["bases"]:
        seeds = len(config["reward_model_seeds"])
        yield Work("reward_model", base, "train", once * seeds * scale.longer(scale.languages))
        further = max(0, config["gate"]["seeds"] - seeds) if base == config["gate"]["base"] else 0
        if further:
            yield Work("reward_model", base, "train", once * further)


def _scoring(scale: SizedScale) -> Iterator[Work]:
    config, size = scale.config, scale.train_pairs()
    main, twins = scale.benchmarks()
    probed = min(size.rows, config["probe_pairs"] or size.rows)
    everywhere = scale.longer(scale.languages)
    for base in config["bases"]:
        each = 2 * main.rows * main.tokens * everywhere
        of_table1 = 2 * main.rows * main.tokens * (1 + 2 * scale.longer(config["target_languages"]))
        others, seeds = each * len(scale.languages) - of_table1, len(config["reward_model_seeds"])
        yield Work("reward_scores", base, "score", of_table1 * seeds)
        yield Work("cross_reward_scores", base, "score", others * seeds)
        yield Work("reward_scores", base, "score", 2 * twins.rows * twins.tokens * everywhere * 2)
        yield Work(
            "base_loglik_scores", base, "score", 2 * (each + 2 * twins.rows * twins.tokens * everywhere)
        )
        yield Work("base_baseline_scores", base, "score", 2 * probed * size.tokens * everywhere)
        passages = scale.sizes[config["passages"]]
        yield Work(
            "passage_states",
            base,
            "score",
            passages.rows * passages.tokens * everywhere * (1 + len(scale.languages)),
        )
    for name in config["off_the_shelf"]:
        yield from _judged(
            "catalogued_reward_scores",
            name,
            scale,
            main.rows * len(scale.languages),
            2,
            main.tokens * everywhere / len(scale.languages),
        )
    for name in config["reward_models"]:
        rows, tokens = (
            main.rows + twins.rows,
            max(main.tokens, twins.tokens) * everywhere / len(scale.languages),
        )
        yield from _judged("configured_reward_scores", name, scale, rows * len(scale.languages), 2, tokens)


def _judged(
    rule: str, name: str, scale: SizedScale, items: int, answers: int, tokens: float
) -> Iterator[Work]:
    """Yield what a reward model does with items of some answers; tokens: of a prompt and one answer.

    A judge is asked as often as there are places for an answer, and once about a pair where it has a
    `question` for that."""
    entry = scale.judges()[name]
    asked = 1 if "question" in entry and rule in ASKED_ONCE else answers
    read = items * answers * tokens
    if entry["kind"] != "generative":
        yield Work(rule, name, "score", read * (2 if "reference" in entry else 1))
        return
    written = (
        items * asked * scale.reply(entry.get("max_new_tokens", 512))
        if entry.get("verdict", "labels") != "labels"
        else 0
    )
    yield Work(rule, name, scale.writer(entry), read * asked, written)


def _carb(scale: SizedScale) -> Iterator[Work]:
    config, answer = scale.config, scale.facts["text"]["carb_answer"]
    names = [*config["off_the_shelf"], *config["reward_models"]]
    sampling, questions = config["carb"]["candidates"], scale.carb_questions
    reply, picked = scale.reply(sampling["max_new_tokens"]), questions.rows * len(config["carb"]["policies"])
    for name in names:
        yield from _judged("carb_scores", name, scale, scale.carb_items, 4, 2 * answer)
        yield from _judged(
            "candidate_scores", name, scale, picked, sampling["per_question"], questions.tokens + reply
        )
    for base in config["bases"]:
        models = len(scale.languages) + 1  # and the base's log-likelihood
        yield Work("carb_scores", base, "score", scale.carb_items * 4 * 2 * answer * models)
        scored = picked * sampling["per_question"] * (questions.tokens + reply)
        yield Work("candidate_scores", base, "score", scored * len(scale.languages))
    for policy in config["carb"]["policies"]:
        answers = questions.rows * sampling["per_question"]
        yield Work("candidates", policy, "generate", answers * questions.tokens, answers * reply)
    for name, entry in config["carb"]["generators"].items():
        texts = scale.carb_items * 4 / len(config["carb"]["generators"])
        yield Work("carb_completions", name, scale.writer(entry), texts * 4 * answer, texts * 2 * answer)
        yield Work(
            "carb_paraphrases", name, scale.writer(entry), texts * answer, texts * answer / 2
        )  # of right answers alone


def _carb_grpo(scale: SizedScale) -> Iterator[Work]:
    """Yield what policies do that a reward model's score trains, and what that reward model does."""
    grpo, questions, rewarding = scale.config["carb"]["grpo"], scale.carb_questions, scale.rewarding()
    if grpo is None:
        return
    prompt, reply = scale.facts["text"]["carb_answer"], scale.reply(grpo["max_new_tokens"])
    replies = grpo["steps"] * grpo["batch_size"] * grpo["gradient_accumulation"]
    asked, policy, writer = (
        replies / grpo["generations"],
        grpo["policy"],
        "vllm" if grpo["vllm"] else "generate",
    )
    for name, model in rewarding.items():
        yield Work("grpo_policy", policy, writer, asked * prompt, replies * reply / grpo["iterations"])
        yield Work("grpo_policy", policy, "train", replies * (prompt + reply))
        if model != name:
            yield Work("grpo_policy", model, "score", replies * (prompt + reply))
        else:
            yield from _judged("grpo_policy", name, scale, round(asked), grpo["generations"], prompt + reply)
    answers = questions.rows * (len(rewarding) + 1)  # and those of the policy before
    written = answers * scale.reply(scale.config["carb"]["candidates"]["max_new_tokens"])
    yield Work("grpo_answers", policy, "generate", answers * questions.tokens, written)


def _carb_perturbed(scale: SizedScale) -> Iterator[Work]:
    """Yield what is done with rewrites of right answers, four of each, and with the same answer in all
    languages."""
    config, carb, rule = scale.config, scale.config["carb"], "carb_perturbed_scores"
    cells, tokens = len(carb["cultures"]) * len(carb["domains"]), 2 * scale.facts["text"]["carb_answer"]
    for part, texts in (("perturbation", 5), ("consistency", len(carb["cultures"]))):
        items = min(scale.carb_items, cells * (carb[part]["items_per_cell"] or scale.carb_items))
        for base in config["bases"]:
            yield Work(rule, base, "score", items * texts * tokens * len(scale.languages))
        for name in [*config["off_the_shelf"], *config["reward_models"]]:
            if scale.judges()[name]["kind"] == "generative":  # each text beside the first, in both orders
                yield from _judged(rule, name, scale, items * (texts - 1), 2, tokens)
            else:
                yield from _judged(rule, name, scale, items * texts, 1, tokens)


def _alignment(scale: SizedScale) -> Iterator[Work]:
    alignment, policy = scale.config["alignment"], scale.config["alignment"]["policy"]
    languages, sampling = alignment["languages"], alignment["sampling"]
    instructions, answer = scale.sizes[alignment["instructions"]], scale.reply(sampling["max_new_tokens"])
    asked = min(instructions.rows, alignment["max_instructions"] or instructions.rows)
    prompt = scale.sizes[alignment["prompt_data"] or scale.config["pool"]["datasets"][0]].tokens / 2
    longer = scale.longer(languages)
    if alignment["sft"]:
        rows = alignment["sft"]["rows"] * alignment["sft"]["epochs"]
        yield Work("sft_policy", policy, "train", rows * 2 * prompt * scale.longer(scale.languages))
    sampled = alignment["prompts"] * alignment["responses"] * len(languages)
    yield Work(
        "sampled_responses", policy, scale.writer(), alignment["prompts"] * prompt * longer, sampled * answer
    )
    yield Work("labelled_pairs", alignment["reward_base"], "score", 2 * sampled * (answer + prompt))
    pairs = alignment["prompts"] * len(languages) * 2  # of two labellers
    yield Work("dpo_policy", policy, "train", pairs * 2 * (answer + prompt) * alignment["dpo"]["epochs"])
    yield Work(
        "dpo_policy", policy, "score", pairs * 2 * (answer + prompt)
    )  # the reference policy's log-probabilities
    answers = 3 * alignment["runs"] * asked * len(languages)
    yield Work("policy_answers", policy, scale.writer(), answers * instructions.tokens, answers * answer)
    yield from _judged("judgements", alignment["judge"], scale, answers, 2, instructions.tokens + answer)
    if alignment["reference"]:
        entry = scale.catalogs["reward_models"][alignment["reference"]]
        written = asked * len(languages) * scale.reply(entry.get("max_new_tokens", 512))
        read = asked * instructions.tokens * longer
        yield Work("reference_answers", alignment["reference"], scale.writer(entry), read, written)


def _locals(scale: SizedScale) -> Iterator[Work]:
    found, base = scale.config["think_as_locals"], scale.config["think_as_locals"]["base"]
    grpo, warmup = found["grpo"], found["warmup"]
    question = 4 * scale.facts["text"]["carb_answer"]
    if warmup:
        rows = 2 * warmup["pairs"] * warmup["epochs"]
        yield Work("locals_warmup", base, "train", rows * (2 + 1) * question)  # with criteria, and without
    trainings = len(found["runs"]) + found["seeds"] - 1
    replies = grpo["steps"] * grpo["batch_size"] * grpo["gradient_accumulation"] * trainings
    written = replies * scale.reply(grpo["max_new_tokens"])
    writer = "vllm" if grpo["vllm"] else "generate"
    yield Work(
        "locals_grpo", base, writer, replies / grpo["generations"] * question, written / grpo["iterations"]
    )
    yield Work("locals_grpo", base, "train", replies * question + written)
    main, part = scale.benchmarks()[0], found["evaluation"]
    subsets = sum(
        map(len, scale.catalogs["benchmarks"][scale.config["benchmarks"]["main"]]["sections"].values())
    )
    rows = min(main.rows, subsets * (part["rows_per_subset"] or main.rows)) * len(scale.languages)
    cells = len(part["cultures"]) * len(scale.config["carb"]["domains"])
    shared = round(scale.carb_items * len(part["cultures"]) / len(scale.config["carb"]["cultures"]))
    items = min(shared, cells * (part["items_per_cell"] or shared))
    reply = scale.reply(found["judge"]["max_new_tokens"])
    asked = (2 * rows + 6 * items) * (
        3 + len(found["runs"])
    )  # in both orders; an item is three pairs; judges, the base twice
    yield Work("locals_scores", base, "generate", asked * (main.tokens + question), asked * reply)
    for name in found["others"]:
        yield from _judged("locals_scores", name, scale, rows, 2, main.tokens)
        yield from _judged("locals_scores", name, scale, 3 * items, 2, 2 * scale.facts["text"]["carb_answer"])
    learners = 1 + bool(warmup) + trainings  # the base is one of them
    held_out = 2 * found["held_out"] * learners
    yield Work("locals_held_out", base, "generate", held_out * question, held_out * reply)
    perturbed = min(shared, cells * (scale.config["carb"]["perturbation"]["items_per_cell"] or shared))
    compared = (
        perturbed * 4 * 2
    )  # rewrites, in both orders; one judge of three writes criteria before its verdict
    yield Work("locals_perturbed_scores", base, "generate", 3 * compared * question, compared * reply)
