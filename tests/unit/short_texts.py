"""An overlay on scale tiny with which each of its jobs takes seconds."""

FEW = {"batch_size": 2, "gradient_accumulation": 1}
SHORT = {
    "scoring": {"max_length": 96, "token_budget": 256},
    "reward_model": {"max_length": 96, **FEW},
    "think_as_locals": {
        "warmup": {"max_length": 256, **FEW},
        "grpo": {"max_length": 512, "max_new_tokens": 2, "batch_size": 4, "gradient_accumulation": 1},
        "judge": {"max_length": 512, "max_new_tokens": 3},
        "judge_token_budget": 1024,
    },
    "carb": {"grpo": {"max_length": 96, "max_new_tokens": 2, "batch_size": 4, "gradient_accumulation": 1}},
    "alignment": {
        "sampling": {"max_new_tokens": 4, "batch_size": 2},
        "sft": {"max_length": 96, **FEW},
        "dpo": {"max_length": 96},
    },
}
