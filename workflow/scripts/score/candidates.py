"""Let a policy answer the questions that CARB is checked with."""

from collections.abc import Sequence
from pathlib import Path

import torch

from polyreward.carb.downstream.ratings import NOTHING
from polyreward.core.conversations import as_turns
from polyreward.core.files import read_jsonl, write_jsonl
from polyreward.core.logs import progress
from polyreward.core.seeds import job_seed
from polyreward.core.unavailable import missing_reason
from polyreward.models.generation import written
from polyreward.ops.jobs import run
from polyreward.scoring.load import load_causal_lm
from polyreward.scoring.local_judge import generated, request_ids
from polyreward.scoring.loglik import CausalLM
from polyreward.settings.base import Candidates

GREEDY_TOKENS = 16384  # of a batch of questions that are answered once each


@torch.inference_mode()
def policy_answers(
    policy: str,
    folder: str | Path,
    questions: Sequence[dict],
    settings: Candidates,
    precision: str,
    seed: int,
    greedy: bool = False,
) -> list[dict]:
    """Return the questions with a policy's answers, in the form of items that have no chosen answer.

    greedy: once, the likeliest tokens, in the model's chat template; else each question has a seed of its
    own. A folder that says why it holds no policy answers none."""
    if missing_reason(folder) is not None:
        return []
    budget = GREEDY_TOKENS if greedy else 1
    lm = load_causal_lm(folder, precision, max_length=settings.max_new_tokens, token_budget=budget)
    label = f"{Path(folder).name}, answers"
    if greedy:
        asked = [request_ids(lm.tokenizer, as_turns(question["prompt"])) for question in questions]
        replies = generated(lm, asked, settings.max_new_tokens, label)
        answers = [_texts(lm.tokenizer, [ids], whole=True) for ids in replies]
    else:
        answers = []
        with progress(label, len(questions)) as advance:
            for question in questions:
                torch.manual_seed(job_seed(seed, question["id"]))
                answers.append(_sampled(lm, question, settings))
                advance(1)
    more = {"domain": "candidates", "answers": None, "chosen": None}
    return [
        {**question, "policy": policy, "topic": question["id"], **more, "answers": texts}
        for question, texts in zip(questions, answers, strict=True)
    ]


def _sampled(lm: CausalLM, question: dict, settings: Candidates) -> list[str]:
    model, tokenizer = lm.model, lm.tokenizer
    if settings.chat:
        ids = request_ids(tokenizer, as_turns(question["prompt"]))
    else:
        ids = tokenizer(question["shown"])["input_ids"]
    pad = tokenizer.eos_token_id if tokenizer.pad_token_id is None else tokenizer.pad_token_id
    new = written(
        model,
        [ids],
        pad,
        settings.max_new_tokens,
        num_return_sequences=settings.per_question,
        do_sample=True,
        temperature=settings.temperature,
        top_k=0,
        top_p=1.0,
        repetition_penalty=1.0,  # some models' own settings have another
        tokenizer=tokenizer,
        stop_strings=None if settings.chat else ["\n"],
    )
    return _texts(tokenizer, new, settings.chat)


def _texts(tokenizer, replies, whole: bool) -> list[str]:
    """Return replies as text: whole, or their first line."""
    texts = tokenizer.batch_decode(replies, skip_special_tokens=True)
    kept = texts if whole else [(text.strip().splitlines() or [""])[0] for text in texts]
    return [text.strip() or NOTHING for text in kept]


def main(snakemake):
    inputs, params = snakemake.input, snakemake.params
    questions = read_jsonl(inputs.questions)
    answers = policy_answers(params.policy, inputs.policy, questions, seed=params.seed, **params.sampling)
    write_jsonl(answers, snakemake.output[0])


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
