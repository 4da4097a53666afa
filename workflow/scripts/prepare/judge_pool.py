"""Draw what Figure 3's judge is trained on: templates that no other reward model is trained on."""

from polyreward.core.errors import PolyrewardError
from polyreward.core.files import read_jsonl, write_jsonl
from polyreward.ops.jobs import run
from polyreward.prepare.kinds import pairs_by
from polyreward.prepare.pool import Share, prepared_pool, template_of


def main(snakemake):
    files, params = snakemake.input, snakemake.params
    pool, evaluation = read_jsonl(files.pool), read_jsonl(files.evaluation)
    used = {template_of(row) for row in read_jsonl(files.train)}
    rows, _, _ = prepared_pool(
        [row for row in pool if template_of(row) not in used],
        evaluation,
        params.categories,
        dev_share=0,
        max_pairs=params.max_pairs,
        share=Share(**params.share),
        root_seed=params.seed,
        filters=params.filters,
        kinds=pairs_by(params, files.stock, "training"),
    )
    if not rows:
        raise PolyrewardError(
            "no template of the pool is left to train the judge of Figure 3 on; name a judge"
            " (alignment.judge), raise pool.dev_share, or draw fewer templates (templates_per_section.pool)"
        )
    write_jsonl(rows, snakemake.output[0])


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
