"""Seeds from the root seed and a job's own key, so that order and parallelism do not matter."""

import hashlib


def job_seed(root: int, *key: object) -> int:
    """Return a 32-bit seed for the job named by `key`, the same on every machine."""
    digest = hashlib.sha256("/".join([str(root), *map(str, key)]).encode()).digest()
    return int.from_bytes(digest[:4], "big")
