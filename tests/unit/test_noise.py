from __future__ import annotations

import math
import random
import statistics

import pytest

from simsched.errors import ConfigError
from simsched.graph.builder import GraphBuilder
from simsched.hardware import Device, HardwareProfile, lanes
from simsched.noise import Noise, actual_durations, parse_noise
from simsched.problem import Problem
from tests.builders import problem_of


def independent(durations: list[int], hardware: HardwareProfile | None = None) -> Problem:
    builder = GraphBuilder("independent", time_unit="tick")
    for number, duration in enumerate(durations):
        builder.add_op(f"op{number}", duration=duration)
    return problem_of(builder.build(), hardware or lanes(2))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, None),
        ("none", None),
        (0.2, Noise("lognormal", 0.2)),
        ("0.2", Noise("lognormal", 0.2)),
        ("lognormal(0.5)", Noise("lognormal", 0.5)),
        ("uniform( 0.25 )", Noise("uniform", 0.25)),
        (Noise("uniform", 1.0), Noise("uniform", 1.0)),
        (0, Noise("lognormal", 0.0)),
    ],
)
def test_levels_are_read(text: str | float | None, expected: Noise | None) -> None:
    assert parse_noise(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("loud", "noise: 'loud' is not a noise level; write a level such as 0.2, 'lognormal(0.2)' or 'uniform(0.2)'"),
        ("nan", "noise: 'nan' is not a noise level; write a level such as 0.2, 'lognormal(0.2)' or 'uniform(0.2)'"),
        ("lognormal(0.2", None),
        ("0.2)", None),
        ("gauss(0.2)", None),
        ("1.2.3", None),
        ("uniform(1.5)", "noise: the level of uniform noise lies between 0 and 1; got 1.5"),
        ("-0.1", "noise: the level of lognormal noise lies between 0 and 5; got -0.1"),
        ("1e999", "noise: the level of lognormal noise lies between 0 and 5; got inf"),
        (float("nan"), None),
    ],
)
def test_what_is_no_level_is_refused(text: str | float, message: str | None) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_noise(text)
    assert message is None or str(caught.value) == message


def test_text_of_a_level_can_be_read_again() -> None:
    for noise in (Noise("lognormal", 0.25), Noise("uniform", 1.0)):
        assert parse_noise(str(noise)) == noise


@pytest.mark.parametrize("noise", [Noise("lognormal", 0.5), Noise("uniform", 0.5)])
def test_factors_have_the_stated_mean_and_spread(noise: Noise) -> None:
    stream = noise.factors(17)
    factors = [next(stream) for _ in range(100_000)]
    spread = math.sqrt(math.exp(0.5**2) - 1) if noise.kind == "lognormal" else 0.5 / math.sqrt(3)
    assert statistics.fmean(factors) == pytest.approx(1.0, abs=0.01)
    assert statistics.pstdev(factors) == pytest.approx(spread, rel=0.02)
    if noise.kind == "lognormal":
        logs = sorted(math.log(factor) for factor in factors)
        normal = statistics.NormalDist(-(0.5**2) / 2, 0.5)
        for share in (0.05, 0.25, 0.5, 0.75, 0.95):
            assert logs[int(share * len(logs))] == pytest.approx(normal.inv_cdf(share), abs=0.015)
    else:
        assert 0.5 <= min(factors) < 0.501
        assert 1.499 < max(factors) <= 1.5


def test_uniform_factors_follow_the_documented_formula() -> None:
    draw = random.Random(5).random
    expected = [1.0 + 0.3 * (2.0 * draw() - 1.0) for _ in range(10)]
    stream = Noise("uniform", 0.3).factors(5)
    assert [next(stream) for _ in range(10)] == expected


def test_actual_durations_are_whole_and_zero_stays_zero() -> None:
    problem = independent([0, 1, 1000, 100_003, 0, 7])
    (actual,) = actual_durations(problem, Noise("lognormal", 2.0), 3) or [[]]
    stream = Noise("lognormal", 2.0).factors(3)
    factors = [next(stream) for _ in range(6)]
    assert actual[2:4] == [round(1000 * factors[2]), round(100_003 * factors[3])]
    assert (actual[1], actual[5]) == (max(1, round(factors[1])), max(1, round(7 * factors[5])))
    assert actual[0] == actual[4] == 0
    assert all(isinstance(duration, int) for duration in actual)


def test_an_operator_is_misjudged_alike_on_every_device() -> None:
    builder = GraphBuilder("two devices", time_unit="tick")
    builder.add_op("a", duration={"p0": 1_000_000, "p1": 3_000_000})
    builder.add_op("b", duration=5_000_000)
    problem = problem_of(builder.build(), HardwareProfile("pair", (Device("p0"), Device("p1"))))
    first, second = actual_durations(problem, Noise("uniform", 0.5), 1) or ([], [])
    assert second[0] == pytest.approx(3 * first[0], abs=3)
    assert first[1] == second[1] != 5_000_000


def test_no_noise_is_no_second_truth() -> None:
    problem = independent([2, 3])
    assert actual_durations(problem, None, 1) is None
    assert actual_durations(problem, Noise("uniform", 0.0), 1) is None


def test_noise_depends_on_seed_and_graph_alone() -> None:
    few, many = independent([1009] * 5), independent([1009] * 9, lanes(7))
    noise = Noise("lognormal", 0.4)
    (short,), (long,) = actual_durations(few, noise, 11) or [[]], actual_durations(many, noise, 11) or [[]]
    assert long[:5] == short
    assert actual_durations(few, noise, 12) != [short]
