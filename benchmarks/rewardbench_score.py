"""Run rewardbench's command line on a CPU and write how long its scoring took.

against_rewardbench.py calls it in rewardbench's environment: `rewardbench_score.py MEASURED.json THREADS
REWARDBENCH-OPTIONS...`. The only change to rewardbench is the device: its pipeline sends texts to "cuda".
"""

import json
import sys
import time

import torch
from rewardbench import rewardbench
from rewardbench.models import REWARD_MODEL_CONFIG, RewardBenchPipeline
from transformers import BatchEncoding

measured = {"computed_tokens": 0, "real_tokens": 0}


class MeasuredPipeline(RewardBenchPipeline):
    """rewardbench's pipeline with a clock and a count of tokens."""

    def __init__(self, task, model, tokenizer):
        super().__init__(task, model, tokenizer)
        with torch.no_grad():  # brings the weights into memory before the clock starts
            self.model(input_ids=torch.ones((1, 8), dtype=torch.long))
        self.model.register_forward_pre_hook(_count, with_kwargs=True)

    def __call__(self, samples, **kwargs):
        """Score a batch; the first call starts the clock, the last one stops it."""
        measured.setdefault("start", (time.perf_counter(), time.process_time()))
        found = super().__call__(samples, **kwargs)
        measured["end"] = (time.perf_counter(), time.process_time())
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
    start, end = measured.pop("start"), measured.pop("end")
    measured.update(seconds=end[0] - start[0], processor=end[1] - start[1])
    with open(path, "w", encoding="utf-8") as stream:
        json.dump(measured, stream)


if __name__ == "__main__":
    main()
