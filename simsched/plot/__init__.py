"""Pictures of results: one plot a file, each a function that draws and returns its axes. Needs matplotlib."""

from simsched.plot.arena import plot_arena
from simsched.plot.breakdown import plot_breakdown
from simsched.plot.comparison import plot_comparison
from simsched.plot.dag import plot_dag
from simsched.plot.figure import save
from simsched.plot.gantt import plot_gantt
from simsched.plot.lines import plot_lines
from simsched.plot.memory import plot_memory
from simsched.plot.roofline import plot_roofline
from simsched.plot.scaling import plot_scaling
from simsched.plot.sms import plot_sms
from simsched.plot.tradeoff import plot_tradeoff

__all__ = [
    "plot_arena",
    "plot_breakdown",
    "plot_comparison",
    "plot_dag",
    "plot_gantt",
    "plot_lines",
    "plot_memory",
    "plot_roofline",
    "plot_scaling",
    "plot_sms",
    "plot_tradeoff",
    "save",
]
