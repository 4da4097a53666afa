"""What reaches into private parts of a library was written for one release of it.

Where a test fails here, a release is new: look whether the parts are still what the other tests of this folder
take them for, then write its version down."""

import inspect
from importlib.metadata import version

import pytest
import torch
import trl.trainer.grpo_trainer
import trl.trainer.utils
from transformers import AutoConfig

from polyreward.accel import is_eager, onednn


@pytest.mark.parametrize(
    ("library", "release"), [("trl", "1.16"), ("transformers", "5.23"), ("torch", "2.13")]
)
def test_the_release_is_the_one_that_private_parts_were_read_in(library, release):
    assert version(library).startswith(f"{release}.")


def test_trl_1_16_has_the_names_that_are_replaced():
    fused = inspect.getsource(trl.trainer.utils.add_fused_lm_head)
    assert (
        fused.count("_use_triton(") == fused.count("_ChunkedLogProbFunction.apply(") == 1
    )  # accel/vocabulary.py
    made = inspect.getsource(trl.trainer.grpo_trainer.GRPOTrainer.__init__)
    # accel/trainers.py: the model, where it is a name, and the reference
    assert made.count("= create_model_from_path(") == 2
    logprobs = trl.GRPOTrainer._get_per_token_logps_and_entropies
    asked = [
        "self",
        "model",
        "input_ids",
        "attention_mask",
        "logits_to_keep",
        "batch_size",
        "compute_entropy",
    ]
    assert list(inspect.signature(logprobs).parameters)[:7] == asked


def test_transformers_5_23_says_by_a_private_name_which_attention_a_model_has():
    config = AutoConfig.for_model("llama", attn_implementation="eager")
    assert is_eager(config) and not is_eager(AutoConfig.for_model("llama", attn_implementation="sdpa"))


def test_torch_2_13_multiplies_by_onednn_by_a_private_operator():
    x, weight = torch.randn(3, 8), torch.randn(5, 8)
    assert torch.allclose(onednn.OPERATOR(x, weight, None, "none", [], ""), x @ weight.t(), atol=1e-5)
