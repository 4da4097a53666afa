"""Line translation by any Hugging Face causal or sequence-to-sequence language model."""

import dataclasses
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from babel import Locale
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

from polyreward.core.logs import announce
from polyreward.core.seals import intact
from polyreward.models.batches import left_padded
from polyreward.models.generation import Writing, declared_ends, generation_config
from polyreward.models.precision import torch_dtype
from polyreward.models.serving import server_of

if TYPE_CHECKING:
    from polyreward.models.serving import Server

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@dataclasses.dataclass(frozen=True)
class LmSettings:
    """How an LM translates. prompt: a template with {source}, {target} (language names in English) and {text}.

    batch_size: lines. max_new_tokens: per line. chat: use the model's chat template. dtype: as precision.dtype_of has it."""

    prompt: str
    batch_size: int
    max_new_tokens: int
    chat: bool
    dtype: str


@contextmanager
def lm_translator(folder: str | Path, settings: LmSettings, serve: dict | None) -> "Iterator[LmTranslator]":
    """Yield a language model as a line translator; served as `serve` (`devices.serve` of config.yaml) says, if it is causal."""
    causal = not AutoConfig.from_pretrained(intact(folder)).is_encoder_decoder
    with server_of(folder, settings.dtype, serve if causal else None) as server:
        yield LmTranslator(folder, settings, server)


class LmTranslator:
    """A language model as a line translator: greedy decoding, the first line of what it says.

    server: one that has the model; without, it is loaded here."""

    def __init__(self, folder: str | Path, settings: LmSettings, server: "Server | None" = None):
        self.folder, self.settings, self.server = folder, settings, server
        self.tokenizer = AutoTokenizer.from_pretrained(folder, padding_side="left")
        if self.tokenizer.pad_token is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token  # masked out, and never trained on here
        if server is None:
            self.seq2seq = AutoConfig.from_pretrained(folder).is_encoder_decoder
            auto = AutoModelForSeq2SeqLM if self.seq2seq else AutoModelForCausalLM
            self.model = auto.from_pretrained(folder, dtype=torch_dtype(settings.dtype)).to(DEVICE).eval()

    def __call__(self, lines: Sequence[str], source: str, target: str) -> list[str]:
        """Translate lines, longest first so that a batch has little padding; returns them in the given order."""
        order = sorted(range(len(lines)), key=lambda i: (-len(lines[i]), i))
        prompts = self._ids([self._prompt(lines[i], source, target) for i in order])
        said = (self._generated if self.server is None else self._served)(prompts, f"translation to {target}")
        answers = [""] * len(lines)
        for index, text in zip(order, said, strict=True):
            answers[index] = (text.strip().splitlines() or [""])[0].strip()
        return answers

    def _prompt(self, line: str, source: str, target: str) -> str:
        names = {code: Locale.parse(code).get_language_name("en") for code in (source, target)}
        prompt = self.settings.prompt.format(source=names[source], target=names[target], text=line)
        if not self.settings.chat:
            return prompt
        turns = [{"role": "user", "content": prompt}]
        return self.tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)

    def _ids(self, prompts: list[str]) -> list[list[int]]:
        return self.tokenizer(prompts, add_special_tokens=not self.settings.chat)["input_ids"] if prompts else []

    def _served(self, prompts: list[list[int]], job: str) -> list[str]:
        own = generation_config(self.folder)
        # What the model's own settings say of repetition counts here, as it does with transformers.
        writing = Writing(
            self.settings.max_new_tokens, declared_ends(own), ["\n"], repetition_penalty=own.repetition_penalty or 1.0
        )
        return self.server.texts(prompts, writing, job)

    @torch.inference_mode()
    def _generated(self, prompts: list[list[int]], job: str) -> list[str]:
        texts = []
        for start in range(0, len(prompts), self.settings.batch_size):
            batch = prompts[start : start + self.settings.batch_size]
            inputs = left_padded(batch, self.tokenizer.pad_token_id, self.model.device)
            ids = self.model.generate(
                **inputs,
                max_new_tokens=self.settings.max_new_tokens,
                do_sample=False,
                pad_token_id=self.tokenizer.pad_token_id,
                tokenizer=self.tokenizer,
                stop_strings=None if self.seq2seq else ["\n"],
            )
            new = ids if self.seq2seq else ids[:, inputs["input_ids"].shape[1] :]
            texts += self.tokenizer.batch_decode(new, skip_special_tokens=True)
            announce(f"{job}: {len(texts)}/{len(prompts)} lines")
        return texts
