"""The `polyreward` command; a file here for each kind of command."""

import os
import sys
from importlib.util import find_spec

import click

from polyreward.cli import machines, matrix, pages, papers, records, scoring, texts
from polyreward.core.errors import PolyrewardError
from polyreward.core.inert import printable
from polyreward.core.project import IN_CHECKOUT


def main(arguments: list[str] | None = None) -> int:
    """Run one command; return 0, 1 after an error, or 2 after a wrong option."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")  # of a terminal or a log that is not UTF-8
    try:
        ended = commands.main(arguments, prog_name="polyreward", standalone_mode=False)
        sys.stdout.flush()
    except PolyrewardError as error:
        print(printable(f"polyreward: {error}"), file=sys.stderr)
        return 1
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:  # Ctrl-C; click has ended the line of the bar
        print("polyreward: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # a reader such as `head` has enough; Python would complain again when it ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return ended if isinstance(ended, int) else 0  # `--help` ends with a number, a command with None


HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 120, "show_default": True}


# Commands that need no checkout: the wheel has the files that they read (setup.py)
ANYWHERE = ("claims", "compare", "gpu-check", "inspect", "matrix", "plan", "score")
# Packages of the extra `pipeline` that some of them need too
NEEDED = {"gpu-check": ("snakemake", "trl"), "plan": ("snakemake",)}
# Commands for who works on polyreward itself
MAINTAINERS = ("catalog", "envs", "lock", "overlays", "settings")
NO_CHECKOUT = (
    "{}: needs a checkout of the project, with its own environment. Clone it, run `make env` in it, and give"
    " this command there as .venv/bin/polyreward"
)
NO_PACKAGES = "{}: needs {}, which the wheel installs on request: pip install 'polyreward[pipeline]'"


class Commands(click.Group):
    """All commands; the help shows those of users apart, with whole summaries."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a list of commands for each place or reader."""
        lists: dict[str, list] = {
            "Commands": [],
            "Commands in a checkout": [],
            "Commands for maintainers": [],
        }
        for name, one in sorted(self.commands.items()):
            title = list(lists)[0 if name in ANYWHERE else 2 if name in MAINTAINERS else 1]
            lists[title].append((name, one.get_short_help_str(1000)))
        for title, rows in lists.items():
            with formatter.section(title):
                formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command; raise PolyrewardError where it needs a checkout or packages that are missing."""
        name, command, rest = super().resolve_command(ctx, args)
        if not IN_CHECKOUT and name not in ANYWHERE:
            raise PolyrewardError(NO_CHECKOUT.format(name))
        missing = [package for package in NEEDED.get(name, ()) if find_spec(package) is None]
        if missing and not IN_CHECKOUT:
            raise PolyrewardError(NO_PACKAGES.format(name, " and ".join(missing)))
        return name, command, rest


@click.group(cls=Commands, context_settings=HELP)
@click.version_option(package_name="polyreward", message="%(prog)s %(version)s")
def commands() -> None:
    """Score reward models, and plan, check and share results. `make` and `snakemake` make the results.

    A scale is named by its results folder, such as results/tiny, also before it has results. Name overlays
    of your own with --configfile, as for snakemake.

    \b
    Start with one of these:
      polyreward score MODEL pairs.jsonl --out scores.parquet
      polyreward report results
      polyreward plan results/gpu
    """


for room in (scoring, matrix, papers, texts, machines, pages, records):
    for command in vars(room).values():
        if isinstance(command, click.Command):
            commands.add_command(command)
