"""Draw the prompts that the policy answers."""

import json
from collections.abc import Sequence

from polyreward.core.draws import drawn
from polyreward.core.errors import PolyrewardError
from polyreward.core.files import read_jsonl, write_jsonl
from polyreward.ops.jobs import run


def drawn_prompts(rows: Sequence[dict], count: int, seed: int, where: str) -> list[dict]:
    """Return `count` rows (id, source, subset, prompt) with distinct prompts, drawn by hash, in their order.

    Raises:
        PolyrewardError: there are fewer distinct prompts.
    """
    first: dict[str, dict] = {}
    for row in rows:
        first.setdefault(json.dumps(row["prompt"]), row)
    distinct = list(first.values())
    if len(distinct) < count:
        raise PolyrewardError(
            f"{where}: {len(distinct)} distinct prompts, not {count}; lower alignment.prompts"
        )
    kept = drawn(distinct, [], count, seed, "prompt")
    return [{key: row[key] for key in ("id", "source", "subset", "prompt")} for row in kept]


def main(snakemake):
    path, params = snakemake.input.rows[0], snakemake.params
    write_jsonl(drawn_prompts(read_jsonl(path), params.prompts, params.seed, path), snakemake.output[0])


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
