"""Split the held-out instructions by language."""

from collections.abc import Sequence

from polyreward.core.draws import drawn
from polyreward.core.errors import PolyrewardError
from polyreward.core.files import write_jsonl
from polyreward.core.yaml_files import read_items
from polyreward.ops.jobs import run
from polyreward.prepare.passages import parallel_passages


def parallel_instructions(
    items: Sequence[dict], languages: Sequence[str], where: str, roles: Sequence[str]
) -> dict[str, list[dict]]:
    """Return {language: rows of id and each role}, in the same order; items: {id, role: {language: text}}.

    Raises:
        PolyrewardError: lists every item without a text, and every repeated id.
    """
    found, problems = {}, []
    for role in roles:
        texts = [{"id": item.get("id"), **(item.get(role) or {})} for item in items]
        try:
            found[role] = parallel_passages(texts, languages, f"{where}, {role}")
        except PolyrewardError as error:
            problems.append(str(error))
    if problems:
        raise PolyrewardError("\n".join(problems))
    return {
        language: [
            {"id": texts[0]["id"], **{role: text["text"] for role, text in zip(roles, texts, strict=True)}}
            for texts in zip(*(found[role][language] for role in roles), strict=True)
        ]
        for language in languages
    }


def main(snakemake):
    path, params = snakemake.input[0], snakemake.params
    found = parallel_instructions(read_items(path), params.languages, path, params.roles)
    for language, output in zip(params.languages, snakemake.output, strict=True):
        kept = drawn(found[language], [], params.max_instructions, params.seed, "instructions")
        write_jsonl(kept, output)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
