"""Whatever is done to a profile's text, it loads or is refused with a located message; nothing else comes out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from simsched.errors import ConfigError, InputError, UnknownNameError
from simsched.hardware import HardwareProfile
from simsched.profiles import check_profile, checks, figure_rows, load_hardware, parse_profile, profile_row

FOLDER = Path(__file__).resolve().parents[2] / "hardware_profiles"
TEXTS = [path.read_text("utf-8") for path in sorted(FOLDER.glob("*.yaml"))]

SNIPPETS = st.sampled_from(
    [
        "", " ", "\n", "\t", ":", ": ", "- ", "{", "}", "[", "]", ",", "@", " @", "@@", "#", '"', "'", "&a ", "*a",
        "---\n", "...", "|", ">-", "?", "%", "unknown", "null", "~", "true", ".nan", ".inf", "-0", "0", "-1", "1e400",
        "1e-400", "1e9999999999", "0x10", "9" * 400, "80 GiB", "GB", "80", "2.6 us", "\x00", "\x85", "\u2028", "é",
        "!!int ", "💥", "<<: ", "devices:\n", "sources: {}\n", "links:\n  - {between: [gpu, gpu]}\n", "sms: 7\n",
        "    sms: 1\n",
    ]
)  # fmt: skip


@st.composite
def mutated(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from(TEXTS))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        length = draw(st.integers(0, 40))
        new = draw(st.one_of(SNIPPETS, st.text(max_size=12)))
        text = text[:start] + new + text[start + length :]
    return text


@st.composite
def with_a_line_changed(draw: st.DrawFn) -> str:
    lines = draw(st.sampled_from(TEXTS)).splitlines(keepends=True)
    number = draw(st.integers(0, len(lines) - 1))
    change = draw(st.sampled_from(["drop", "double", "indent", "outdent", "value", "swap"]))
    line = lines[number]
    if change == "drop":
        lines[number] = ""
    elif change == "double":
        lines[number] = line * 2
    elif change == "indent":
        lines[number] = "  " + line
    elif change == "outdent":
        lines[number] = line[1:]
    elif change == "value":
        lines[number] = line.partition(":")[0] + ": " + draw(SNIPPETS) + "\n"
    else:
        other = draw(st.integers(0, len(lines) - 1))
        lines[number], lines[other] = lines[other], lines[number]
    return "".join(lines)


def outcome(load: Callable[[str], HardwareProfile], text: str) -> HardwareProfile | InputError | UnknownNameError:
    try:
        return load(text)
    except (InputError, UnknownNameError) as error:
        return error


def judge(text: str) -> None:
    profile = outcome(parse_profile, text)
    if not isinstance(profile, HardwareProfile):
        assert isinstance(profile, ConfigError)
        assert profile.faults
        assert all(fault.message for fault in profile.faults)
        assert "Traceback" not in str(profile)
        return
    # What loads can be checked, shown and hashed.
    check_profile(profile)
    checks(profile)
    figure_rows(profile)
    profile_row(profile)
    assert len(profile.content_hash) == 64


@given(mutated())
@settings(max_examples=200, deadline=None)
def test_mutated_text(text: str) -> None:
    judge(text)


@given(with_a_line_changed())
@settings(max_examples=200, deadline=None)
def test_changed_lines(text: str) -> None:
    judge(text)


@given(st.text(max_size=60))
@settings(max_examples=100, deadline=None)
def test_arbitrary_text(text: str) -> None:
    judge(text)


SHORT_FORMS = st.one_of(
    st.builds("{}:{}".format, st.sampled_from(["lanes", "procs", "lane", "gpus", "native"]), st.text(max_size=8)),
    st.builds("{}:{}".format, st.sampled_from(["lanes", "procs"]), st.integers(-5, 300)),
)


@given(SHORT_FORMS)
@settings(max_examples=200, deadline=None)
def test_short_forms(form: str) -> None:
    kind, _, count = form.partition(":")
    profile = outcome(load_hardware, form)
    if not isinstance(profile, HardwareProfile):
        assert str(profile).startswith(form) or (isinstance(profile, UnknownNameError) and profile.name == form)
        assert isinstance(profile, InputError) or kind not in ("lanes", "procs")
        return
    assert kind in ("lanes", "procs")
    assert sum(device.streams for device in profile.devices) == int(count)
