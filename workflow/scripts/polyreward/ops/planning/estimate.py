"""What work costs: GPU hours, money, disk, and what does not fit."""

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from polyreward.core.errors import PolyrewardError
from polyreward.ops.planning.sized_scale import SizedScale

GIB = 1024**3


def gpu_hours(table: pd.DataFrame, scale: SizedScale) -> pd.Series:
    """Return the GPU hours of each row of a work table; nan where the model's size is not known, 0 for a
    server's."""

    def hours(row) -> float:
        if row["kind"] == "server":
            return 0.0
        billions, speed = scale.parameters_b(row["model"]), scale.facts["tokens_per_s"]
        if row["kind"] == "train":
            seconds = (
                row["read_tokens"] / speed["train"]["value"] * _operations(row["rule"], row["model"], scale)
            )
        else:
            seconds = row["read_tokens"] / speed["score"]["value"]
        if row["written_tokens"]:
            seconds += row["written_tokens"] / speed[row["kind"]]["value"]
        return float("nan") if billions is None else seconds * billions / 3600

    return table.apply(hours, axis=1)


def dollars(table: pd.DataFrame, scale: SizedScale) -> pd.DataFrame:
    """Return what servers are asked, {model, read and written tokens, USD}; nan where a model has no price
    here."""
    asked = table[table["kind"] == "server"]
    asked = asked.assign(model=[scale.judges()[name]["server"]["model"] for name in asked["model"]])
    asked = asked.groupby("model", sort=False, as_index=False)[["read_tokens", "written_tokens"]].sum()
    prices = [
        scale.facts["prices"].get(model, {"read": float("nan"), "written": float("nan")})
        for model in asked["model"]
    ]
    cost = [
        (read * price["read"] + written * price["written"]) / 1e6
        for read, written, price in zip(asked["read_tokens"], asked["written_tokens"], prices, strict=True)
    ]
    return asked.assign(usd=cost)


def disk_gib(scale: SizedScale) -> dict[str, float]:
    """Return GiB by what takes them; models whose size is not known are left out."""
    config, bytes_of = scale.config, scale.facts["bytes_per_parameter"]
    alignment, judges = config["alignment"], config["think_as_locals"]
    named = dict.fromkeys([*config["off_the_shelf"], *judges["others"]])
    shelf = [name for name in named if "hub" in scale.judges()[name]]
    rewarding = config["bases"] * (len(scale.languages) * len(config["reward_model_seeds"]))
    writing = [alignment["policy"]] * (2 * len(alignment["languages"])) + [judges["base"]] * len(
        judges["runs"]
    )
    writing += [scale.config["carb"]["grpo"]["policy"]] * len(scale.rewarding()) if scale.rewarding() else []
    largest = max([*rewarding, *writing], key=lambda name: scale.parameters_b(name) or 0)

    def total(models, per_parameter: float) -> float:
        return sum((scale.parameters_b(model) or 0) * 1e9 * per_parameter for model in models) / GIB

    size = scale.train_pairs()
    texts = (
        2
        * size.rows
        * size.tokens
        * scale.facts["text"]["characters_per_token"]
        * scale.longer(scale.languages)
    )
    return {
        "models from the hub or packages": total(
            [*scale.base_models(), *shelf], bytes_of["bfloat16_on_disk"]
        ),
        "trained reward models": total(rewarding, bytes_of["trained_on_disk"]),
        "trained policies and judges": total(writing, bytes_of["trained_on_disk"]),
        "two checkpoints of the largest training": total([largest], 2 * bytes_of["train_full"]),
        "texts in all languages": texts / GIB,
    }


