"""Languages that were scored stay scored: when a later one fails, the next run of the job takes them up."""

import json
from pathlib import Path

import pytest
import torch
from snakemake.iocontainers import Namedlist
from support import script
from tiny_models import ROWS

from polyreward.core.errors import UnavailableError
from polyreward.core.tables import read_scores, unavailable_reasons

LANGUAGES = ("en", "es", "ko")


class Job:
    """What a script of Snakemake sees of a job that scores three languages."""

    def __init__(self, folder: Path, model: Path, code: str = "1", may_be_missing: bool = False):
        rows = [str(folder / f"rows/b/{language}.jsonl") for language in LANGUAGES]
        for path in rows:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
        self.input = Namedlist([str(model), *rows])
        self.input._set_name("rows", 1, end=4)
        self.output = [str(folder / f"scores/b/rm/{language}.parquet") for language in LANGUAGES]
        self.wildcards = Namedlist(fromdict={"scorer": "rm"})
        self.cache = folder / "scores/replies/rm"
        self.params = Namedlist(fromdict={
            "entry": {"kind": "classifier", "source": str(model)},
            "scoring": {"dtype": "float32", "max_length": 128, "token_budget": 200},
            "cache": str(self.cache),
            "may_be_missing": may_be_missing,
            "top_layers": 0,
            "code": code,
        })  # fmt: skip

    def ends(self, how: Exception | None = None, at: str = "ko") -> list[str]:
        """Run it; return the languages that it scored. how: what is raised at a language."""
        module, scored = script("score/ready_made_scores"), []
        load = module.load_reward_model

        class Failing:
            def __init__(self, model):
                self.model, self.exact = model, model.exact

            def score(self, conversations, label):
                if how and Path(label).stem == at:
                    raise how
                scored.append(Path(label).stem)
                return self.model.score(conversations, label)

        module.load_reward_model = lambda *given: Failing(load(*given))
        try:
            module.main(self)
        except Exception:
            for path in self.output:  # as Snakemake does
                Path(path).unlink(missing_ok=True)
            raise
        finally:
            module.load_reward_model = load
        return scored


NO_MEMORY = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")


def bytes_of(job):
    return [Path(path).read_bytes() for path in job.output]


def test_languages_before_one_without_memory_are_not_scored_again_and_no_byte_differs(trained, tmp_path):
    whole = Job(tmp_path / "whole", trained["tiny-gemma"])
    assert whole.ends() == list(LANGUAGES)
    cut = Job(tmp_path / "cut", trained["tiny-gemma"], may_be_missing=True)
    with pytest.raises(torch.OutOfMemoryError):
        cut.ends(NO_MEMORY)
    assert not any(map(Path.exists, map(Path, cut.output)))
    assert cut.ends() == ["ko"]
    assert bytes_of(cut) == bytes_of(whole)
    assert not cut.cache.exists() and not whole.cache.exists()  # nothing is left behind


@pytest.mark.parametrize("change", ["code", "rows", "model"])
def test_what_depends_on_other_code_rows_or_weights_is_scored_again(trained, tmp_path, change):
    with pytest.raises(torch.OutOfMemoryError):
        Job(tmp_path, trained["tiny-gemma"]).ends(NO_MEMORY)
    model = trained["tiny-llama" if change == "model" else "tiny-gemma"]
    job = Job(tmp_path, model, code="2" if change == "code" else "1")
    if change == "rows":
        rows = Path(job.input.rows[2])
        rows.write_text(json.dumps(ROWS[0]) + "\n", encoding="utf-8")
    assert job.ends() == list(LANGUAGES)
    assert not job.cache.exists()  # also what was kept of the other


def test_a_model_that_is_gone_at_a_later_language_has_rows_for_those_before_it(trained, tmp_path):
    job = Job(tmp_path, trained["tiny-gemma"], may_be_missing=True)
    job.ends(UnavailableError("the server has no such model"), at="es")
    assert list(read_scores(job.output)["language"].unique()) == ["en"]
    assert [bool(unavailable_reasons(path)) for path in job.output] == [False, True, True]
    assert job.ends() == ["es", "ko"]  # `make again`, and it is back
