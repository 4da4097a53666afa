"""The `polyreward` command; a file here for each kind of command."""

import os
import sys

import click

from polyreward.cli import machines, pages, records, scoring, texts
from polyreward.core.errors import PolyrewardError
from polyreward.core.inert import printable


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


# Commands for who works on polyreward itself
MAINTAINERS = ("catalog", "envs", "lock", "overlays", "settings")


class Commands(click.Group):
    """All commands; the help shows those of users apart, with whole summaries."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write two lists of commands."""
        rows = [(name, one.get_short_help_str(1000)) for name, one in sorted(self.commands.items())]
        for title, ours in (("Commands", False), ("Commands for maintainers", True)):
            with formatter.section(title):
                formatter.write_dl([row for row in rows if (row[0] in MAINTAINERS) == ours])


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


for room in (scoring, texts, machines, pages, records):
    for command in vars(room).values():
        if isinstance(command, click.Command):
            commands.add_command(command)
