"""A run on SMs, made by hand, to draw."""

from __future__ import annotations

from dataclasses import replace

from simsched.cost.base import Block
from simsched.hardware import SmLimits
from simsched.result import Result
from simsched.trace import Cohort
from tests.block_device import gpu, kernel, problem_of_kernels
from tests.traces import trace_of

LIMITS = SmLimits(threads=1024, shared_memory=100)


def block_result() -> Result:
    """Four kernels on three SMs.

    k0 has four blocks of which an SM holds one, in waves of 3 and 1, 20 ns each; k1 has three blocks of which an SM
    holds four; k2 one block of which an SM holds one, by its shared memory, beside one of k1; k3 needs no SM.
    """
    kernels = [
        kernel(40, 4, Block(threads=1024)),
        kernel(10, 3, Block(threads=256)),
        kernel(15, 1, Block(threads=128, shared_memory=60)),
        kernel(5),
    ]
    problem = problem_of_kernels(gpu(3, LIMITS), kernels)
    rows = [("k0", "gpu/s0", 0, 0, 0, 40), ("k1", "gpu/s1", 0, 0, 20, 30), ("k2", "gpu/s2", 0, 0, 20, 35)]
    trace = trace_of(problem, [*rows, ("k3", "gpu/s3", 0, 0, 20, 25)])
    cohorts = (
        Cohort(0, 0, 0, 20, ((0, 1), (1, 1), (2, 1))),
        Cohort(3, 0, 20, 25, ()),
        Cohort(1, 0, 20, 30, ((1, 2), (2, 1))),
        Cohort(2, 0, 20, 35, ((2, 1),)),
        Cohort(0, 1, 20, 40, ((0, 1),)),
    )
    return Result(problem, "by_hand", replace(trace, cohorts=cohorts))
