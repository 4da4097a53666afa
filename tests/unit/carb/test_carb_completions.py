"""Completions: every written answer by one generator, facts left as they are, right and wrong ones drawn
alike."""

from collections import Counter

from carb_data import possible
from support import script

from polyreward.scoring.families import load_reward_model
from polyreward.scoring.local_judge import LocalBackend
from polyreward.scoring.server import ApiBackend

completed = script("prepare/carb_completions").completed

LANGUAGES = {"en": "English"}


class Writer:
    """A generator that says what it is and what it was asked."""

    def __init__(self, name, said="{name}: {reference}"):
        self.name, self.said, self.requests, self.backend = name, said, [], self

    def replies(self, requests, job):
        self.requests += [request[0]["content"] for request in requests]
        references = [text.split("agree: ")[1].split("\n")[0] for text in self.requests]
        return [f" {self.said.format(name=self.name, reference=reference)}\n" for reference in references]


def run(items, *writers, seed=1):
    return completed(
        items, {writer.name: lambda writer=writer: writer for writer in writers}, LANGUAGES, seed
    )


def answers(item):
    return [item["chosen"], *item["answers"]]


def test_every_answer_is_written_from_its_reference_by_its_generator():
    items = [possible(f"t{number}_en") for number in range(20)]
    found = run(items, Writer("weak"), Writer("strong"))
    for before, after in zip(items, found, strict=True):
        for old, new in zip(answers(before), answers(after), strict=True):
            assert new == {**old, "generator": new["generator"], "text": f"{new['generator']}: {old['text']}"}
    for drawn in (
        [item["chosen"] for item in found],
        [answer for item in found for answer in item["answers"]],
    ):
        assert Counter(answer["generator"] for answer in drawn).keys() == {"weak", "strong"}


def test_a_request_holds_the_language_the_prompt_and_the_reference():
    writer = Writer("one")
    run([possible()], writer)
    assert len(writer.requests) == 6
    assert all(part in writer.requests[0] for part in ("in English", "What about t_en?", "A bow."))


def test_what_is_data_is_left_as_it_is_and_loads_nothing():
    item = possible(is_fact=True)
    assert completed([item], {"never": None}, LANGUAGES, 1) == [item]


def test_an_empty_reply_leaves_the_reference():
    (item,) = run([possible()], Writer("mute", said=""))
    assert [answer["text"] for answer in answers(item)] == [answer["text"] for answer in answers(possible())]


def test_the_draw_depends_on_the_seed_and_not_on_other_items():
    many = [possible(f"t{number}_en") for number in range(9)]
    writers = [Writer("weak"), Writer("strong")]
    assert run(many, *writers)[3] == run(many[3:4], Writer("weak"), Writer("strong"))[0]
    assert run(many, Writer("weak"), Writer("strong")) != run(many, Writer("weak"), Writer("strong"), seed=2)


SCORING = {"dtype": "float32", "max_length": 512, "token_budget": 512, "attention": "sdpa"}


def test_a_generator_is_a_model_that_is_run_here_or_one_on_a_server(tiny_gemma, tmp_path):
    here = load_reward_model(
        {"kind": "generative", "source": str(tiny_gemma), "max_new_tokens": 3}, SCORING, tmp_path
    )
    assert isinstance(here.backend, LocalBackend)
    (item,) = completed([possible()], {"tiny": lambda: here}, LANGUAGES, 1)
    assert all(answer["generator"] == "tiny" for answer in answers(item))
    server = {"url": "http://127.0.0.1:1/v1", "model": "m"}
    assert isinstance(
        load_reward_model({"kind": "generative", "server": server}, SCORING, tmp_path).backend, ApiBackend
    )
