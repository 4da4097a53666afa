"""The plan of a scale as text: tables and what a reader should know of them."""

import os
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from polyreward.ops.planning.estimate import (
    disk_gib,
    dollars,
    gpu_hours,
    jobs_per_rule,
    lacking_disk,
    missing_keys,
    too_large,
)
from polyreward.ops.planning.rules import originals, with_work
from polyreward.ops.planning.sized_scale import SizedScale
from polyreward.ops.planning.work import work


def plan_text(scale: SizedScale, targets: Sequence[str], configfiles: Sequence[str], root: Path) -> str:
    """Return the whole plan in Markdown."""
    table = work(scale).assign(gpu_hours=lambda table: gpu_hours(table, scale))
    jobs = jobs_per_rule(targets, configfiles, root)
    gpu = scale.facts["gpu"]
    known = table["gpu_hours"].sum()
    lacking = too_large(table, scale) + lacking_disk(scale, root)
    unknown = sorted(set(table["model"][table["gpu_hours"].isna()]))
    parts = [
        (
            f"# Scale {scale.config['results']}: {jobs['jobs'].sum()} jobs, {known:,.0f} GPU hours on"
            f" {gpu['name']} ({known / gpu['count'] / 24:,.1f} days on {gpu['count']})"
        ),
        (
            f"An estimate, for the GPU of {scale.facts['gpu_source']}; it may be off by a factor of two. Its"
            " sources are in workflow/catalog/throughputs.yaml, each number with its source; speeds that"
            " `make gpu-check` measured take their place."
        ),
        "## What does not fit",
        "\n".join(f"- {line}" for line in lacking) or "Models of known size and the disk do.",
        "## Keys",
        "\n".join(f"- {line}" for line in missing_keys(scale, os.environ)) or "None is missing.",
        "## Jobs",
        _markdown(by_rule(table, jobs, originals(root))),
        "## Tokens",
        _markdown(tokens(table)),
        "## Disk (GiB)",
        _markdown(pd.DataFrame(disk_gib(scale).items(), columns=["what", "GiB"])),
        "## Servers",
        _servers(dollars(table, scale)),
    ]
    if unknown:
        parts.append(
            "GPU hours leave out models whose size is not in the catalog (`parameters_b`):"
            f" {', '.join(unknown)}."
        )
    return "\n\n".join(parts)


def by_rule(table: pd.DataFrame, jobs: pd.DataFrame, made_of: dict[str, str]) -> pd.DataFrame:
    """Return rule, jobs, GPU hours and millions of tokens, the dearest first; rules without a model in one
    row.

    made_of: as rules.originals returns it; rules that share the work of another have their jobs there."""
    known = set(table["rule"])
    counts = (
        jobs.assign(rule=[with_work(rule, known, made_of) for rule in jobs["rule"]])
        .groupby("rule")["jobs"]
        .sum()
    )
    rules = table.groupby("rule").agg(
        gpu_hours=("gpu_hours", "sum"), read=("read_tokens", "sum"), written=("written_tokens", "sum")
    )
    rules = rules.sort_values("gpu_hours", ascending=False).reset_index()
    rules.insert(1, "jobs", rules["rule"].map(counts).fillna(0).astype(int))
    others = int(counts.drop(rules["rule"], errors="ignore").sum())
    rest = pd.DataFrame(
        [{"rule": "all others", "jobs": others, "gpu_hours": 0.0, "read": 0.0, "written": 0.0}]
    )
    rules = pd.concat([rules, rest], ignore_index=True)
    return rules.assign(read=rules["read"] / 1e6, written=rules["written"] / 1e6).rename(
        columns={"gpu_hours": "GPU hours", "read": "read (M tokens)", "written": "written (M tokens)"}
    )


def tokens(table: pd.DataFrame) -> pd.DataFrame:
    """Return millions of tokens by what is done with them."""
    here, served = table[table["kind"] != "server"], table[table["kind"] == "server"]
    trained = here.loc[here["kind"] == "train", "read_tokens"].sum()
    found = {
        "trained on": trained,
        "scored or read": here["read_tokens"].sum() - trained,
        "generated": here["written_tokens"].sum(),
        "read by servers (judged)": served["read_tokens"].sum(),
        "written by servers": served["written_tokens"].sum(),
    }
    return pd.DataFrame(
        [(what, count / 1e6) for what, count in found.items()], columns=["tokens", "millions"]
    )


def _servers(asked: pd.DataFrame) -> str:
    if asked.empty:
        return "No judge is called."
    total = asked["usd"].sum()
    table = asked.assign(read_tokens=asked["read_tokens"] / 1e6, written_tokens=asked["written_tokens"] / 1e6)
    table.columns = ["model", "read (M tokens)", "written (M tokens)", "USD"]
    return (
        f"{_markdown(table)}\n\nIn all {total:,.0f} USD at the prices of throughputs.yaml; nan: served by"
        " you, or no price there."
    )


def _markdown(table: pd.DataFrame) -> str:
    return table.to_markdown(index=False, floatfmt=",.1f", intfmt=",")
