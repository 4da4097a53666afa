"""How many units (templates, topics, passages, ...) the intervals of claims rest on at a scale, before it
runs."""

from polyreward.ops.planning.sized_scale import SizedScale

UNITS = ["templates", "passages", "instructions", "topics", "reward models"]


def unit_counts(scale: SizedScale, quantity: str, n_of: str) -> dict[str, float]:
    """Return {unit: its number} for a claim.

    quantity: its name in workflow/claims.yaml. n_of: its units, as claims.csv has them, with or without other
    words. Empty where they cannot be counted beforehand, as tokens of a vocabulary. Of topics of items that
    are drawn it is the expected number."""
    config, alignment = scale.settings, scale.settings.alignment
    main, passages = scale.benchmarks()[0], scale.sizes[config.passages]
    instructions = scale.sizes[alignment.instructions].rows
    counts = {
        "templates": main.templates or main.rows,
        "passages": passages.rows,
        "instructions": min(instructions, alignment.max_instructions or instructions),
        "topics": _topics(scale, config.carb.cultures, config.carb.items_per_cell),
        "reward models": _reward_models(scale),
    }
    if quantity == "sensitivity":
        counts["topics"] = _topics(scale, config.carb.cultures, config.carb.perturbation.items_per_cell)
    if quantity == "lead_of_locals":
        part = config.think_as_locals.evaluation
        subsets = sum(map(len, scale.catalogs["benchmarks"][config.benchmarks.main]["sections"].values()))
        drawn = part.rows_per_subset and part.rows_per_subset * subsets
        counts["templates"] = min(counts["templates"], drawn or counts["templates"])
        counts["topics"] = _topics(scale, part.cultures, part.items_per_cell)
    if n_of.startswith("trained"):
        counts["reward models"] = _trained(scale)
    return {unit: counts[unit] for unit in UNITS if unit in n_of}


def _topics(scale: SizedScale, cultures: list[str], items_per_cell: int | None) -> float:
    """Return how many topics are expected among items that are drawn in each culture and domain."""
    if items_per_cell is None:
        return scale.carb_topics
    of_domain = scale.carb_topics / len(scale.settings.carb.domains)
    left_out = (1 - min(items_per_cell / of_domain, 1)) ** len(cultures)
    return scale.carb_topics * (1 - left_out)


def _trained(scale: SizedScale) -> int:
    return len(scale.settings.bases) * len(scale.languages)


def _reward_models(scale: SizedScale) -> int:
    config = scale.settings
    return _trained(scale) + len(config.reward_models) + len(config.off_the_shelf) + len(config.carb.knockout)
