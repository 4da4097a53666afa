"""Each command inside running text names targets, artifacts, subcommands and options that exist."""

import argparse
import re
import shlex
from pathlib import Path

import click
import pytest
import yaml
from pages import BLOCK, PAGES
from snakemake.cli import get_argument_parser
from support import ROOT

from polyreward import cli

INLINE = re.compile(r"`((?:\.venv/bin/)?(?:make|snakemake|polyreward) [^`\n]+)`")
NOT_REGISTERED = ("SHA256SUMS", "report", "snakemake_report")  # of results, by rules of their own
FORMATS = ("", ".csv", ".md", ".tex", ".html", ".png", ".pdf", ".ipynb")
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")


def known_artifacts() -> set[str]:
    """Return the names of the registry's tables and figures; `{table}` stands for each of its tables."""
    registry = yaml.safe_load((ROOT / "workflow/artifacts.yaml").read_text("utf-8"))
    own = yaml.safe_load((ROOT / "config.yaml").read_text("utf-8"))["own_benchmarks"]
    targets = [one["target"].format(table=t) for one in registry.values() for t in one.get("tables", [""])]
    return {Path(one).stem for one in targets} | {f"benchmark_{name}" for name in own} | set(NOT_REGISTERED)


ARTIFACTS = known_artifacts()


def check_target(word: str) -> None:
    """Check a file of results."""
    path = Path(word)
    assert path.stem in ARTIFACTS and path.suffix in FORMATS, f"no artifact {word}"


def check_make(words: list[str]) -> None:
    for word in words:
        name = word.partition("=")[0]
        if "=" in word:
            assert re.search(rf"^{name} *[?:]?=", MAKEFILE, re.MULTILINE), f"no variable {name}"
        elif word.startswith("results/"):
            check_target(word)
        else:
            rule = rf"^[^\t#\n=:]*(?<!\S){name}(?=[\s:])[^\n=]*:"
            assert re.search(rule, MAKEFILE, re.MULTILINE), f"no target {name}"


def check_snakemake(words: list[str]) -> None:
    parser = get_argument_parser(profiles=[])
    parser.error = lambda message: pytest.fail(message)
    for target in parser.parse_args(words).targets:
        check_target(str(target))


def check_polyreward(words: list[str]) -> None:
    if not words or words[0].startswith("-") or words[0].isupper():  # COMMAND: any of them
        return
    name, *words = words
    assert name in cli.commands.commands, f"no command {name}"
    command = cli.commands.commands[name]
    context = click.Context(command)
    try:
        values, _, _ = command.make_parser(context).parse_args(list(words))
    except click.BadOptionUsage:  # an option that is named without its value
        values, _, _ = command.make_parser(context).parse_args([*words, "VALUE"])
    for one in command.params:
        value = values.get(one.name)
        if isinstance(one.type, click.Choice) and isinstance(value, str) and value != "VALUE":
            one.type.convert(value, one, context)


CHECKS = {"make": check_make, "snakemake": check_snakemake, "polyreward": check_polyreward}


def check(command: str) -> None:
    tool, *words = shlex.split(command.removeprefix(".venv/bin/"))
    CHECKS[tool](words)


def inline_commands() -> dict[str, str]:
    """Return {command: a page that has it} of all pages, without their blocks."""
    texts = {page: BLOCK.sub("", page.read_text("utf-8")) for page in PAGES}
    return {one: page.name for page, text in texts.items() for one in INLINE.findall(text)}


def test_each_command_in_running_text_is_there():
    found, problems = inline_commands(), []
    assert len(found) > 50
    for command, page in found.items():
        try:
            check(command)
        except (AssertionError, click.UsageError, pytest.fail.Exception, argparse.ArgumentError) as error:
            problems.append(f"{page}: `{command}`: {error}")
    assert problems == []


@pytest.mark.parametrize(
    "wrong",
    [
        "make results/table99.csv",
        "make nothing",
        "make MEMORY=1 all",
        "snakemake --no-such-option results/table1.csv",
        "snakemake -n results/table99.csv",
        "polyreward nothing",
        "polyreward plan --nothing",
        "polyreward claims nothing",
    ],
)
def test_a_wrong_command_is_found(wrong):
    with pytest.raises((AssertionError, click.UsageError, pytest.fail.Exception)):
        check(wrong)
