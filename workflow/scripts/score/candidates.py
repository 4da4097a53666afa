"""Let a policy answer the questions that CARB is checked with."""

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
from polyreward.settings.carb import Candidates

GREEDY = {
    "do_sample": False,
    "temperature": None,
    "top_k": None,
    "top_p": None,
}  # whatever a model's own settings say


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

    greedy: once, the likeliest tokens, in the model's chat template. Each question has a seed of its own, so
    that its answers do not depend on which others are asked. A folder that says why it holds no policy
    answers none."""
    if missing_reason(folder) is not None:
        return []
    lm = load_causal_lm(folder, precision, max_length=settings.max_new_tokens, token_budget=1)
    found = []
    with progress(f"{Path(folder).name}, answers", len(questions)) as advance:
        for question in questions:
            torch.manual_seed(job_seed(seed, question["id"]))
            texts = _answers(lm.model, lm.tokenizer, question, settings, greedy)
            own = {"policy": policy, "topic": question["id"], "domain": "candidates"}
            found.append({**question, **own, "answers": texts, "chosen": None})
            advance(1)
    return found


def _answers(model, tokenizer, question: dict, settings: Candidates, greedy: bool) -> list[str]:
    chat = settings.chat or greedy
    if chat:
        turns = [{"role": "user", "content": question["prompt"]}]
        inputs = tokenizer.apply_chat_template(
            turns, add_generation_prompt=True, return_dict=True, return_tensors="pt"
        )
    else:
        inputs = tokenizer(question["shown"], return_tensors="pt")
    length = inputs["input_ids"].shape[1]
    drawn = {"do_sample": True, "temperature": settings.temperature, "top_k": 0, "top_p": 1.0}
    ids = model.generate(
        input_ids=inputs["input_ids"].to(model.device),
        attention_mask=inputs["attention_mask"].to(model.device),
        max_new_tokens=settings.max_new_tokens,
        num_return_sequences=1 if greedy else settings.per_question,
        **(GREEDY if greedy else drawn),
        pad_token_id=tokenizer.eos_token_id if tokenizer.pad_token_id is None else tokenizer.pad_token_id,
        tokenizer=tokenizer,
        stop_strings=None if chat else ["\n"],
    )
    texts = tokenizer.batch_decode(ids[:, length:], skip_special_tokens=True)
    if chat:  # a chat model's reply may have its answer in any line
        return [text.strip() or NOTHING for text in texts]
    return [(text.strip().splitlines() or [""])[0].strip() or NOTHING for text in texts]


def main(snakemake):
    inputs, params = snakemake.input, snakemake.params
    questions = read_jsonl(inputs.questions)
    answers = policy_answers(params.policy, inputs.policy, questions, seed=params.seed, **params.sampling)
    write_jsonl(answers, snakemake.output[0])


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
