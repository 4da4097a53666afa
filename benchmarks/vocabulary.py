"""Time log-probabilities under a whole vocabulary, and their gradients: by TRL's function and by parts."""

from functools import partial

import common
import torch

from polyreward.accel.vocabulary import ByParts

CAPTION = """Log-probabilities and entropies of {tokens} tokens, states of {width} numbers, {words} words,
{threads} threads; TRL's function and ours take turns, {repeats} rounds: median (least-greatest). Gradients:
those of the states, which adapters need. Ratio: TRL's time to ours, round by round. Apart: the largest
difference of a log-probability, nats, and of a gradient, relative to the largest one."""


def logprobs(function, states: torch.Tensor, weight: torch.Tensor, targets: torch.Tensor, gradients: bool):
    """Compute once; returns seconds, log-probabilities (tokens) and the states' gradients, None without."""
    own, found = states.clone().requires_grad_(gradients), {}
    arguments = (None, targets, 1.0, 32768, None, 1.0, ("log_probs", "entropy"))

    def compute() -> None:
        with torch.set_grad_enabled(gradients):
            found["logprobs"] = function.apply(own, weight, *arguments)[0]
            if gradients:
                found["logprobs"].mean().backward()

    return {"seconds": common.seconds(compute), "logprobs": found["logprobs"].detach(), "gradients": own.grad}


def main() -> None:
    """Time both with and without gradients, and print one table."""
    parser = common.parser(__doc__, timed=True)
    parser.add_argument("--tokens", type=int, default=1024, help="tokens of a batch")
    parser.add_argument("--width", type=int, default=640, help="numbers of a state (Gemma 3 270M: 640)")
    parser.add_argument("--words", type=int, default=262_144, help="of the vocabulary (Gemma 3: 262,144)")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    states = torch.randn(options.tokens, options.width)
    weight = torch.randn(options.words, options.width) / options.width**0.5
    targets, table = torch.randint(options.words, (options.tokens,)), []
    for gradients in (False, True):
        functions = {"TRL": ByParts.whole, "by parts": ByParts}
        asked = (states, weight, targets, gradients)
        calls = {name: partial(logprobs, function, *asked) for name, function in functions.items()}
        whole, parts = common.interleaved(calls, options.repeats).values()
        times = [[run["seconds"] for run in runs] for runs in (whole, parts)]
        apart = f"{(whole[0]['logprobs'] - parts[0]['logprobs']).abs().max().item():.1e}"
        if gradients:
            one, other = whole[0]["gradients"], parts[0]["gradients"]
            apart += f"; {((one - other).abs().max() / one.abs().max()).item():.1e}"
        row = {"what": "with gradients" if gradients else "log-probabilities only"}
        row |= {"TRL, s": common.spread(times[0]), "by parts, s": common.spread(times[1])}
        table.append({**row, "ratio": common.ratios(*times), "apart": apart})
    common.print_table(CAPTION.format(**vars(options)), table)


if __name__ == "__main__":
    common.run(main)
