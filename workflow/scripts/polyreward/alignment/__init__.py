"""Alignment of a policy by a reward model: sampling, labelling, DPO, and judging against references."""
