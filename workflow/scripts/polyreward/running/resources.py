"""What a job with models asks for on this machine; what it asks for on a cluster stands in the cluster's profile."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from polyreward.core.machine import model_memory_mb
from polyreward.running.scale import Scale

Resource = Callable[..., int]  # of a job's wildcards


@dataclass(frozen=True)
class JobResources:
    """Memory and GPUs of jobs. gpus: how many this machine has. runs_here: do jobs run on it, or on a cluster?"""

    scale: Scale
    gpus: int
    runs_here: Callable[[], bool]

    def of(
        self, kind: str, models: Callable[..., Iterable[str | dict]], training: dict | None = None, on_gpu: bool = True
    ) -> dict[str, Resource]:
        """Return {resource: a function of the wildcards}: mem_mb in MB, and gpu where this machine has any.

        kind: of polyreward.core.machine.WORK. models: a function of the wildcards that returns names of models.yaml or entries
        of reward models, those that are loaded one after another. training: the section of its settings."""
        known, launch, precision = self.scale.known.models, self.scale.launch, self.scale.precision
        processes = launch["num_processes"] if launch and training is not None else 1
        full = training is not None and not training["lora"]
        dtype = "bfloat16" if training is None and precision == "bfloat16" else "float32"  # auto may turn out as float32
        trains_on_cpu = training is not None and bool(launch) and launch.get("use_cpu", False)

        def entries(wildcards) -> list[dict]:
            return [known[one] if isinstance(one, str) else one for one in models(wildcards)]

        def mem_mb(wildcards) -> int:
            return processes * model_memory_mb(kind, entries(wildcards), known, dtype, full)

        def gpu(wildcards) -> int:
            held = self.runs_here() and any("server" not in one for one in entries(wildcards))
            return processes if held and not trains_on_cpu else 0

        return {"mem_mb": mem_mb, "gpu": gpu} if on_gpu and self.gpus else {"mem_mb": mem_mb}
