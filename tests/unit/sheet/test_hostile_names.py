"""The settings: names, addresses and code that could do harm."""

import pytest
from settings_data import problems


@pytest.mark.parametrize("url", [
    "https://me:s3cret@host/v1", "https://s3cret@host/v1", "http://host/v1?key=s3cret", "http://host/v1#s3cret", "host/v1",
])  # fmt: skip
def test_an_address_that_holds_a_secret_is_refused_without_saying_it(url):
    server = {"url": url, "model": "m"}
    for setting in ("reward_models", "carb__generators"):
        (found,) = problems(**{setting: {"r": {"kind": "generative", "server": server}}})
        assert found.startswith(setting.replace("__", "."))
        assert "an environment variable holds a key" in found
        assert "s3cret" not in found
    found = problems(reward_models={"r": {"kind": "generative", "server": {**server, "sed": 1}}, "t": 3})
    assert found and not [problem for problem in found if "s3cret" in problem]


@pytest.mark.parametrize(
    "name",
    ["..", ".", "-a", "a/b", "a\nb", "a\n", "a b", "*", "$(id)", "{x}", "a_b", "", "\u202ea", "a;b", 1],
)
def test_a_name_that_would_be_another_path_option_or_wildcard_is_refused(name):
    entry, own = {"kind": "implicit", "model": "gemma"}, {"path": __file__, "language": "en"}
    for setting, one in {"reward_models": entry, "own_benchmarks": own, "carb__generators": entry}.items():
        found = problems(**{setting: {name: one}})
        assert any("match pattern" in problem or "valid string" in problem for problem in found), setting


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
    entry = {"kind": "classifier", "hub": "a/b", "remote_code": True}
    (found,) = problems(reward_models={"r": {**entry, **({"revision": revision} if revision else {})}})
    assert "pin it by `revision`, a commit of the hub" in found
    assert problems(reward_models={"r": {**entry, "revision": "a" * 40}}) == []
