"""Time a step of writing in three ways: a growing cache, a static one, and a compiled step on a static one.

    python benchmarks/writing.py [--layers 12] [--width 256] [--rows 32] [--new 32] [--rounds 3]

On a card the third way is polyreward's, with CUDA graphs (polyreward/models/generation.py). On a CPU, which
does not wait for launches, it is only tried, compiled to C++. Weights are random. The ways take turns."""

import argparse
import tempfile
import time
from pathlib import Path
from statistics import median

import pandas as pd
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, CompileConfig

from polyreward.core.tables import as_markdown
from polyreward.models.batches import left_padded
from polyreward.models.devices import device
from polyreward.models.generation import static_cache
from polyreward.ops import stand_ins

CLOSE = 1e-3  # logits, in fp32


def ways(longest: int) -> dict[str, dict]:
    """Return the options of transformers' generate, by way."""
    static = static_cache(longest)
    mode = "reduce-overhead" if torch.cuda.is_available() else "default"
    compiled = CompileConfig(mode=mode)
    compiled._compile_all_devices = True  # a CPU, too
    return {
        "growing cache": {},
        "static cache": {**static, "disable_compile": True},
        "static cache, compiled": {**static, "compile_config": compiled},
    }


def main() -> None:
    """Print ms a step, and each way's ratio to the first in the same round."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, default in {"layers": 12, "width": 256, "rows": 32, "new": 32, "rounds": 3}.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    shape = {**stand_ins.SMALL, "layers": given.layers, "width": given.width, "mlp": 3 * given.width}
    shape["head_dim"] = given.width // shape["heads"]
    with tempfile.TemporaryDirectory() as temporary:
        folder = stand_ins.make_base("llama", stand_ins.by_shape(shape), None, Path(temporary, "base"))
        tokenizer = AutoTokenizer.from_pretrained(folder)
        model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).to(device()).eval()
    texts = stand_ins.Texts(tokenizer)
    prompts = [tokenizer.encode(texts.text(64, number)) for number in range(given.rows)]
    inputs = left_padded(prompts, tokenizer.pad_token_id, model.device)
    how = {"do_sample": False, "pad_token_id": 0, "output_logits": True, "return_dict_in_generate": True}

    def write(new: int, options: dict):
        start = time.perf_counter()
        length = {"max_new_tokens": new, "min_new_tokens": new}
        said = model.generate(**inputs, **how, **length, **options)
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        return time.perf_counter() - start, said

    options = ways(inputs["input_ids"].shape[1] + given.new)
    first, logits, steps = {}, {}, {name: [] for name in options}
    for name, own in options.items():
        first[name], said = write(given.new, own)
        logits[name] = torch.stack(said.logits)
    apart = {name: (one - logits["growing cache"]).abs().max().item() for name, one in logits.items()}
    for _ in range(given.rounds):
        for name, own in options.items():
            short, long = write(1, own)[0], write(given.new, own)[0]
            steps[name].append(1e3 * (long - short) / (given.new - 1))
    plain = steps["growing cache"]
    rows = [
        {
            "way": name,
            "first call (s)": first[name],
            "ms a step": median(found),
            "of the first way": median(one / base for one, base in zip(found, plain, strict=True)),
            "logits differ by": f"{apart[name]:.1g}",
        }
        for name, found in steps.items()
    ]
    print(f"{given.layers} layers, width {given.width}, {given.rows} rows, on {device()}\n")
    print(as_markdown(pd.DataFrame(rows), floatfmt=".2f"))
    if max(apart.values()) > CLOSE:
        raise SystemExit(f"logits differ by more than {CLOSE:g}")


if __name__ == "__main__":
    main()