def lacking_disk(scale: SizedScale, root: Path) -> list[str]:
    """Return a line where the disk that the scale's results are on, or will be, has less free than the scale
    takes."""
    needed, results = sum(disk_gib(scale).values()), root / scale.config["results"]
    there = next(path for path in (results, *results.parents) if path.exists())
    free = shutil.disk_usage(there).free / GIB
    if free >= needed:
        return []
    return [
        f"The scale takes {needed:,.0f} GiB of disk, and that of {scale.config['results']} has {free:,.0f}"
        " free (what is made already needs no more). Free some, or take a larger disk: `results` for what is"
        " made, HF_HOME for models from the hub"
    ]


def too_large(table: pd.DataFrame, scale: SizedScale) -> list[str]:
    """Return a line for each model that does not fit the GPU, with the rules that need it there."""
    gpu, bytes_of = scale.facts["gpu"], scale.facts["bytes_per_parameter"]
    room = gpu["memory_gib"] * (1 - scale.facts["activations"])
    rules: dict[str, list[str]] = {}
    for row in table[table["kind"] != "server"].to_dict("records"):
        how, devices = _held(row["rule"], row["kind"], row["model"], scale)
        need = (scale.parameters_b(row["model"]) or 0) * 1e9 * bytes_of[how] / devices / GIB
        if need > room:
            over = f"on each of {devices} GPUs" if devices > 1 else "on one GPU"
            rules.setdefault(f"{row['model']} needs {need:.0f} GiB {over} ({how})", []).append(row["rule"])
    judge, policy = scale.config["think_as_locals"], scale.config["carb"]["grpo"]
    lines = _vllm_too_large("think_as_locals.grpo", "locals_grpo", judge["grpo"], judge["base"], scale)
    lines += _vllm_too_large("carb.grpo", "grpo_policy", policy, policy["policy"], scale) if policy else []
    return lines + [
        f"{what}, where {gpu['name']} has {room:.0f} beside activations: {', '.join(dict.fromkeys(of))}. Take"
        " larger GPUs; or, where it only judges, spread it (`gpus` of its entry), or serve it and give its"
        " `server`"
        for what, of in rules.items()
    ]


def _vllm_too_large(where: str, rule: str, grpo: dict, base: str, scale: SizedScale) -> list[str]:
    """Return a line for each way in which vLLM does not fit beside GRPO on a GPU: in its own share, and with
    the training.

    where: the section of the settings. rule: that trains; a reward model lies beside a policy."""
    billions = scale.parameters_b(base)
    if not grpo["vllm"] or billions is None:
        return []
    memory, bytes_of = scale.facts["gpu"]["memory_gib"], scale.facts["bytes_per_parameter"]
    share = grpo["vllm_gpu_share"] * memory
    copy = billions * 1e9 * bytes_of["bfloat16"] / grpo["vllm_tensor_parallel"] / GIB
    how, devices = _held(rule, "train", base, scale)
    training, lines = billions * 1e9 * bytes_of[how] / devices / GIB, []
    rewarding = (
        [scale.parameters_b(name) or 0 for name in scale.rewarding().values()]
        if rule == "grpo_policy"
        else []
    )
    training += max(rewarding, default=0) * 1e9 * bytes_of["bfloat16"] / GIB
    if copy * 1.2 > share:  # a fifth for what it keeps of the replies under way
        lines.append(
            f"{base}: vLLM's copy takes {copy:.0f} GiB of each GPU, and {where}.vllm_gpu_share gives it"
            f" {share:.0f}: raise that, or vllm_tensor_parallel"
        )
    if training + share > memory:
        lines.append(
            f"{base}: training takes {training:.0f} GiB of each GPU and vLLM {share:.0f}, where it has"
            f" {memory:.0f}: lower {where}.vllm_gpu_share, raise vllm_tensor_parallel, or take more or larger"
            " GPUs"
        )
    return lines


