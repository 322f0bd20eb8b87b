"""Hypothesis profiles: ``dev`` is quick and the default, ``ci`` tries ten times as many examples.

Both are derandomised: a test run is a function of the code alone. Choose with ``HYPOTHESIS_PROFILE=ci``.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

_QUIET = (HealthCheck.too_slow, HealthCheck.data_too_large)

settings.register_profile("dev", max_examples=40, deadline=None, derandomize=True, suppress_health_check=_QUIET)
settings.register_profile("ci", max_examples=400, deadline=None, derandomize=True, suppress_health_check=_QUIET)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))
