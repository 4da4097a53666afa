"""Run rewardbench's command line on a CPU and write how long its scoring took; needs rewardbench's
environment, not polyreward's.

Called by against_rewardbench.py: `rewardbench_score.py MEASURED.json THREADS REWARDBENCH-OPTIONS...`. Nothing
of rewardbench is changed but the device that its texts are sent to: its pipeline names "cuda", here they stay
where they are."""

import json
import sys
import time

import torch
from rewardbench import rewardbench
from rewardbench.models import REWARD_MODEL_CONFIG, RewardBenchPipeline
from transformers import BatchEncoding

measured = {"computed_tokens": 0, "real_tokens": 0}


class MeasuredPipeline(RewardBenchPipeline):
    """rewardbench's own pipeline, with a clock at its two ends and a count of the tokens between."""

    def __init__(self, task, model, tokenizer):
        super().__init__(task, model, tokenizer)
        with torch.no_grad():
            self.model(
                input_ids=torch.ones((1, 8), dtype=torch.long)
            )  # the weights come into memory before the clock starts
        self.model.register_forward_pre_hook(_count, with_kwargs=True)

    def __call__(self, samples, **kwargs):
        """Score a batch; the first call starts the clock, every call stops it anew."""
        measured.setdefault("start", time.perf_counter())
        found = super().__call__(samples, **kwargs)
        measured["end"] = time.perf_counter()
        return found


def _count(module, args, kwargs):
    measured["computed_tokens"] += kwargs["input_ids"].numel()
    measured["real_tokens"] += int(kwargs["attention_mask"].sum())


def main() -> None:
    """Run rewardbench's command line with the remaining arguments, then write what was measured."""
    path, threads, *sys.argv[1:] = sys.argv[1:]
    torch.set_num_threads(int(threads))
    BatchEncoding.to = lambda self, device: self
    REWARD_MODEL_CONFIG["default"]["pipeline_builder"] = MeasuredPipeline
    rewardbench.main()
    measured["seconds"] = measured.pop("end") - measured.pop("start")
    with open(path, "w", encoding="utf-8") as stream:
        json.dump(measured, stream)


if __name__ == "__main__":
    main()
