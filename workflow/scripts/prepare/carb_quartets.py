"""Make place quartets, in each of their languages, and the lessons on some of them."""

from polyreward.carb.culture.lessons import lesson_pairs
from polyreward.carb.culture.quartets import quartet_rows, scale_quartets
from polyreward.core.files import write_jsonl
from polyreward.ops.jobs import run


def main(snakemake):
    files, params = snakemake.input, snakemake.params
    quartets, further = scale_quartets(
        params.choices, files.cultures, params.folder, files.schema, params.seed
    )
    for language in params.choices["languages"]:
        rows, more = (
            [row for quartet in own for row in quartet_rows(quartet, language)] for own in (quartets, further)
        )
        write_jsonl(rows, snakemake.output[language])
        if params.teach:
            write_jsonl(list(lesson_pairs(rows, more, params.seed)), snakemake.output[f"lessons_{language}"])


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
