"""Compare the arithmetic of scoring with the best matrix multiplication of the same run, and profile it."""

import dataclasses
from functools import partial

import common
import torch
from torch.profiler import ProfilerActivity, profile

from polyreward.accel.trees import rows_of
from polyreward.scoring.classifier import Classifier
from polyreward.scoring.load import load_classifier
from polyreward.scoring.tokens import tokenized

MATMUL = ("aten::addmm", "aten::mm", "aten::bmm", "aten::matmul", "aten::linear", "mkldnn::_linear_pointwise")
ATTENTION = ("aten::scaled_dot_product", "aten::_scaled_dot_product")
CAPTION = """{model}, {pairs} pairs of {languages}, {threads} threads. The matrix multiplications and all
token budgets take turns, {repeats} rounds: median (least-greatest). Of best GEMM: FLOP/s of scoring, with its
tokenizer, as a percentage of the round's best multiplication, square or of the model's own shapes, by torch
or by oneDNN. FLOP: 2 x the linear layers' weights x tokens, with padding, and 4 x layers x heads x head size
x squared row length. Padding: computed tokens per token of the rows. Matmul to outside: percentages of
another, profiled run. Elementwise: every other torch operation. Outside: Python and the tokenizer."""


def best_gemm(decoder: torch.nn.Module, tokens: int, squares=(512, 1024, 2048)) -> float:
    """Return the FLOP/s of the fastest multiplication, square or as the decoder's on a batch of tokens."""
    linear = {tuple(m.weight.shape) for m in decoder.modules() if isinstance(m, torch.nn.Linear)}
    shapes = [(size, size, size) for size in squares]
    shapes += [(tokens, inner, columns) for columns, inner in sorted(linear)]
    backends = [torch.nn.functional.linear]
    if torch.backends.mkldnn.is_available():
        backends.append(lambda x, weight: torch.ops.mkldnn._linear_pointwise(x, weight, None, "none", [], ""))
    best = 0.0
    for rows, inner, columns in shapes:
        x = torch.rand(rows, inner, dtype=decoder.dtype)
        weight = torch.rand(columns, inner, dtype=decoder.dtype)
        for multiply in backends:
            fastest = min(common.seconds(partial(multiply, x, weight)) for _ in range(5))
            best = max(best, 2 * rows * inner * columns / fastest)
    return best


def scoring_run(model: Classifier, conversations: list) -> dict:
    """Score once; returns computed tokens and FLOP/s."""
    with common.counted(model.model.get_decoder()) as work:
        elapsed = common.seconds(lambda: model.score(conversations, "scoring"))
    return {"tokens": work.tokens, "flops": work.operations / elapsed}


def time_shares(model: Classifier, conversations: list) -> dict[str, str]:
    """Return where the time of a scoring run goes: percentages of its wall-clock time."""
    with profile(activities=[ProfilerActivity.CPU]) as profiled:
        elapsed = common.seconds(lambda: model.score(conversations, "profile"))
    found = {"matmul": 0.0, "attention": 0.0, "elementwise": 0.0}
    for event in profiled.key_averages():
        kind = "attention" if event.key.startswith(ATTENTION) else "elementwise"
        found["matmul" if event.key in MATMUL else kind] += event.self_cpu_time_total / 1e6
    found["outside"] = elapsed - sum(found.values())
    return {kind: f"{100 * share / elapsed:.0f}" for kind, share in found.items()}


def table_rows(model: Classifier, conversations: list, budgets: list[int], repeats: int) -> list[dict]:
    """Measure one model; returns a row for each token budget."""
    decoder = model.model.get_decoder()
    models = {f"budget {budget}": dataclasses.replace(model, token_budget=budget) for budget in budgets}
    rows, _ = rows_of(tokenized(model.tokenizer, conversations, model.max_length).groups, model.share)
    scoring_run(model, conversations)  # to warm up
    calls = {name: partial(scoring_run, one, conversations) for name, one in models.items()}
    found = common.interleaved({"gemm": partial(best_gemm, decoder, max(budgets)), **calls}, repeats)
    return [
        {
            "dtype": str(decoder.dtype).removeprefix("torch."),
            "token budget": one.token_budget,
            "padding": f"{found[name][0]['tokens'] / sum(map(len, rows)):.2f}",
            "of best GEMM (%)": common.ratios([100 * run["flops"] for run in found[name]], found["gemm"], 0),
            **time_shares(one, conversations),
        }
        for name, one in models.items()
    ]


def main() -> None:
    """Measure all dtypes and budgets and print one table."""
    parser = common.parser(__doc__, results=True, timed=True)
    parser.add_argument("--model", default=common.MODEL, help="a reward model of the results")
    parser.add_argument("--pairs", type=int, default=40, help="pairs to score")
    parser.add_argument("--languages", nargs="+", default=common.LANGUAGES, help="languages of the pairs")
    parser.add_argument("--dtypes", nargs="+", default=["float32", "bfloat16"], help="dtypes to compute in")
    parser.add_argument("--budgets", type=int, nargs="+", default=[1024, 2048], help="tokens of a batch")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    folder = common.existing(common.Paths(options.results).model(options.model))
    pairs = common.evaluation_pairs(options.results, options.languages, options.pairs)
    conversations, table = common.conversations_of(pairs), []
    for dtype in options.dtypes:
        model = load_classifier(folder, **{**common.CONFIG["scoring"], "dtype": dtype})
        table += table_rows(model, conversations, options.budgets, options.repeats)
    common.print_table(CAPTION.format(**{**vars(options), "languages": ", ".join(options.languages)}), table)


if __name__ == "__main__":
    common.run(main)