def missing_keys(scale: SizedScale, environment: Mapping[str, str]) -> list[str]:
    """Return a line for each key that the scale's models, data or servers want and that is not set.

    environment: variables and their values."""
    datasets = scale.catalogs["datasets"]
    terms = {name: scale.catalogs["models"][name]["terms"] for name in scale.base_models()}
    terms |= {name: datasets[name]["terms"] for name in scale.sizes}
    gated = [name for name in sorted(terms) if "gated" in terms[name]]
    lines = []
    if gated and not environment.get("HF_TOKEN"):
        lines.append(
            f"HF_TOKEN is not set, and {', '.join(gated)} are gated: accept their terms on the hub and set"
            " it, or `hf auth login`"
        )
    asked = [
        *scale.config["off_the_shelf"],
        *scale.config["reward_models"],
        *scale.config["carb"]["generators"],
        scale.config["alignment"]["judge"],
        scale.config["alignment"]["reference"],
        *scale.config["think_as_locals"]["others"],
    ]
    servers = {
        name: scale.judges()[name]["server"] for name in asked if name and "server" in scale.judges()[name]
    }
    variables: dict[str, list[str]] = {}
    for name, server in servers.items():
        if "api_key_variable" in server and not environment.get(server["api_key_variable"]):
            variables.setdefault(server["api_key_variable"], []).append(name)
    return [
        *lines,
        *(
            f"{variable} is not set, and the server of {', '.join(names)} wants it"
            for variable, names in variables.items()
        ),
    ]


def _held(rule: str, kind: str, model: str, scale: SizedScale) -> tuple[str, int]:
    """Return how a rule holds a model, a key of bytes_per_parameter, and over how many GPUs."""
    if kind != "train":
        entry = scale.judges().get(model, {})
        taken = entry.get("dtype", scale.config["precision"])
        # the cards of throughputs.yaml multiply bfloat16, as gpu-check's do that pass
        return "bfloat16" if taken == "auto" else taken, entry.get("gpus", 1)
    settings = _training(rule, scale)
    if settings["lora"]:
        return "train_lora", 1
    return "train_full_8bit" if "8bit" in settings.get("optimizer", "") else "train_full", scale.facts["gpu"][
        "count"
    ]


def _operations(rule: str, model: str, scale: SizedScale) -> float:
    """Return the operations of a training over those that tokens_per_s.train is of."""
    settings, of = _training(rule, scale), scale.facts["train_operations"]
    layers = scale.catalogs["models"].get(model, {}).get("layers")
    share = min(1, settings["lora"]["top_layers"] / layers) if settings["lora"] and layers else 1
    done = of["forward"] + of["recomputed"] * settings["gradient_checkpointing"] + of["backward"] * share
    return (done + of["weight_gradients"] * (not settings["lora"])) / sum(of.values())


def _training(rule: str, scale: SizedScale) -> dict:
    """Return the section of a training's settings."""
    config = scale.config
    return {
        "reward_model": config["reward_model"],
        "dpo_policy": config["alignment"]["dpo"],
        "sft_policy": config["alignment"]["sft"],
        "locals_grpo": config["think_as_locals"]["grpo"],
        "grpo_policy": config["carb"]["grpo"],
        "locals_warmup": config["think_as_locals"]["warmup"],
    }[rule]


def jobs_per_rule(targets: Sequence[str], configfiles: Sequence[str], root: Path) -> pd.DataFrame:
    """Return (rule, jobs) of a dry run of Snakemake from nothing.

    Raises PolyrewardError with Snakemake's own words where it does not resolve."""
    command = [sys.executable, "-m", "snakemake", "-n", "--forceall", "--cores", "1", *targets]
    ran = subprocess.run(
        [*command, *(["--configfile", *configfiles] if configfiles else [])],
        cwd=root,
        text=True,
        capture_output=True,
        check=False,
    )
    if ran.returncode:
        raise PolyrewardError(f"the scale does not resolve:\n{ran.stdout}{ran.stderr}")
    stats = ran.stdout.split("\njob ", 1)[-1].split("\ntotal", 1)[0]
    return pd.DataFrame(re.findall(r"^(\w+) +(\d+)$", stats, re.MULTILINE), columns=["rule", "jobs"]).astype(
        {"jobs": int}
    )
