"""The settings: names, addresses and code that could do harm."""

import pytest
from settings_data import problems


@pytest.mark.parametrize(
    "url",
    [
        "https://me:s3cret@host/v1",
        "https://s3cret@host/v1",
        "http://host/v1?key=s3cret",
        "http://host/v1#s3cret",
        "host/v1",
    ],
)
def test_an_address_that_holds_a_secret_is_refused_without_saying_it(url):
    server = {"kind": "generative", "server": {"url": url, "model": "m"}}
    for name, change in (
        ("reward_models", {"reward_models": {"r": server}}),
        ("carb", {"carb__generators": {"r": server}}),
    ):
        (found,) = problems(**change)
        assert found.startswith(name)
        assert "an environment variable holds a key" in found
        assert "s3cret" not in found
    (found,) = problems(
        reward_models={"r": {**server, "server": {"url": url, "model": "m", "sed": 1}}, "t": 3}
    )[:1]
    assert "s3cret" not in found


@pytest.mark.parametrize(
    "name",
    ["..", ".", "-a", "a/b", "a\nb", "a\n", "a b", "*", "$(id)", "{x}", "a_b", "", "\u202ea", "a;b", 1],
)
def test_a_name_that_would_be_another_path_option_or_wildcard_is_refused(name):
    entry = {"kind": "implicit", "model": "gemma"}
    own = {"path": __file__, "language": "en"}
    for changes in (
        {"reward_models": {name: entry}},
        {"own_benchmarks": {name: own}},
        {"carb__generators": {name: entry}},
    ):
        assert any(
            "match pattern" in problem or "valid string" in problem for problem in problems(**changes)
        ), changes


@pytest.mark.parametrize("name", ["length", "tfidf-answer", "loglik-gemma", "probe-gemma", "pmi-smollm"])
def test_a_reward_model_is_not_called_as_a_baseline(name):
    (found,) = problems(reward_models={name: {"kind": "implicit", "model": "gemma"}})
    assert found.startswith(f"reward_models.{name}: ") and "choose another name" in found


@pytest.mark.parametrize("name", ["train", "dev", "candidates", "replies", "passages", "carb"])
def test_a_benchmark_is_not_called_as_another_folder(name):
    (found,) = problems(own_benchmarks={name: {"path": __file__, "language": "en"}})
    assert found.endswith("choose another name")


@pytest.mark.parametrize("revision", [None, "main", "v1", "0123abc", "refs/pr/1"])
def test_remote_code_needs_a_commit(revision):
    entry = {
        "kind": "classifier",
        "hub": "a/b",
        "remote_code": True,
        **({"revision": revision} if revision else {}),
    }
    (found,) = problems(reward_models={"r": entry})
    assert "pin it by `revision`, a commit of the hub" in found
    assert problems(reward_models={"r": {**entry, "revision": "a" * 40}}) == []
