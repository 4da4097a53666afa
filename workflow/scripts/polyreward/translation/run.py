"""One way to translate rows, whatever the engine."""

from collections.abc import Sequence

from polyreward.translation.engines import gettext_rows, lm_rows, source_rows


def translated(
    rows: Sequence[dict],
    engine: dict,
    resource: str | None,
    source: str,
    target: str,
    serve: dict | None = None,
) -> list[dict]:
    """Return the rows in the target language.

    engine: {kind: gettext} with resource a .po file, of which `part: true` takes what is translated; or
    {kind: lm or seq2seq, ...} with resource a model folder. serve: how a causal one is served; None to run it
    here. Rows that are in the target language already are returned as they are."""
    if target == source:
        return source_rows(rows)
    if engine["kind"] == "gettext":
        return gettext_rows(rows, target, resource, engine.get("part", False))
    from polyreward.translation.lm import (
        LmSettings,
        lm_translator,
    )  # torch takes seconds to import, and catalogs need none

    settings = {key: value for key, value in engine.items() if key not in ("kind", "model")}
    told = {"prompt": "{text}", "chat": False} if engine["kind"] == "seq2seq" else {}
    with lm_translator(resource, LmSettings(**told, **settings), serve) as translate:
        return lm_rows(rows, target, translate, engine["unit"])
