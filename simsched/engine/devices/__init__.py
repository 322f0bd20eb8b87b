"""Device models by name: one file each, one function each."""

from __future__ import annotations

from collections.abc import Mapping

from simsched.engine.devices import lanes, sm_share
from simsched.engine.devices.base import Admit

MODELS: Mapping[str, Admit] = {"lanes": lanes.admit, "sm_share": sm_share.admit}
