"""Split pairs into questions with replies (warm-up) and without (GRPO, held out)."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from polyreward.core.conversations import rejected_of
from polyreward.core.errors import PolyrewardError, raise_all
from polyreward.core.files import read_jsonl, write_jsonl
from polyreward.core.logs import announce
from polyreward.core.seeds import job_seed
from polyreward.core.yaml_files import read_yaml
from polyreward.ops.jobs import run
from polyreward.prepare.kinds import off_topic_pairs
from polyreward.scoring.criteria_layout import LABELS, question, written

FULL_STOPS = ".。"
ANYWHERE = "anywhere"


def read_criteria(
    path: str | Path, languages: Collection[str], domains: Collection[str]
) -> dict[str, dict[str, list[str]]]:
    """Read criteria: {language: {domain: templates with one {place}, "anywhere": without}}.

    Raises:
        PolyrewardError: lists every gap, and every template with a missing or unexpected place.
    """
    data, problems = read_yaml(path) or {}, []
    for language in languages:
        for kind in (*domains, ANYWHERE):
            templates = (data.get(language) or {}).get(kind) or []
            if not templates:
                problems.append(f"language {language}: no criteria of {kind}; write one or more")
            times, wanted = (0, "leave it out") if kind == ANYWHERE else (1, "say it once")
            problems += [
                f"language {language}, {kind}: {text!r} has {{place}} {text.count('{place}')} times;"
                f" {wanted}, on one line"
                for text in templates
                if text.count("{place}") != times or "\n" in text
            ]
    raise_all(problems, str(path))
    return data


def criterion_of(
    asked: dict, templates: dict, places: dict[str, dict[str, str]], language: str, seed: int
) -> str:
    """Return what a local checks in a question's domain; of a pair without a culture, what holds anywhere.

    places: {culture: {language: place phrase}}."""
    pair = asked["pair"]
    kind = pair["domain"] if "culture" in pair else ANYWHERE
    options = templates[language][kind]
    criterion = options[job_seed(seed, "criteria", asked["id"], kind) % len(options)]
    return criterion.replace("{place}", places[pair["culture"]][language]) if "culture" in pair else criterion


def ending(text: str, most: int) -> str:
    """Return a text on one line; of one longer than `most` characters its end, from the start of a word."""
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    end = line[-most:]
    before, space, words = end.partition(" ")
    # Chinese, Japanese and Thai have no spaces between words.
    return words if space and len(before) < most // 2 else end


def warmup_rows(
    pairs: Sequence[dict],
    templates: dict,
    places: dict[str, dict[str, str]],
    language: str | None,
    quote: int,
    seed: int,
) -> list[dict]:
    """Return questions and well-formed replies for fine-tuning, each pair in both orders: prompt, chosen.

    language: the criterion's; None for each pair's own (English if it has none). quote: length of the right
    answer's end that the criterion quotes with its label; 0 for none."""
    rows = []
    for asked in both_orders(pairs):
        spoken = language or asked["pair"].get("language", "en")
        criterion = criterion_of(asked, templates, places, spoken, seed)
        if quote:
            named = f"{ending(asked['pair']['chosen'], quote)} ({asked['right']})"
            criterion = f"{criterion.rstrip(FULL_STOPS)}: {named}"
        rows.append({"prompt": asked["request"], "chosen": written([criterion], asked["right"])})
    return rows


OWN = "own"  # the source of pairs of the benchmark's held-out topics


def training_pairs(items: Sequence[dict]) -> list[dict]:
    """Return best-of-four items as pairs of the chosen answer and each rejected one.

    A pair has id, prompt, chosen, rejected, culture, language, topic and domain."""
    return [
        {
            "id": f"{item['id']}_{reference.get('topic', reference['culture'])}",
            "prompt": item["prompt"],
            "chosen": item["answers"][item["chosen"]],
            "rejected": answer,
            "culture": item["culture"],
            "language": item["culture"],
            "topic": item["topic"],
            "domain": item["domain"],
        }
        for item in items
        for number, (answer, reference) in enumerate(zip(item["answers"], item["references"], strict=True))
        if number != item["chosen"]
    ]


def dataset_pairs(rows: Sequence[dict]) -> list[dict]:
    """Return a dataset's preference rows (id, prompt, chosen, rejected: one answer or several) as pairs."""
    return [
        {**row, "id": f"{row['id']}_{number}", "rejected": answer}
        for row in rows
        for number, answer in enumerate(rejected_of(row))
    ]


def drawn_for(
    pairs: Sequence[dict],
    sizes: dict[str, int],
    seed: int,
    where: str = "think_as_locals",
    last: Collection[str] = (),
) -> dict[str, list[dict]]:
    """Draw pairs by hash for uses {use: how many}, no pair twice; the others are the `rest`.

    where: the settings that an error names. last: ids of pairs to draw only when no others are left. Raises
    PolyrewardError where there are too few pairs."""
    order = sorted(pairs, key=lambda pair: (pair["id"] in last, job_seed(seed, "locals", "pair", pair["id"])))
    if len(order) < sum(sizes.values()):
        asked = ", ".join(f"{use} {size}" for use, size in sizes.items())
        raise PolyrewardError(
            f"{where}: {len(order)} pairs to train on, but {asked} are asked for; lower them, or raise"
            " carb.training_share, or name more data"
        )
    found = {}
    for use, size in sizes.items():
        found[use], order = order[:size], order[size:]
    return {**found, "rest": order}


