"""Operations of a job, by its own script: products of matrices are counted, and the large ones not computed."""

import contextlib
import os
import runpy
import shutil
import time
from collections.abc import Callable
from math import prod
from pathlib import Path
from types import SimpleNamespace

import torch
from jobs import Job
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map_only
from torch.utils.flop_counter import flop_registry, sdpa_backward_flop_count, sdpa_flop_count

from polyreward.accel.frozen import FrozenLayers
from polyreward.core.errors import PolyrewardError

ATEN = torch.ops.aten
# Products of no more operations are computed: by those a job asks a model what it can do (trees.can_share).
SMALL = 10**8
LARGE = 2**16


def _by_onednn(x, weight, *others, out_val=None) -> int:
    return 2 * x.numel() * weight.shape[0]


def _attention(query, key, value, *others, out_val=None, **named) -> int:
    return sdpa_flop_count(query.shape, key.shape, value.shape)


def _attention_backward(grad, query, key, value, *others, out_val=None, **named) -> int:
    return sdpa_backward_flop_count(grad.shape, query.shape, key.shape, value.shape)


# {operator: its operations}; torch counts what a GPU has, these are the CPU's own. A mask hides scores but
# saves none.
FORMULAS: dict[object, Callable] = {
    **flop_registry,
    ATEN._scaled_dot_product_flash_attention_for_cpu: _attention,
    ATEN._scaled_dot_product_flash_attention_for_cpu_backward: _attention_backward,
}
if torch.backends.mkldnn.is_available():
    FORMULAS[torch.ops.mkldnn._linear_pointwise] = _by_onednn


class Counting(TorchDispatchMode):
    """Count the floating-point operations of a `with` block, forward and backward, padding included.

    A product of more than `small` operations is not computed: zeros of its shape take its place, and so they
    do in whatever is computed from them and no smaller than `large` numbers."""

    def __init__(self, small: int = SMALL, large: int = LARGE):
        super().__init__()
        self.small, self.large = small, large
        self.operations = 0
        self.zeros: dict[torch.dtype, torch.Tensor] = {}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        """Take an operator apart where it is made of others, else count it."""
        kwargs = kwargs or {}
        formula = FORMULAS.get(func._overloadpacket)
        if formula is None:
            with self:
                found = func.decompose(*args, **kwargs)
            return self._followed(func, args, kwargs) if found is NotImplemented else found
        shapes = _shapes(func, args, kwargs)
        operations = formula(*args, **kwargs, out_val=shapes)
        self.operations += operations
        if func._schema.is_mutable or (operations <= self.small and not _hollow(args, kwargs)):
            return func(*args, **kwargs)
        return tree_map_only(torch.Tensor, self._zeros, shapes)

    def _followed(self, func, args: tuple, kwargs: dict):
        """Return an operator's result; zeros where it is large and follows from zeros."""
        if not _hollow(args, kwargs):
            return func(*args, **kwargs)
        if func._schema.is_mutable and _hollow(args[:1], {}):
            return args[0]  # what is written to shares its memory with what is written
        if not any(one.alias_info for one in [*func._schema.arguments, *func._schema.returns]):
            with contextlib.suppress(
                NotImplementedError
            ):  # no shapes without memory for this operator: it runs below
                shapes = _shapes(func, args, kwargs)
                tensors = [one for one in tree_leaves(shapes) if isinstance(one, torch.Tensor)]
                if tensors and all(one.is_floating_point() and one.numel() >= self.large for one in tensors):
                    return tree_map_only(torch.Tensor, self._zeros, shapes)
        found = func(*args, **kwargs)
        for one in tree_leaves(found):
            if isinstance(one, torch.Tensor) and one.is_floating_point() and one.numel() >= self.large:
                one.hollow = True
        return found

    def _zeros(self, like: torch.Tensor) -> torch.Tensor:
        """Return zeros of a shape; all of them share their memory, which nobody reads."""
        size = (
            1 + sum((n - 1) * step for n, step in zip(like.shape, like.stride(), strict=True))
            if like.numel()
            else 0
        )
        if like.dtype not in self.zeros or self.zeros[like.dtype].numel() < size:
            self.zeros[like.dtype] = torch.zeros(size, dtype=like.dtype)
        found = self.zeros[like.dtype].as_strided(like.shape, like.stride())
        found.hollow = True
        return found


def _hollow(args: tuple, kwargs: dict) -> bool:
    return any(
        isinstance(one, torch.Tensor) and hasattr(one, "hollow") for one in tree_leaves((args, kwargs))
    )


def _shapes(func, args: tuple, kwargs: dict):
    """Return what an operator would return, as tensors without memory."""
    args, kwargs = tree_map_only(torch.Tensor, lambda one: one.to("meta"), (args, kwargs))
    return func(*args, **{**kwargs, **({"device": "meta"} if kwargs.get("device") else {})})


def operations_of(job: Job, project: Path, results: Path, small: int = SMALL, large: int = LARGE) -> dict:
    """Run a job's script in a project of its own and count; returns operations, those of frozen layers, and
    processor seconds of the count.

    project: of jobs.linked_project, with what earlier jobs left there. What the results folder lacks of the
    job's inputs must be among that (frozen states, say, which Snakemake removes); of its outputs only such is
    kept. To be called in a new process. Raises PolyrewardError where an input is missing."""
    os.chdir(project)
    _link(job, project, results)
    for path in [*job.asked["output"], *job.asked["log"]]:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    start = time.process_time()
    fill, frozen = FrozenLayers.fill, []

    def counted_fill(*arguments):
        before = counting.operations
        fill(*arguments)
        frozen.append(counting.operations - before)

    FrozenLayers.fill = counted_fill
    with Counting(small, large) as counting:
        runpy.run_path(
            f"workflow/scripts/{job.script}",
            {"snakemake": SimpleNamespace(resources=job.resources, **job.asked)},
        )
    for path in map(Path, job.asked["output"]):
        if _in_results(path, results).exists():
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    return {"operations": counting.operations, "frozen": sum(frozen), "seconds": time.process_time() - start}


def _in_results(path: str | Path, results: Path) -> Path:
    return Path(results, *Path(path).parts[1:])


def _link(job: Job, project: Path, results: Path) -> None:
    missing = []
    for path in map(Path, job.asked["input"]):
        there = _in_results(path, results).resolve()
        if path.exists():
            continue
        if not there.exists():
            missing.append(str(path))
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(there)
    if missing:
        raise PolyrewardError(
            f"{job.name}: {results} lacks {', '.join(missing)}; make the target there first"
        )


def best_rate(
    shapes: list[tuple[int, int, int]], dtype: torch.dtype, seconds: float, wait=lambda: None
) -> float:
    """Return the most operations per processor second that one thread reaches in products of matrices, as
    scoring multiplies.

    shapes: (rows, inner, columns). seconds: for all of them together. wait: called before the first, to start
    with others."""
    from polyreward.accel.onednn import multiply_by_onednn

    torch.set_num_threads(1)
    best = 0.0
    wait()
    with torch.inference_mode():
        for rows, inner, columns in shapes:
            layer = multiply_by_onednn(torch.nn.Linear(inner, columns, bias=False, dtype=dtype).eval())
            x, end = torch.rand(rows, inner, dtype=dtype), time.perf_counter() + seconds / len(shapes)
            while time.perf_counter() < end:
                start = time.process_time()
                layer(x)
                best = max(best, 2 * prod((rows, inner, columns)) / (time.process_time() - start))
    return best
