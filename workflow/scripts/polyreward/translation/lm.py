"""Translation by a Hugging Face causal or sequence-to-sequence language model."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from babel import Locale
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

from polyreward.core.errors import PolyrewardError
from polyreward.core.logs import announce
from polyreward.core.seals import intact
from polyreward.models.batches import left_padded
from polyreward.models.devices import device
from polyreward.models.generation import Writing, declared_ends, ends_of, generation_config
from polyreward.models.serving import server_of
from polyreward.settings.base import Serve
from polyreward.settings.translation import LmEngine, Seq2seqEngine
from polyreward.translation.engines import Reply

if TYPE_CHECKING:
    from polyreward.models.serving import Server


@contextmanager
def lm_translator(
    folder: str | Path, settings: LmEngine | Seq2seqEngine, precision: str, serve: Serve | None
) -> "Iterator[LmTranslator]":
    """Yield a language model as a translator; a causal one may be served, by `serve`."""
    causal = not AutoConfig.from_pretrained(intact(folder)).is_encoder_decoder
    with server_of(folder, precision, serve if causal else None) as server:
        yield LmTranslator(folder, settings, precision, server)


class LmTranslator:
    """A language model that translates with greedy decoding, on a server or loaded here."""

    def __init__(
        self,
        folder: str | Path,
        settings: LmEngine | Seq2seqEngine,
        precision: str = "float32",
        server: "Server | None" = None,
    ):
        self.folder, self.settings, self.server = folder, settings, server
        self.stop = [] if settings.unit == "text" else ["\n"]  # where an answer ends
        self.tokenizer = AutoTokenizer.from_pretrained(folder, padding_side="left")
        if self.tokenizer.pad_token is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token  # masked out, and never trained on here
        if server is None:
            self.seq2seq = AutoConfig.from_pretrained(folder).is_encoder_decoder
            auto = AutoModelForSeq2SeqLM if self.seq2seq else AutoModelForCausalLM
            self.model = auto.from_pretrained(folder, dtype=precision).to(device()).eval()

    def __call__(self, pieces: Sequence[str], source: str, target: str) -> list[Reply]:
        """Translate pieces, longest first to reduce padding; return them in the given order."""
        first_token = None
        if self.settings.codes:
            self.tokenizer.src_lang = self.settings.codes[source]
            first_token = self._token_of(self.settings.codes[target])
        order = sorted(range(len(pieces)), key=lambda i: (-len(pieces[i]), i))
        prompts = [self._prompt(pieces[i], source, target) for i in order]
        special = not self.settings.chat
        ids = self.tokenizer(prompts, add_special_tokens=special)["input_ids"] if prompts else []
        job = f"translation to {target}"
        said = self._served(ids, job) if self.server else self._generated(ids, job, first_token)
        answers = [Reply("")] * len(pieces)
        for index, (text, whole) in zip(order, said, strict=True):
            lines = [text] if self.settings.unit == "text" else text.strip().splitlines() or [""]
            answers[index] = Reply(lines[0].strip(), whole)
        return answers

    def _token_of(self, code: str) -> int:
        known = self.tokenizer.get_vocab()
        if code not in known:
            raise PolyrewardError(
                f"{self.folder}: its tokenizer has no token `{code}`; correct `codes` of the engine in"
                " config.yaml's translation.engines to what the model calls its languages"
            )
        return known[code]

    def _prompt(self, line: str, source: str, target: str) -> str:
        names = {code: Locale.parse(code).get_language_name("en") for code in (source, target)}
        prompt = self.settings.prompt.format(source=names[source], target=names[target], text=line)
        if not self.settings.chat:
            return prompt
        turns = [{"role": "user", "content": prompt}]
        return self.tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)

    def _served(self, prompts: list[list[int]], job: str) -> list[Reply]:
        own = generation_config(self.folder)
        # What the model's own settings say of repetition counts here, as it does with transformers.
        writing = Writing(
            self.settings.max_new_tokens,
            declared_ends(own),
            self.stop,
            repetition_penalty=own.repetition_penalty or 1.0,
        )
        return [Reply(text, whole) for text, whole in self.server.completions(prompts, writing, job)]

    @torch.inference_mode()
    def _generated(self, prompts: list[list[int]], job: str, first_token: int | None) -> list[Reply]:
        found = []
        forced = {} if first_token is None else {"forced_bos_token_id": first_token}
        stop = [] if self.seq2seq else self.stop
        for start in range(0, len(prompts), self.settings.batch_size):
            batch = prompts[start : start + self.settings.batch_size]
            inputs = left_padded(batch, self.tokenizer.pad_token_id, self.model.device)
            ids = self.model.generate(
                **inputs,
                **forced,
                max_new_tokens=self.settings.max_new_tokens,
                do_sample=False,
                num_beams=1,
                pad_token_id=self.tokenizer.pad_token_id,
                tokenizer=self.tokenizer,
                stop_strings=stop or None,
            )
            new = ids if self.seq2seq else ids[:, inputs["input_ids"].shape[1] :]
            texts = self.tokenizer.batch_decode(new, skip_special_tokens=True)
            found += [
                Reply(text, self._is_whole(row, text, stop))
                for row, text in zip(new.tolist(), texts, strict=True)
            ]
            announce(f"{job}: {len(found)}/{len(prompts)} pieces")
        return found

    def _is_whole(self, tokens: list[int], text: str, stop: list[str]) -> bool:
        """Return whether an answer ended by itself; a sequence-to-sequence model's first token starts it."""
        ends = ends_of(self.model.generation_config, self.tokenizer)
        said = tokens[1:] if self.seq2seq else tokens
        return (
            len(said) < self.settings.max_new_tokens
            or any(token in ends for token in said)
            or any(end in text for end in stop)
        )
