"""Compare the arithmetic of scoring with the best matrix multiplication of the same run, over token budgets,
and profile it."""

import dataclasses
from functools import partial

import common
import torch
from torch.profiler import ProfilerActivity, profile

from polyreward.accel.trees import rows_of
from polyreward.scoring.classifier import Classifier
from polyreward.scoring.load import load_classifier
from polyreward.scoring.tokens import tokenized

SQUARES = [(size, size, size) for size in (512, 1024, 2048)]
MATMUL = ("aten::addmm", "aten::mm", "aten::bmm", "aten::matmul", "aten::linear", "mkldnn::_linear_pointwise")
ATTENTION = ("aten::scaled_dot_product", "aten::_scaled_dot_product")
CAPTION = """{model}, {pairs} pairs of {languages}, prompts shared. The matrix multiplications and all token budgets take
turns, {repeats} rounds: median (least-greatest). Of best GEMM: FLOP/s that scoring computes, its tokenizer and all, as a
percentage of the round's best multiplication, square or of the model's own shapes, by torch's linear or by oneDNN. Counted:
2 x the linear layers' weights x tokens, padding too, and 4 x layers x heads x head size x squared length of each row for
attention. Padding: computed tokens per token of the rows. Speed: as a ratio to the budget of {used} tokens. Matmul to
outside: percentages of one more, profiled run; elementwise is every other torch operation, outside is Python and the
tokenizer. Goal: 70% of the best GEMM."""


def gemm_shapes(decoder: torch.nn.Module, tokens: int) -> list[tuple[int, int, int]]:
    """Return (rows, inner, columns) of square multiplications and of the decoder's linear layers on a batch."""
    linear = {tuple(m.weight.shape) for m in decoder.modules() if isinstance(m, torch.nn.Linear)}
    return SQUARES + [(tokens, inner, columns) for columns, inner in sorted(linear)]


def best_gemm(shapes: list[tuple[int, int, int]], dtype: torch.dtype) -> float:
    """Return the FLOP/s of the fastest multiplication, each the best of five."""
    backends = [torch.nn.functional.linear]
    if torch.backends.mkldnn.is_available():
        backends.append(lambda x, weight: torch.ops.mkldnn._linear_pointwise(x, weight, None, "none", [], ""))
    best = 0.0
    for rows, inner, columns in shapes:
        x, weight = torch.rand(rows, inner, dtype=dtype), torch.rand(columns, inner, dtype=dtype)
        for multiply in backends:
            fastest = min(
                common.seconds(lambda multiply=multiply, x=x, weight=weight: multiply(x, weight))
                for _ in range(5)
            )
            best = max(best, 2 * rows * inner * columns / fastest)
    return best


def scoring_run(model: Classifier, conversations: list) -> dict:
    """Score once; returns seconds, computed tokens and FLOP/s."""
    with common.counted(model.model.get_decoder()) as work:
        elapsed = common.seconds(lambda: model.score(conversations, "scoring"))
    return {"seconds": elapsed, "tokens": work.tokens, "flops": work.operations / elapsed}


def time_shares(model: Classifier, conversations: list) -> dict[str, str]:
    """Return where the time of a scoring run goes: percentages of its wall-clock time."""
    with profile(activities=[ProfilerActivity.CPU]) as profiled:
        elapsed = common.seconds(lambda: model.score(conversations, "profile"))
    found = {"matmul": 0.0, "attention": 0.0, "elementwise": 0.0}
    for event in profiled.key_averages():
        kind = (
            "matmul"
            if event.key in MATMUL
            else "attention"
            if event.key.startswith(ATTENTION)
            else "elementwise"
        )
        found[kind] += event.self_cpu_time_total / 1e6
    found["outside"] = elapsed - sum(found.values())
    return {kind: f"{100 * share / elapsed:.0f}" for kind, share in found.items()}


def table_rows(
    model: Classifier, conversations: list, threads: int, budgets: list[int], repeats: int
) -> list[dict]:
    """Measure one model at one number of threads; returns a row for each token budget."""
    torch.set_num_threads(threads)
    decoder = model.model.get_decoder()
    shapes = gemm_shapes(decoder, max(budgets))
    models = {f"budget {budget}": dataclasses.replace(model, token_budget=budget) for budget in budgets}
    rows, _ = rows_of(tokenized(model.tokenizer, conversations, model.max_length).groups, model.share)
    scoring_run(model, conversations)  # to warm up
    calls = {name: partial(scoring_run, one, conversations) for name, one in models.items()}
    found = common.interleaved({"gemm": partial(best_gemm, shapes, decoder.dtype), **calls}, repeats)
    used = [run["seconds"] for run in found[f"budget {reference(budgets)}"]]
    return [
        {
            "dtype": str(decoder.dtype).removeprefix("torch."),
            "threads": threads,
            "token budget": one.token_budget,
            "padding": f"{found[name][0]['tokens'] / sum(map(len, rows)):.2f}",
            "of best GEMM (%)": common.ratios([100 * run["flops"] for run in found[name]], found["gemm"], 0),
            "speed": common.ratios(used, [run["seconds"] for run in found[name]]),
            **time_shares(one, conversations),
        }
        for name, one in models.items()
    ]


def reference(budgets: list[int]) -> int:
    """Return the budget that speeds are ratios to: the configured one where it is asked for."""
    configured = common.CONFIG["scoring"]["token_budget"]
    return configured if configured in budgets else budgets[0]


def main() -> None:
    """Measure all dtypes, threads and budgets and print one table."""
    parser = common.options_parser(__doc__)
    parser.add_argument("--model", default=common.MODEL, help="trained reward model of the results")
    parser.add_argument("--pairs", type=int, default=60, help="pairs to score")
    parser.add_argument("--languages", nargs="+", default=common.LANGUAGES, help="of the pairs")
    parser.add_argument(
        "--dtypes", nargs="+", default=["float32", "bfloat16"], help="what the model computes in"
    )
    parser.add_argument(
        "--budgets", type=int, nargs="+", default=[512, 1024, 2048, 4096], help="tokens per padded batch"
    )
    options = parser.parse_args()
    folder = common.reward_model_folder(options.results, options.model)
    conversations = common.conversations_of(
        common.evaluation_pairs(options.results, options.languages, options.pairs)
    )
    table = []
    for dtype in options.dtypes:
        model = load_classifier(folder, **{**common.CONFIG["scoring"], "dtype": dtype})
        for threads in sorted({1, options.threads}):
            table += table_rows(model, conversations, threads, options.budgets, options.repeats)
    facts = {**vars(options), "languages": " ".join(options.languages), "used": reference(options.budgets)}
    common.print_table(CAPTION.format(**facts), table)


if __name__ == "__main__":
    common.run(main)
