"""Hypothesis profiles: ``dev`` is quick and the default, ``ci`` tries ten times as many examples.

Both are derandomised: a test run is a function of the code alone. Choose with ``HYPOTHESIS_PROFILE=ci``.
"""

from __future__ import annotations

import os
import signal

from hypothesis import HealthCheck, settings

_QUIET = (HealthCheck.too_slow, HealthCheck.data_too_large)

settings.register_profile("dev", max_examples=40, deadline=None, derandomize=True, suppress_health_check=_QUIET)
settings.register_profile("ci", max_examples=400, deadline=None, derandomize=True, suppress_health_check=_QUIET)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))

# A shell lets what it starts in the background ignore Ctrl-C, and whatever that starts; the tests of interruptions
# need it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
