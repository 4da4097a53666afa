"""Split pairs into questions with replies (warm-up) and without (GRPO, held out)."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from polyreward.core.conversations import rejected_of
from polyreward.core.draws import in_draw_order
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
OWN = "own"  # the source of pairs of the benchmark's held-out topics
DRAW = ("locals", "pair")  # the purpose of all draws of pairs


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

    Args:
        places: {culture: {language: place phrase}}.
        language: the criterion's; None for each pair's own (English if it has none).
        quote: length of the right answer's end that the criterion quotes with its label; 0 for none.
    """
    rows = []
    for asked in both_orders(pairs):
        pair = asked["pair"]
        spoken = language or pair.get("language", "en")
        kind = pair["domain"] if "culture" in pair else ANYWHERE
        options = templates[spoken][kind]
        criterion = options[job_seed(seed, "criteria", asked["id"], kind) % len(options)]
        if "culture" in pair:
            criterion = criterion.replace("{place}", places[pair["culture"]][spoken])
        if quote:
            criterion = f"{criterion.rstrip(FULL_STOPS)}: {ending(pair['chosen'], quote)} ({asked['right']})"
        rows.append({"prompt": asked["request"], "chosen": written([criterion], asked["right"])})
    return rows


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


def drawn_pairs(
    pairs: Sequence[dict], count: int, seed: int, where: str, last: Collection[str] = ()
) -> tuple[list[dict], list[dict]]:
    """Draw pairs by hash; return (those pairs, all others).

    where: the settings that an error names. last: ids of pairs to draw only when no others are left. Raises
    PolyrewardError where there are too few pairs."""
    order = sorted(in_draw_order(pairs, seed, *DRAW), key=lambda pair: pair["id"] in last)
    if len(order) < count:
        raise PolyrewardError(
            f"{where}: {len(order)} pairs to train on, but {count} are asked for; lower it, or name more data"
        )
    return order[:count], order[count:]


def split_pairs(
    own: Sequence[dict],
    others: Sequence[dict],
    easy: Sequence[dict],
    warmup: int,
    grpo: int,
    held_out: int,
    seed: int,
    shares: Mapping[str, float],
    easy_shares: Mapping[str, float],
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
    easy_warmup, easy_grpo = round(easy_shares["warmup"] * warmup), round(easy_shares["grpo"] * grpo)
    simple, _ = drawn_pairs(easy, easy_warmup + easy_grpo, seed, "think_as_locals.easy")
    kept, partners, left = _one_of_each(own, held_out, seed)
    answers = {pair[role] for pair in [*kept, *partners] for role in ("chosen", "rejected")}
    alike = {pair["id"] for pair in left if answers & {pair["chosen"], pair["rejected"]}}
    taught, rest = drawn_pairs(left, warmup - easy_warmup, seed, "think_as_locals.warmup.pairs", alike)
    shared = sum(pair["id"] in alike for pair in taught)
    if shared:
        announce(
            f"think_as_locals: {shared} pairs of the warm-up have an answer of a held-out item; there are no"
            " others"
        )
    hard = grpo - easy_grpo
    rest = rest if len(partners) < hard else []
    claimed, unclaimed = _by_shares([*partners, *rest, *others], hard, shares, seed)
    filled, _ = drawn_pairs(unclaimed, hard - len(claimed), seed, "think_as_locals.grpo.pairs")
    return {
        "warmup": [*simple[:easy_warmup], *taught],
        "grpo": [*simple[easy_warmup:], *in_draw_order([*claimed, *filled], seed, *DRAW)],
        "held_out": kept,
    }


def _by_shares(
    pairs: Sequence[dict], count: int, shares: Mapping[str, float], seed: int
) -> tuple[list[dict], list[dict]]:
    """Draw each source's share of `count` pairs; return (those pairs, all others)."""
    claimed = []
    for source, share in shares.items():
        # Each file of templates is a source of its own.
        of_source = [p for p in pairs if (OWN if "culture" in p else p["source"].split("/")[0]) == source]
        wanted = min(round(share * count), count - len(claimed))
        if len(of_source) < wanted:
            announce(
                f"think_as_locals: {source} has {len(of_source)} pairs of the {wanted} that its share claims"
            )
        claimed += in_draw_order(of_source, seed, *DRAW)[:wanted]
    taken = {pair["id"] for pair in claimed}
    return claimed, [pair for pair in pairs if pair["id"] not in taken]


def _one_of_each(pairs: Sequence[dict], count: int, seed: int) -> tuple[list[dict], list[dict], list[dict]]:
    """Draw by hash: (one pair of each of `count` items, these items' other pairs, all other items' pairs)."""
    kept, partners, others = {}, [], []
    for pair in in_draw_order(pairs, seed, *DRAW):
        item = pair["topic"], pair["culture"]
        if item in kept:
            partners.append(pair)
        elif len(kept) < count:
            kept[item] = pair
        else:
            others.append(pair)
    if len(kept) < count:
        raise PolyrewardError(
            f"think_as_locals.held_out: {count} items, but {len(kept)} are there to train on; lower it"
        )
    return list(kept.values()), partners, others


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
    pairs = split_pairs(
        own,
        others,
        easy,
        **params.sizes,
        seed=params.seed,
        shares=params.shares,
        easy_shares=params.easy_shares,
    )
    places = {culture: entry["places"] for culture, entry in read_yaml(files.cultures)["cultures"].items()}
    templates = read_criteria(files.criteria, params.languages, params.domains)
    how = {"language": params.language, "quote": params.quote}
    write_jsonl(warmup_rows(pairs["warmup"], templates, places, **how, seed=params.seed), output.warmup)
    write_jsonl(both_orders(pairs["grpo"]), output.grpo)
    write_jsonl(both_orders(pairs["held_out"]), output.held_out)


if __name__ == "__main__":
    run(main, globals().get("snakemake"))
