"""The same hardware, changed: other streams, memory, device model, or way to launch."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import get_args

from simsched import units
from simsched.errors import ConfigError, Fault, suggest
from simsched.hardware import Device, DeviceModelName, HardwareProfile, LaunchMode

MOST_STREAMS = 100_000
LAUNCH_MODES: tuple[LaunchMode, ...] = get_args(LaunchMode)
DEVICE_MODELS: tuple[DeviceModelName, ...] = get_args(DeviceModelName)


def with_streams(profile: HardwareProfile, streams: int, device: str | None = None) -> HardwareProfile:
    """Return the profile with another number of streams, on one device or on all.

    Where streams have priorities, those that stay keep theirs; added ones get 0, the default of CUDA.

    Raises
    ------
    ConfigError
        If it is not a whole number from 1 to 100,000, or there is no such device.

    Examples
    --------
    >>> from simsched.hardware import lanes
    >>> with_streams(lanes(4), 7).devices[0].streams
    7
    """
    if isinstance(streams, bool) or not isinstance(streams, int) or not 1 <= streams <= MOST_STREAMS:
        message = f"expected a number of streams from 1 to {MOST_STREAMS}, got {streams!r}"
        raise ConfigError(profile.name, [Fault(message)])

    def change(each: Device) -> Device:
        priorities = each.stream_priorities
        if priorities:
            priorities = (*priorities[:streams], *[0] * (streams - len(priorities)))
        return dataclasses.replace(each, streams=streams, stream_priorities=priorities)

    return _with(profile, device, change)


def with_memory(profile: HardwareProfile, usable: str | int, device: str | None = None) -> HardwareProfile:
    """Return the profile with another usable memory, on one device or on all.

    Parameters
    ----------
    profile : HardwareProfile
    usable : str or int
        ``"24 GiB"``, or bytes.
    device : str, optional

    Raises
    ------
    ConfigError
        If the capacity is not a positive size, or there is no such device.

    Examples
    --------
    >>> from simsched.hardware import lanes
    >>> with_memory(lanes(4), "24 GiB").devices[0].capacity
    25769803776
    """
    try:
        size = units.size(usable, bare=1 if isinstance(usable, int) else None)
    except ValueError as error:
        raise ConfigError(profile.name, [Fault(str(error))]) from None
    if size < 1:
        raise ConfigError(profile.name, [Fault(f"expected a positive size such as '24 GiB', got {usable!r}")])
    return _with(profile, device, lambda each: dataclasses.replace(each, memory_usable=size))


def with_launch(profile: HardwareProfile, mode: LaunchMode) -> HardwareProfile:
    """Return the profile with another way to launch kernels.

    Parameters
    ----------
    profile : HardwareProfile
    mode : {"free", "serial", "graph"}
        At no cost to the host; one after the other by the host; all at once, as one graph.

    Raises
    ------
    ConfigError
        If there is no such mode, or the profile says nothing of what a launch costs in it: it would be free.

    Examples
    --------
    >>> from simsched.hardware import Device, Host
    >>> with_launch(HardwareProfile("one", (Device("d0"),), host=Host(5_000)), "serial").host.mode
    'serial'
    """
    if mode not in LAUNCH_MODES:
        raise ConfigError(profile.name, [Fault(f"{mode!r} is not a way to launch; {suggest(str(mode), LAUNCH_MODES)}")])
    needed = {"serial": ("launch", profile.host.launch_ns), "graph": ("graph_launch", profile.host.graph_ns)}
    if mode in needed:
        key, cost = needed[mode]
        if not cost and f"host.{key}" not in profile.figures:
            message = (
                f"launch mode {mode!r} needs to know what a launch costs the host; "
                f"add it to the profile, for example 'host: {{{key}: 5 us}}'"
            )
            raise ConfigError(profile.name, [Fault(message)])
    return dataclasses.replace(profile, host=dataclasses.replace(profile.host, mode=mode))


def with_model(profile: HardwareProfile, model: DeviceModelName, device: str | None = None) -> HardwareProfile:
    """Return the profile with another device model, on one device or on all that can have it.

    ``sm_share`` and ``blocks`` need to know the number of SMs; devices without it keep the model that they have.

    Raises
    ------
    ConfigError
        If there is no such model or device, or the device, or every device, has no SMs.

    Examples
    --------
    >>> from simsched.hardware import Device
    >>> with_model(HardwareProfile("one", (Device("d0", resources={"sms": 4}),)), "blocks").devices[0].model
    'blocks'
    """
    if model not in DEVICE_MODELS:
        raise ConfigError(
            profile.name, [Fault(f"{model!r} is not a device model; {suggest(str(model), DEVICE_MODELS)}")]
        )
    meant = [each for each in profile.devices if device in (None, each.name)]
    if meant and model != "lanes" and not any("sms" in each.resources for each in meant):
        which = "the device has none" if len(meant) == 1 else "no device has any"
        message = f"device model {model!r} shares SMs, and {which}; choose hardware with 'sms' or 'cores', or 'lanes'"
        raise ConfigError(profile.name, [Fault(message)])

    def change(each: Device) -> Device:
        can = model == "lanes" or "sms" in each.resources
        return dataclasses.replace(each, model=model) if can else each

    return _with(profile, device, change)


def _with(profile: HardwareProfile, device: str | None, change: Callable[[Device], Device]) -> HardwareProfile:
    names = [each.name for each in profile.devices]
    if device is not None and device not in names:
        raise ConfigError(profile.name, [Fault(f"no device is called {device!r}; {suggest(device, names)}")])
    devices = tuple(change(each) if device in (None, each.name) else each for each in profile.devices)
    return dataclasses.replace(profile, devices=devices)
