"""Which settings only a CUDA device can run; for checks before a run and in its jobs."""


def cuda_only(setting: str, value) -> bool:
    """Return whether a setting of config.yaml, or of accelerate's configuration, asks for a CUDA device."""
    if setting == "attention":
        return str(value).startswith("flash")
    if setting == "optimizer":
        return any(word in str(value) for word in ("8bit", "paged", "bnb"))
    if setting == "use_cpu":  # of accelerate, for trainings in several processes
        return value is False
    return setting in ("vllm", "liger") and value is True
