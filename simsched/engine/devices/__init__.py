"""Device models by name: one file each, one class each."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from simsched.engine.devices import blocks, lanes, sm_share
from simsched.engine.devices.base import DeviceModel, Site

MODELS: Mapping[str, Callable[[Site], DeviceModel]] = {
    "lanes": lanes.Lanes,
    "sm_share": sm_share.SmShare,
    "blocks": blocks.Blocks,
}
