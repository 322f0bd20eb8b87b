"""simsched: simulate how schedulers run a computation graph on given hardware.

Nothing is defined here. This is the table of contents of the public interface; each name is loaded from its module when
it is first used, so that ``import simsched`` costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simsched._version import __version__
from simsched.run import compare, run  # at once, or the name would be that of the module

if TYPE_CHECKING:
    from simsched.analysis.bounds import bounds
    from simsched.analysis.check import check_trace
    from simsched.analysis.metrics import metrics
    from simsched.cost.base import CostModel, KernelCost
    from simsched.cost.roofline import Roofline
    from simsched.errors import SimschedError
    from simsched.graph.builder import GraphBuilder
    from simsched.graph.io import load_graph, save_graph
    from simsched.graph.model import Graph
    from simsched.hardware import HardwareProfile, lanes, procs
    from simsched.problem import Problem, make_problem
    from simsched.profiles import load_hardware
    from simsched.result import Comparison, Result
    from simsched.schedule import Schedule, parse_schedule
    from simsched.schedulers.base import Dispatch, Policy, Scheduler, View
    from simsched.schedulers.registry import make_scheduler
    from simsched.trace import Trace

_MODULES = {
    # graphs
    "Graph": "simsched.graph.model",
    "GraphBuilder": "simsched.graph.builder",
    "load_graph": "simsched.graph.io",
    "save_graph": "simsched.graph.io",
    # hardware and costs
    "HardwareProfile": "simsched.hardware",
    "lanes": "simsched.hardware",
    "procs": "simsched.hardware",
    "load_hardware": "simsched.profiles",
    "CostModel": "simsched.cost.base",
    "KernelCost": "simsched.cost.base",
    "Roofline": "simsched.cost.roofline",
    "Problem": "simsched.problem",
    "make_problem": "simsched.problem",
    # schedulers
    "Scheduler": "simsched.schedulers.base",
    "Policy": "simsched.schedulers.base",
    "View": "simsched.schedulers.base",
    "Dispatch": "simsched.schedulers.base",
    "make_scheduler": "simsched.schedulers.registry",
    "Schedule": "simsched.schedule",
    "parse_schedule": "simsched.schedule",
    # results
    "Trace": "simsched.trace",
    "Result": "simsched.result",
    "Comparison": "simsched.result",
    "metrics": "simsched.analysis.metrics",
    "bounds": "simsched.analysis.bounds",
    "check_trace": "simsched.analysis.check",
    # errors
    "SimschedError": "simsched.errors",
}

__all__ = [
    "Comparison",
    "CostModel",
    "Dispatch",
    "Graph",
    "GraphBuilder",
    "HardwareProfile",
    "KernelCost",
    "Policy",
    "Problem",
    "Result",
    "Roofline",
    "Schedule",
    "Scheduler",
    "SimschedError",
    "Trace",
    "View",
    "__version__",
    "bounds",
    "check_trace",
    "compare",
    "lanes",
    "load_graph",
    "load_hardware",
    "make_problem",
    "make_scheduler",
    "metrics",
    "parse_schedule",
    "procs",
    "run",
    "save_graph",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'simsched' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
