"""Let a policy answer the questions that CARB is checked with."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import torch

from polyreward.carb.downstream.ratings import NOTHING
from polyreward.core.files import read_jsonl, write_jsonl
from polyreward.core.logs import progress
from polyreward.core.seeds import job_seed
from polyreward.core.unavailable import missing_reason
from polyreward.ops.jobs import run
from polyreward.scoring.load import load_causal_lm

GREEDY = {
    "do_sample": False,
    "temperature": None,
    "top_k": None,
    "top_p": None,
}  # whatever a model's own settings say


@dataclasses.dataclass(frozen=True)
class Sampling:
    """How a policy answers. per_question: answers; temperature: of the sampling, 0 for the likeliest token;
    max_new_tokens: of an answer.

    chat: ask an instruct model the question alone, in its chat template; else let it go on after examples of
    question and answer, and take the first line. dtype: as precision.dtype_of has it."""

    per_question: int
    temperature: float
    max_new_tokens: int
    chat: bool
    dtype: str


@torch.inference_mode()
def policy_answers(
    folder: str | Path, questions: Sequence[dict], sampling: Sampling, seed: int
) -> list[dict]:
    """Return the questions with a policy's answers, in the form of items that have no chosen answer.

    Each question has a seed of its own, so that its answers do not depend on which others are asked. A folder
    that says why it holds no policy answers none."""
    if missing_reason(folder) is not None:
        return []
    lm = load_causal_lm(folder, sampling.dtype, max_length=sampling.max_new_tokens, token_budget=1)
    found = []
    with progress(f"{Path(folder).name}, answers", len(questions)) as tell:
        for question in questions:
            torch.manual_seed(job_seed(seed, question["id"]))
            texts = _answers(lm.model, lm.tokenizer, question, sampling)
            found.append({**question, "domain": "candidates", "answers": texts, "chosen": None})
            tell(1)
    return found


def _answers(model, tokenizer, question: dict, sampling: Sampling) -> list[str]:
    if sampling.chat:
        turns = [{"role": "user", "content": question["prompt"]}]
        inputs = tokenizer.apply_chat_template(
            turns, add_generation_prompt=True, return_dict=True, return_tensors="pt"
        )
    else:
        inputs = tokenizer(question["shown"], return_tensors="pt")
    length = inputs["input_ids"].shape[1]
    drawn = (
        {"do_sample": True, "temperature": sampling.temperature, "top_k": 0, "top_p": 1.0}
        if sampling.temperature
        else GREEDY
    )
    ids = model.generate(
        input_ids=inputs["input_ids"].to(model.device),
        attention_mask=inputs["attention_mask"].to(model.device),
        max_new_tokens=sampling.max_new_tokens,
        num_return_sequences=sampling.per_question,
        **drawn,
        pad_token_id=tokenizer.eos_token_id if tokenizer.pad_token_id is None else tokenizer.pad_token_id,
        tokenizer=tokenizer,
        stop_strings=None if sampling.chat else ["\n"],
    )
    texts = tokenizer.batch_decode(ids[:, length:], skip_special_tokens=True)
    if sampling.chat:  # a chat model's reply may have its answer in any line
        return [text.strip() or NOTHING for text in texts]
    return [(text.strip().splitlines() or [""])[0].strip() or NOTHING for text in texts]


def main(snakemake):
    inputs, params = snakemake.input, snakemake.params
    sampling = Sampling(**params.sampling)
    answers = policy_answers(inputs.policy, read_jsonl(inputs.questions), sampling, params.seed)
    write_jsonl(answers, snakemake.output[0])


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
