"""A made-up template and its catalog in Spanish."""

ITEM = {
    "id": "rice", "subset": "advice", "slots": {"n": "number", "place": "country"}, "fills": [{"n": 1500, "place": "FR"}],
    "prompt": "How do I cook rice for {n} people in {place}?", "chosen": "Use a pot.", "rejected": "Use 2 cars.",
}  # fmt: skip


def po(*entries) -> str:
    """Return a .po file of (msgid, msgstr) or (msgid, msgstr, flag) entries, in one line each."""
    header = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n"Language: es\\n"\n'
    flagged = ["".join(f"#, {flag}\n" for flag in flags) for _, _, *flags in entries]
    quoted = [f"msgid {_quoted(a)}\nmsgstr {_quoted(b)}\n" for a, b, *_ in entries]
    return "\n".join([header, *map(str.__add__, flagged, quoted)])


def _quoted(text):
    return '"' + text.replace("\n", "\\n") + '"'


SPANISH = [
    ("How do I cook rice for {n} people in {place}?", "¿Cómo preparo arroz para {n} personas en {place}?"),
    ("Use a pot.", "Usa una olla."),
    ("Use 2 cars.", "Usa 2 coches."),
]
