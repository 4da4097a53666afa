"""Does a policy get better by a reward model: sampling, labelling, DPO, and judging against reference
answers."""
