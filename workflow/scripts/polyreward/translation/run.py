"""One way to translate rows, whatever the engine."""

from collections.abc import Sequence

from polyreward.settings.model import Serve
from polyreward.settings.transfer import GettextEngine, LmEngine, Seq2seqEngine
from polyreward.translation.engines import gettext_rows, lm_rows, source_rows


def translated(
    rows: Sequence[dict],
    engine: GettextEngine | LmEngine | Seq2seqEngine,
    resource: str | None,
    source: str,
    target: str,
    part: bool = False,
    precision: str = "float32",
    serve: Serve | None = None,
) -> list[dict]:
    """Return the rows in the target language; those that are in it already are returned as they are.

    resource: the .po file of a gettext engine, of which `part` takes what is translated, or a model's folder.
    serve: how a causal one is served; None to run it here."""
    if target == source:
        return source_rows(rows)
    if isinstance(engine, GettextEngine):
        return gettext_rows(rows, target, resource, part)
    # torch takes seconds to import, and catalogs need none
    from polyreward.translation.lm import lm_translator

    with lm_translator(resource, engine, precision, serve) as translate:
        return lm_rows(rows, target, translate, engine.unit)