def _by_shares(
    pairs: Sequence[dict], count: int, shares: Mapping[str, float], seed: int
) -> tuple[list[dict], list[dict]]:
    """Draw each source's share of `count` pairs; return (those pairs, all others)."""
    claimed = []
    for source, share in shares.items():
        of_source = [pair for pair in pairs if _source(pair) == source]
        wanted = min(round(share * count), count - len(claimed))
        if len(of_source) < wanted:
            announce(
                f"think_as_locals: {source} has {len(of_source)} pairs of the {wanted} that its share claims"
            )
        claimed += drawn_for(of_source, {"claimed": min(wanted, len(of_source))}, seed)["claimed"]
    taken = {pair["id"] for pair in claimed}
    return claimed, [pair for pair in pairs if pair["id"] not in taken]


def _source(pair: dict) -> str:
    # Each file of templates is a source of its own.
    return OWN if "culture" in pair else pair["source"].split("/")[0]


def split_pairs(
    own: Sequence[dict],
    others: Sequence[dict],
    easy: Sequence[dict],
    warmup: int,
    grpo: int,
    held_out: int,
    seed: int,
    shares: Mapping[str, float] | None = None,
    easy_shares: Mapping[str, float] | None = None,
) -> dict[str, list[dict]]:
    """Split pairs into {"warmup", "grpo", "held_out"}, no pair twice.

    Args:
        others: pairs of datasets, for GRPO only.
        easy: pairs that are easy to distinguish; GRPO begins with them.
        held_out: number of items with one pair held out; GRPO takes their other pairs first. The warm-up
            prefers pairs without their answers, since it would reveal which is right.
        shares: {source, OWN for items: share of GRPO's pairs that are not easy}; the rest is from all.
        easy_shares: {"warmup", "grpo": share of easy pairs}.
    """
    sizes = {"warmup": warmup, "grpo": grpo}
    many = {use: round((easy_shares or {}).get(use, 0) * size) for use, size in sizes.items()}
    simple = drawn_for(easy, many, seed, "think_as_locals.easy")
    kept, partners, left = _one_of_each(own, held_out, seed)
    alike = _with_answers_of([*kept, *partners], left)
    first = drawn_for(left, {"warmup": warmup - many["warmup"]}, seed, last=alike)
    shared = sum(pair["id"] in alike for pair in first["warmup"])
    if shared:
        announce(
            f"think_as_locals: {shared} pairs of the warm-up have an answer of a held-out item; there are no"
            " others"
        )
    hard = grpo - many["grpo"]
    rest = first["rest"] if len(partners) < hard else []
    claimed, unclaimed = _by_shares([*partners, *rest, *others], hard, shares or {}, seed)
    second = drawn_for(unclaimed, {"grpo": hard - len(claimed)}, seed)
    mixed = drawn_for([*claimed, *second["grpo"]], {"grpo": hard}, seed)
    return {
        "warmup": [*simple["warmup"], *first["warmup"]],
        "grpo": [*simple["grpo"], *mixed["grpo"]],
        "held_out": kept,
    }


def _one_of_each(pairs: Sequence[dict], count: int, seed: int) -> tuple[list[dict], list[dict], list[dict]]:
    """Draw by hash: (one pair of each of `count` items, these items' other pairs, all other items' pairs)."""
    order = drawn_for(pairs, {}, seed)["rest"]
    items = list(dict.fromkeys(map(_item, order)))
    if len(items) < count:
        raise PolyrewardError(
            f"think_as_locals.held_out: {count} items, but {len(items)} are there to train on; lower it, or"
            " raise carb.training_share"
        )
    kept = dict.fromkeys(items[:count])
    partners, others = [], []
    for pair in order:
        if _item(pair) not in kept:
            others.append(pair)
        elif kept[_item(pair)] is None:
            kept[_item(pair)] = pair
        else:
            partners.append(pair)
    return list(kept.values()), partners, others


def _with_answers_of(taken: Sequence[dict], pairs: Sequence[dict]) -> set[str]:
    """Return the ids of pairs that share an answer with those taken."""
    texts = {answer for pair in taken for answer in (pair["chosen"], pair["rejected"])}
    return {pair["id"] for pair in pairs if texts & {pair["chosen"], pair["rejected"]}}


def _item(pair: dict) -> tuple[str, str]:
    return pair["topic"], pair["culture"]


def both_orders(pairs: Sequence[dict]) -> list[dict]:
    """Return each pair as two questions in a row, the right answer first and then second.

    A question has id, request, right (the right answer's label) and pair."""
    found = []
    for pair in pairs:
        answers = pair["chosen"], pair["rejected"]
        for right, (first, second) in zip(LABELS, (answers, answers[::-1]), strict=True):
            request = question(pair["prompt"], first, second)
            found.append({"id": f"{pair['id']}_{right}", "request": request, "right": right, "pair": pair})
    return found


def main(snakemake):
    files, params, output = snakemake.input, snakemake.params, snakemake.output
    own = training_pairs(read_jsonl(files.item_files))
    others = dataset_pairs(read_jsonl(files.datasets))
    easy = dataset_pairs(off_topic_pairs(read_jsonl(files.easy)))
    shares = {"shares": params.shares, "easy_shares": params.easy_shares}
    pairs = split_pairs(own, others, easy, **params.sizes, seed=params.seed, **shares)
    places = {culture: entry["places"] for culture, entry in read_yaml(files.cultures)["cultures"].items()}
    templates = read_criteria(files.criteria, params.languages, params.domains)
    how = {"language": params.language, "quote": params.quote}
    write_jsonl(warmup_rows(pairs["warmup"], templates, places, **how, seed=params.seed), output.warmup)
    write_jsonl(both_orders(pairs["grpo"]), output.grpo)
    write_jsonl(both_orders(pairs["held_out"]), output.held_out)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
