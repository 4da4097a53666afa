"""Which settings only a CUDA device can run, and the packages that they need."""

EXTRAS = {"vllm": "vllm", "flash_attn": None}  # of pyproject.toml; `cuda` for every other package


def cuda_only(setting: str, value) -> bool:
    """Return whether a setting of config.yaml, or of accelerate's configuration, asks for a CUDA device."""
    if setting == "attention":
        return str(value).startswith("flash")
    if setting == "optimizer":
        return any(word in str(value) for word in ("8bit", "paged", "bnb"))
    if setting == "use_cpu":  # of accelerate, for trainings in several processes
        return value is False
    return setting in ("vllm", "liger") and value is True


def needed_package(setting: str, value) -> str | None:
    """Return the module that a setting needs next to torch; None where it needs none."""
    if setting == "distributed_type":
        return "deepspeed" if value == "DEEPSPEED" else None
    modules = {
        "optimizer": "bitsandbytes",
        "attention": "flash_attn",
        "liger": "liger_kernel",
        "vllm": "vllm",
    }
    return modules.get(setting) if cuda_only(setting, value) else None


def how_to_install(module: str) -> str:
    """Return what to do where a package of `needed_package` is missing."""
    extra = EXTRAS.get(module, "cuda")
    return f"pip install -e '.[{extra}]'" if extra else "install it for this torch, by its own instructions"
