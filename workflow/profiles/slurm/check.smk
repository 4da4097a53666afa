# The toy of `make cluster-check`: one job on a CPU, one on a GPU, by the profile.

import sys

from polyreward.ops.cluster import site_settings
from polyreward.ops.workflow import stop_early
from polyreward.ops.resources import cluster_request

KINDS = ["cpu", "gpu"] if config["gpu"] else ["cpu"]


onstart:
    stop_early(workflow)


rule all:
    input:
        expand("{kind}.json", kind=KINDS),


rule cluster_check_cpu:
    output:
        "cpu.json",
    log:
        "cpu.log",
    resources:
        **cluster_request(site_settings(), minutes=10, mb=2_000),
    params:
        python=sys.executable,
    shell:
        "{params.python} -m polyreward.ops.node > {output} 2> {log}"


rule cluster_check_gpu:
    output:
        "gpu.json",
    log:
        "gpu.log",
    resources:
        **cluster_request(site_settings(), minutes=10, mb=4_000, gpus=1),
    params:
        python=sys.executable,
    shell:
        "{params.python} -m polyreward.ops.node > {output} 2> {log}"
