"""Make place quartets, in each of their languages, and the lessons on some of them."""

from polyreward.carb.culture.books import open_books
from polyreward.carb.culture.lessons import TAUGHT, lesson_pairs, parts_of
from polyreward.carb.culture.quartets import quartet_rows, scale_quartets, unplaced_row
from polyreward.core.files import write_jsonl
from polyreward.ops.jobs import run


def main(snakemake):
    files, params = snakemake.input, snakemake.params
    quartets, further = scale_quartets(
        params.choices, files.cultures, params.folder, files.schema, params.seed
    )
    languages = params.choices["languages"]
    facts = [row for quartet in quartets for row in quartet_rows(quartet, languages[0])]
    parts = parts_of(facts, params.seed) if params.teach else {}
    taught = frozenset(quartet.topic for quartet in quartets if parts.get(quartet.name) == TAUGHT)
    books = open_books(quartets, taught, params.choices["open_books"], params.seed)
    for language in languages:
        rows, more = (
            [row for quartet in own for row in quartet_rows(quartet, language)]
            for own in ([*quartets, *books], further)
        )
        write_jsonl(rows, snakemake.output[language])
        bare = [unplaced_row(quartet, language) for quartet in (*quartets, *books)]
        write_jsonl(bare, snakemake.output[f"unplaced_{language}"])
        if params.teach:
            write_jsonl(list(lesson_pairs(rows, more, params.seed)), snakemake.output[f"lessons_{language}"])


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
