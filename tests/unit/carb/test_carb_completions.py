"""Completions: every written answer by one generator, facts left as they are, right and wrong ones drawn
alike."""

from carb_data import possible, requests_of, writer
from support import script

from polyreward.scoring.families import load_reward_model
from polyreward.scoring.local_judge import LocalBackend
from polyreward.scoring.server import ApiBackend

completed = script("prepare/carb_completions").completed

LANGUAGES = {"en": "English"}


def quoting(name):
    return lambda: writer(lambda text: f" {name}: {text.split('agree: ')[1].splitlines()[0]}\n")


def run(items, seed=1):
    return completed(items, {name: quoting(name) for name in ("weak", "strong")}, LANGUAGES, seed)


def answers(item):
    return [item["chosen"], *item["answers"]]


def test_every_answer_is_written_from_its_reference_by_its_generator():
    items = [possible(f"t{number}_en") for number in range(20)]
    found = run(items)
    for before, after in zip(items, found, strict=True):
        for old, new in zip(answers(before), answers(after), strict=True):
            assert new == {**old, "generator": new["generator"], "text": f"{new['generator']}: {old['text']}"}
    assert {item["chosen"]["generator"] for item in found} == {"weak", "strong"}
    assert {answer["generator"] for item in found for answer in item["answers"]} == {"weak", "strong"}
    assert run(items[3:4])[0] == found[3]  # a draw depends on the seed and not on other items
    assert run(items, seed=2) != found


def test_a_request_holds_the_language_the_prompt_and_the_reference_which_an_empty_reply_leaves():
    mute = writer(lambda text: " ")
    (item,) = completed([possible()], {"mute": lambda: mute}, LANGUAGES, 1)
    assert len(requests_of(mute)) == 6
    assert all(part in requests_of(mute)[0] for part in ("in English", "What about t_en?", "A bow."))
    assert [answer["text"] for answer in answers(item)] == [answer["text"] for answer in answers(possible())]
    data = possible(is_fact=True)  # is left as it is, and loads nothing
    assert completed([data], {"never": None}, LANGUAGES, 1) == [data]


def test_a_generator_is_a_model_that_is_run_here_or_one_on_a_server(tiny_gemma, tmp_path):
    scoring = {"dtype": "float32", "max_length": 512, "token_budget": 512, "attention": "sdpa"}
    here = {"source": str(tiny_gemma), "max_new_tokens": 3}
    server = {"server": {"url": "http://127.0.0.1:1/v1", "model": "m"}}
    here, server = (
        load_reward_model({"kind": "generative", **entry}, scoring, tmp_path) for entry in (here, server)
    )
    assert isinstance(here.backend, LocalBackend) and isinstance(server.backend, ApiBackend)
    (item,) = completed([possible()], {"tiny": lambda: here}, LANGUAGES, 1)
    assert all(answer["generator"] == "tiny" for answer in answers(item))
