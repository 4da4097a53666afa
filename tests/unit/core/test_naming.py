"""Names, paths, seeds, and lists of problems."""

import hashlib

import pytest

from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.core.naming import ModelName
from polyreward.core.seeds import job_seed


@pytest.mark.parametrize(("name", "parts"), [
    ("gemma-3-270m_en", ("gemma-3-270m", "en", 1)),
    ("SmolLM2-1.7B_kor", ("SmolLM2-1.7B", "kor", 1)),
    ("tiny_zh_seed12", ("tiny", "zh", 12)),
])  # fmt: skip
def test_a_model_name_is_read_and_written_back(name, parts):
    model = ModelName.parse(name)
    assert (model.base, model.language, model.seed) == parts
    assert str(model) == name


@pytest.mark.parametrize("name", [
    *("tiny", "tiny_", "tiny_EN", "tiny_english", "tiny_en_seed", "tiny_en_seed0", "tiny_en\n"),
    *("a_b_en", "../x_en", ""),
])  # fmt: skip
def test_what_is_no_model_name_is_refused_by_name(name):
    with pytest.raises(ValueError, match=f"`{name}` is no model name; write <base>_<language>"):
        ModelName.parse(name)


def test_a_seed_is_the_first_four_bytes_of_the_key_s_sha256():
    assert job_seed(42, "train", 3) == int(hashlib.sha256(b"42/train/3").hexdigest()[:8], 16)


@pytest.mark.parametrize(
    ("problems", "heading"), [(["x"], "here: 1 problem"), (["x", "y"], "here: 2 problems")]
)
def test_problems_are_counted_and_listed(problems, heading):
    with pytest.raises(PolyrewardError) as caught:
        raise_all(iter(problems), "here")
    assert str(caught.value).splitlines() == [heading, *(f"  - {problem}" for problem in problems)]
