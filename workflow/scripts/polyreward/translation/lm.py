"""Line translation by any Hugging Face causal or sequence-to-sequence language model."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import torch
from babel import Locale
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

from polyreward.logs import announce

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@dataclasses.dataclass(frozen=True)
class LmSettings:
    """How an LM translates. prompt: a template with {source}, {target} (language names in English) and {text}.

    batch_size: lines. max_new_tokens: per line. chat: use the model's chat template. dtype: float32 or bfloat16."""

    prompt: str
    batch_size: int
    max_new_tokens: int
    chat: bool
    dtype: str


class LmTranslator:
    """A language model as a line translator: greedy decoding, the first line of what it says."""

    def __init__(self, folder: str | Path, settings: LmSettings):
        self.settings = settings
        self.seq2seq = AutoConfig.from_pretrained(folder).is_encoder_decoder
        auto = AutoModelForSeq2SeqLM if self.seq2seq else AutoModelForCausalLM
        self.model = auto.from_pretrained(folder, dtype=getattr(torch, settings.dtype)).to(DEVICE).eval()
        self.tokenizer = AutoTokenizer.from_pretrained(folder, padding_side="left")
        if self.tokenizer.pad_token is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token  # masked out, and never trained on here

    @torch.inference_mode()
    def __call__(self, lines: Sequence[str], source: str, target: str) -> list[str]:
        """Translate lines, longest first so that a batch has little padding; returns them in the given order."""
        order = sorted(range(len(lines)), key=lambda i: (-len(lines[i]), i))
        answers = [""] * len(lines)
        for start in range(0, len(order), self.settings.batch_size):
            batch = order[start : start + self.settings.batch_size]
            for index, answer in zip(batch, self._batch([self._prompt(lines[i], source, target) for i in batch]), strict=True):
                answers[index] = answer
            announce(f"translation to {target}: {min(start + len(batch), len(lines))}/{len(lines)} lines")
        return answers

    def _prompt(self, line: str, source: str, target: str) -> str:
        names = {code: Locale.parse(code).get_language_name("en") for code in (source, target)}
        prompt = self.settings.prompt.format(source=names[source], target=names[target], text=line)
        if not self.settings.chat:
            return prompt
        turns = [{"role": "user", "content": prompt}]
        return self.tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)

    def _batch(self, prompts: list[str]) -> list[str]:
        inputs = self.tokenizer(prompts, return_tensors="pt", padding=True, add_special_tokens=not self.settings.chat)
        inputs = {key: value.to(self.model.device) for key, value in inputs.items() if key in ("input_ids", "attention_mask")}
        ids = self.model.generate(
            **inputs,
            max_new_tokens=self.settings.max_new_tokens,
            do_sample=False,
            pad_token_id=self.tokenizer.pad_token_id,
            tokenizer=self.tokenizer,
            stop_strings=None if self.seq2seq else ["\n"],
        )
        new = ids if self.seq2seq else ids[:, inputs["input_ids"].shape[1] :]
        texts = self.tokenizer.batch_decode(new, skip_special_tokens=True)
        return [(text.strip().splitlines() or [""])[0].strip() for text in texts]
