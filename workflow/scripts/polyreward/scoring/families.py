"""From an entry of config.yaml's reward_models to a reward model of its family."""

from pathlib import Path

from polyreward.locals.judge import LocalsJudge
from polyreward.scoring.generative import TEMPLATE
from polyreward.scoring.implicit import LogLikelihood, LogRatio, check_same_tokens
from polyreward.scoring.interface import RewardModel
from polyreward.scoring.local_judge import local_judge
from polyreward.scoring.load import load_causal_lm, load_classifier


def load_reward_model(entry: dict, scoring: dict, cache: str | Path) -> RewardModel:
    """Load a reward model. entry: kind, source (a folder or a hub id), and its family's own keys (README.md lists them).

    A generative one that has `serve`, as devices.serve in config.yaml is written, is served from its folder, not loaded here.

    scoring: {dtype, max_length, token_budget, attention}, whose dtype and max_length an entry may override. cache: a folder for a
    server's replies. Raises PolyrewardError where the entry or the model does not serve."""
    scoring = {**scoring, **{key: entry[key] for key in ("dtype", "max_length") if key in entry}}
    return FAMILIES[entry["kind"]](entry, scoring, cache)


def _classifier(entry: dict, scoring: dict, cache) -> RewardModel:
    options = {key: entry[key] for key in ("revision", "remote_code", "output") if key in entry}
    return load_classifier(entry["source"], **scoring, **options)


def _implicit(entry: dict, scoring: dict, cache) -> RewardModel:
    policy = load_causal_lm(entry["source"], **scoring, revision=entry.get("revision"))
    if "reference" not in entry:
        return LogLikelihood(policy)
    named = entry["reference"]
    reference = load_causal_lm(named["source"], **scoring, revision=named.get("revision"))
    check_same_tokens(policy, reference, entry["source"])
    return LogRatio(policy, reference, entry.get("beta", 0.1))


def _generative(entry: dict, scoring: dict, cache) -> RewardModel:
    asking = {
        "verdict": entry.get("verdict", "labels"),
        "max_new_tokens": entry.get("max_new_tokens", 512),
        "template": entry.get("template", TEMPLATE),
    }
    if "server" in entry:
        from polyreward.scoring.server import server_judge  # its client takes a while to import

        return server_judge(**{**SERVER, **entry["server"]}, **asking, cache=cache)
    if "serve" in entry:
        from polyreward.scoring.served_judge import served_judge  # so does this one's

        return served_judge(entry["source"], entry["serve"], scoring["dtype"], scoring["max_length"], **asking)
    lm = load_causal_lm(entry["source"], **scoring, revision=entry.get("revision"))
    if asking["verdict"] in LAYOUT:
        return LocalsJudge(lm, LAYOUT[asking["verdict"]], asking["max_new_tokens"])
    return local_judge(lm, **asking)


LAYOUT = {"criteria": True, "no-criteria": False}  # verdicts in the layout of Think-as-Locals: with criteria first or at once
FAMILIES = {"classifier": _classifier, "implicit": _implicit, "generative": _generative}
SERVER = {"concurrency": 8, "timeout_s": 120, "retries": 5, "api_key_variable": "JUDGE_API_KEY", "seed": 42}
