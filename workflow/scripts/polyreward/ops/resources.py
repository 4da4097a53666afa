"""What jobs ask for: on this machine what their models take, on a SLURM cluster what their rule says."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from polyreward.config.scale import Scale
from polyreward.ops.machine import model_memory_mb

Resource = (
    Callable[..., int] | int | str
)  # a function is of a job's wildcards, and on a cluster of its attempt


def cluster_request(site: dict, mb: int, minutes: int, gpus: int = 0) -> dict[str, Resource]:
    """Return {resource: value} of a job on a SLURM cluster; half as much memory and time again at each
    further attempt.

    site: as cluster.site_settings returns it; where it has no partition of GPUs the job runs on CPUs."""
    found: dict[str, Resource] = {
        "mem_mb": lambda wildcards, attempt: mb * (attempt + 1) // 2,
        "runtime": lambda wildcards, attempt: minutes * (attempt + 1) // 2,
    }
    if gpus and site["gpu_partition"]:
        found |= {"slurm_partition": site["gpu_partition"], "gpu": gpus}
        if site["gpu_type"]:
            found["gpu_model"] = site["gpu_type"]
    return found


@dataclass(frozen=True)
class JobResources:
    """Memory, time and GPUs of jobs.

    gpus: how many this machine has.
    runs_here: do jobs run on it, or elsewhere?
    site: a cluster's settings, as cluster.site_of returns them; None for any other way to run.

    What rules say of clusters, mb and minutes, is estimated for the papers' own models and data on GPUs of 80
    GB; `polyreward costs` says what jobs took."""

    scale: Scale
    gpus: int
    runs_here: Callable[[], bool]
    site: dict | None = None

    def of(
        self,
        kind: str,
        models: Callable[..., Iterable[str | dict]],
        training: dict | None = None,
        on_gpu: bool = True,
        *,
        mb: int,
        minutes: int,
    ) -> dict[str, Resource]:
        """Return {resource: value} of a job that holds models.

        kind: of polyreward.ops.machine.WORK.
        models: a function of the wildcards that returns names of models.yaml or entries of reward models,
        those that are loaded
            one after another.
        training: the section of its settings, where it trains.
        on_gpu: does it use a GPU, or one for each process of a training, where there is one?
        mb, minutes: what it asks for on a cluster."""
        known, launch, precision = self.scale.known.models, self.scale.launch, self.scale.precision
        processes = launch["num_processes"] if launch and training is not None else 1
        if self.site is not None:
            return cluster_request(self.site, mb, minutes, processes if on_gpu else 0)
        full = training is not None and not training["lora"]
        dtype = (
            "bfloat16" if training is None and precision == "bfloat16" else "float32"
        )  # auto may turn out as float32
        trains_on_cpu = training is not None and bool(launch) and launch.get("use_cpu", False)

        def entries(wildcards) -> list[dict]:
            return [known[one] if isinstance(one, str) else one for one in models(wildcards)]

        def mem_mb(wildcards) -> int:
            return processes * model_memory_mb(kind, entries(wildcards), known, dtype, full)

        def gpu(wildcards) -> int:
            held = [one.get("gpus", 1) for one in entries(wildcards) if "server" not in one]
            return processes * max(held) if held and self.runs_here() and not trains_on_cpu else 0

        return {"mem_mb": mem_mb, "gpu": gpu} if on_gpu and self.gpus else {"mem_mb": mem_mb}

    def without_model(self, *, mb: int, minutes: int) -> dict[str, Resource]:
        """Return the same of a job that holds no model, and needs more on a cluster than the profile's
        default."""
        return {} if self.site is None else cluster_request(self.site, mb, minutes)
