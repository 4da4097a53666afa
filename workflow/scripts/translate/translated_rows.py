"""Translate a set of rows, or its first few rows for the quality table, to one language."""

from collections.abc import Callable, Sequence

from polyreward.core.conversations import contents
from polyreward.core.files import read_jsonl, write_jsonl
from polyreward.core.logs import announce
from polyreward.ops.jobs import run
from polyreward.prepare.kinds import finished
from polyreward.settings.base import Serve
from polyreward.settings.translation import GettextEngine, LmEngine, Seq2seqEngine
from polyreward.translation.catalog import roles_of
from polyreward.translation.engines import KEPT, gettext_rows, lm_rows, source_rows
from polyreward.translation.invariants import FENCE

Rows = Sequence[dict]


def with_released(rows: Rows, language: str, translate: Callable[[Rows], list[dict]]) -> list[dict]:
    """Return the rows in a language, in order; a row's own `translations` come before the engine's.

    Args:
        translate: for rows without their own; it may leave some out, as a partial catalog does.
    """
    own = {
        row["id"]: {**{key: row[key] for key in KEPT if key in row}, **row["translations"][language]}
        for row in rows
        if language in row.get("translations", {})
    }
    rest = [row for row in rows if row["id"] not in own]
    found = own | {row["id"]: row for row in (translate(rest) if rest else [])}
    return [found[row["id"]] for row in rows if row["id"] in found]


def translated(
    rows: Rows,
    engine: GettextEngine | LmEngine | Seq2seqEngine,
    resource: str | None,
    source: str,
    target: str,
    part: bool = False,
    precision: str = "float32",
    serve: Serve | None = None,
    code: Sequence[str] = (),
) -> list[dict]:
    """Return the rows in the target language; rows that are already in it stay.

    Args:
        resource: a gettext engine's .po file, or a model's folder.
        part: leave out what the .po file does not have.
        serve: how a causal model is served; None to run it here.
        code: subsets whose answers are code, which a language model is not sent.
    """
    if target == source:
        return source_rows(rows)
    if isinstance(engine, GettextEngine):
        return gettext_rows(rows, target, resource, part)
    from polyreward.translation.lm import lm_translator  # torch takes seconds to import

    with lm_translator(resource, engine, precision, serve) as translate:
        return lm_rows(rows, target, translate, engine.unit, code)


def unchanged_texts(rows: Rows, translated: Rows) -> int:
    """Return how many texts with letters outside code a translation left as they were."""
    before = {row["id"]: row for row in rows}
    return sum(
        old == new and any(map(str.isalpha, FENCE.sub("", old)))
        for row in translated
        for role in roles_of(row)
        for old, new in zip(contents(before[row["id"]][role]), contents(row[role]), strict=True)
    )


def main(snakemake):
    params, target = snakemake.params, snakemake.wildcards.language
    rows = read_jsonl(snakemake.input.rows)[: params.first]
    resource = snakemake.input.get("engine") or None

    def translate(rest: Rows) -> list[dict]:
        given = {**params.engine, "code": params.code_subsets}
        return translated(rest, resource=resource, source=params.source, target=target, **given)

    found = with_released(rows, target, translate)
    same = unchanged_texts(rows, found)
    if same and target != params.source:
        announce(f"{target}: {same} texts are as they were in the source language")
    pairs = [finished(row) for row in found]
    if None in pairs:
        announce(
            f"{target}: {pairs.count(None)} rows are left out: their kind makes no other answer of theirs"
        )
    write_jsonl([row for row in pairs if row], snakemake.output[0])


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
