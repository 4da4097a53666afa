"""Only what is learnt from meets the vocabulary: a saving that TRL keeps to GPUs."""

import trl.trainer.utils


def project_labels_only() -> None:
    """Let TRL's trainers multiply by the output embedding only at tokens that count, on a CPU too.

    TRL does so where it has Triton; elsewhere each token of a prompt meets the whole vocabulary, and of 262,000 words that is
    most of a step's time. The loss is the same. A TRL that no longer asks this question of itself is left as it is."""
    if hasattr(trl.trainer.utils, "_use_triton"):
        trl.trainer.utils._use_triton = lambda device: True
