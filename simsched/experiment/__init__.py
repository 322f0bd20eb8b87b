"""Experiments: a YAML file becomes a grid of runs, the runs a table, the table pictures.

``schema`` says what may be written, ``grid`` turns it into cells, ``worker`` computes one, ``store`` keeps what is
finished, ``runner`` drives them on all cores, ``report`` writes table, pictures and manifest.
"""

from __future__ import annotations

from simsched.experiment.runner import run_experiment
from simsched.experiment.schema import Experiment, load_experiment

__all__ = ["Experiment", "load_experiment", "run_experiment"]
