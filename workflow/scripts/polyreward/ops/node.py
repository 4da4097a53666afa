"""What a job finds on the machine that it runs on; `python -m polyreward.ops.node` prints it as JSON."""

import json
import os
import platform


def node_facts() -> dict:
    """Return the machine's name, the CPUs that this process may use, its Python and PyTorch, and the GPUs
    that PyTorch sees."""
    import torch  # takes seconds

    gpus = [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
    return {
        "node": platform.node(),
        "cpus": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "gpus": gpus,
    }


if __name__ == "__main__":
    print(json.dumps(node_facts()))
