"""Rankings: ranks, gaps and intervals by hand, by exact enumeration and by repeated draws; and the command."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from random import Random

import pytest

from simsched.errors import ConfigError
from simsched.study.bootstrap import Interval, intervals
from simsched.study.cases import Case, read_cases
from simsched.study.ranking import FEWEST, Ranking, Standing, rank, ranks
from simsched.study.survival import agreement, survival
from tests.cli import invoke, objects

NAMES = ("a", "b", "c")


def case(unit: str, *makespans: int | None, bound: int = 10, family: str = "") -> Case:
    return Case(unit, family, makespans, bound)


def test_ranks_agree_with_their_definition() -> None:
    # Mean place over all orders of the ties.
    for makespans in itertools.product((5, 7, None), repeat=4):
        values = [math.inf if value is None else value for value in makespans]
        places: list[list[int]] = [[] for _ in values]
        for order in itertools.permutations(range(4)):
            if all(values[one] <= values[other] for one, other in itertools.pairwise(order)):
                for place, number in enumerate(order, 1):
                    places[number].append(place)
        assert ranks(makespans) == [sum(each) / len(each) for each in places]


def test_a_table_by_hand() -> None:
    cases = [case("g1", 10, 12, 12), case("g2", 11, 11, 15), case("g3", 30, 20, None, bound=20)]
    found = rank(NAMES, cases)
    by_name = {each.scheduler: each for each in found.standings}
    assert [each.scheduler for each in found.standings] == ["a", "b", "c"]
    assert by_name["a"].rank.mean == pytest.approx((1 + 1.5 + 2) / 3)
    assert by_name["b"].rank.mean == pytest.approx((2.5 + 1.5 + 1) / 3)
    assert by_name["c"].rank.mean == pytest.approx((2.5 + 3 + 3) / 3)
    assert [(by_name[name].wins, by_name[name].alone) for name in NAMES] == [(2, 1), (2, 1), (0, 0)]
    gaps = {name: (by_name[name].best, by_name[name].mean, by_name[name].worst) for name in NAMES}
    assert gaps["a"] == pytest.approx((0.0, 0.2, 0.5))
    assert gaps["b"] == pytest.approx((0.0, 0.1, 0.2))
    assert gaps["c"] == pytest.approx((0.2, 0.35, 0.5))
    assert by_name["c"].failed == 1
    assert (found.cases, found.units, found.known) == (3, 3, 2)
    ratio = found.pair("a", "b").more.mean
    assert ratio == pytest.approx((12 / 10 * 1 * 20 / 30) ** (1 / 3) - 1)
    assert found.pair("a", "c").more.mean == pytest.approx((12 / 10 * 15 / 11) ** 0.5 - 1)  # without what failed


def test_seeds_of_one_graph_are_averaged_before_graphs_are() -> None:
    many = [case("g1", 10, 20) for _ in range(9)]
    found = rank(("a", "b"), [*many, case("g2", 20, 10)])
    assert [each.rank.mean for each in found.standings] == [1.5, 1.5]
    assert (found.cases, found.units) == (10, 2)
    assert found.pairs[0].more.mean == pytest.approx(0.0)


def test_one_graph_has_no_interval_and_few_have_no_real_difference() -> None:
    alone = rank(("a", "b"), [case("g", 10, 20), case("g", 10, 25)])
    assert math.isnan(alone.standings[0].rank.low)
    for count in range(1, FEWEST + 3):
        found = rank(("a", "b"), [case(f"g{number}", 10, 20 + number) for number in range(count)])
        assert found.pairs[0].real is (count >= FEWEST)


def test_intervals_agree_with_all_resamples_counted() -> None:
    values = [0.0, 1.0, 5.0, 7.0]
    means = sorted(sum(drawn) / 4 for drawn in itertools.product(values, repeat=4))
    (found,) = intervals([[value] for value in values], ["one"] * 4, resamples=20_000)
    assert found.mean == pytest.approx(13 / 4)
    assert found.low in means[int(0.02 * 256) : int(0.03 * 256) + 1]
    assert found.high in means[int(0.97 * 256) : int(0.98 * 256) + 1]


def test_families_keep_their_shares() -> None:
    values = [[1.0], [1.0], [3.0], [3.0]]
    assert intervals(values, ["x", "x", "y", "y"]) == [Interval(2.0, 2.0, 2.0)]
    (mixed,) = intervals(values, ["x"] * 4)
    assert mixed.low < 2.0 < mixed.high


def test_what_is_not_known_is_left_out_of_a_mean() -> None:
    found = intervals([[1.0, math.nan], [3.0, math.nan], [math.nan, math.nan]], ["x"] * 3)
    assert found[0].mean == 2.0
    assert math.isnan(found[1].mean)


def drawn_cases(rng: Random, count: int, factors: tuple[float, ...]) -> list[Case]:
    return [
        case(f"g{number}", *(round(1e6 * factor * math.exp(rng.gauss(0.0, 0.1))) for factor in factors), family="f")
        for number in range(count)
    ]


def test_schedulers_that_do_not_differ_are_rarely_told_apart() -> None:
    rng = Random(1)
    wrong = sum(
        any(pair.real for pair in rank(("a", "b", "c", "d"), drawn_cases(rng, 30, (1.0,) * 4), resamples=300).pairs)
        for _ in range(100)
    )
    assert wrong <= 12  # of 100, 5 expected; the bootstrap of 30 graphs is a little too sure


def test_schedulers_that_differ_are_told_apart() -> None:
    rng = Random(2)
    for _ in range(20):
        found = rank(NAMES, drawn_cases(rng, 30, (1.0, 1.2, 1.4)), resamples=300)
        assert [each.scheduler for each in found.standings] == list(NAMES)
        assert all(pair.real for pair in found.pairs)
    assert found.pair("a", "b").more.mean == pytest.approx(0.2, abs=0.1)


def test_most_intervals_hold_the_truth() -> None:
    rng = Random(3)
    held = 0
    for _ in range(100):
        found = rank(("a", "b"), drawn_cases(rng, 25, (1.0, 1.5)), resamples=300).pair("a", "b").more
        held += found.low <= 0.5 <= found.high
    assert 88 <= held <= 100


def ranking(*means: float) -> Ranking:
    rows = [
        Standing(name, Interval(mean, mean, mean), 0, 0, 0.0, 0.0, 0.0, 0)
        for name, mean in zip("abcd", means, strict=False)
    ]
    return Ranking("", tuple(sorted(rows, key=lambda row: row.rank.mean)), (), 1, 1, 0)


def test_agreement_of_two_orders() -> None:
    assert agreement(ranking(1, 2, 3), ranking(1, 2, 3)) == 1.0
    assert agreement(ranking(1, 2, 3), ranking(3, 2, 1)) == -1.0
    # One pair of six turned: (5 - 1) / 6. One pair tied on one side: 5 / sqrt(5 * 6).
    assert agreement(ranking(1, 2, 3, 4), ranking(1, 2, 4, 3)) == pytest.approx(4 / 6)
    assert agreement(ranking(1, 2, 3, 4), ranking(1, 2, 3.5, 3.5)) == pytest.approx(5 / 30**0.5)


def test_what_becomes_of_differences() -> None:
    rng = Random(5)
    before = rank(NAMES, drawn_cases(rng, 30, (1.0, 1.3, 1.6)), title="before")
    after = rank(NAMES, drawn_cases(rng, 30, (1.3, 1.0, 1.0)), title="after")
    found = survival(before, after)
    assert found.title == "after"
    assert not found.kept
    assert [{pair.first, pair.second} for pair in found.faded] == [{"b", "c"}]
    assert [pair.second for pair in found.turned] == ["a", "a"]
    same = survival(before, before)
    assert len(same.kept) == 3
    assert same.agreement == 1.0


HEAD = "graph,hardware,scheduler,seed,makespan_ns,lower_bound_ns,valid\n"


def table(folder: Path, name: str, *rows: str) -> Path:
    path = folder / name
    path.write_text(HEAD + "".join(f"{row}\n" for row in rows))
    return path


def test_runs_of_several_tables_come_together(tmp_path: Path) -> None:
    first = table(tmp_path, "one.csv", "g,lanes:2,a,0,12,10,true", "h,lanes:2,a,0,15,9,true")
    second = table(
        tmp_path, "two.csv", "g,lanes:2,b,0,14,11,true", "g,lanes:2,a,0,12,10,true", "k,lanes:2,b,0,,3,false"
    )
    found = read_cases([first, second])
    assert found.schedulers == ("a", "b")
    assert list(found.groups[""]) == [Case("g", "", (12, 14), 11)]
    assert found.left_out == 2


def test_runs_that_failed_or_broke_a_rule_have_no_makespan(tmp_path: Path) -> None:
    path = table(tmp_path, "one.csv", "g,lanes:2,a,0,,10,false", "g,lanes:2,b,0,9,10,false", "g,lanes:2,c,0,11,10,true")
    (found,) = read_cases([path]).groups[""]
    assert found.makespans == (None, None, 11)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (HEAD, "holds no rows"),
        ("a,b\n1,2\n", "has no column 'graph'; it is not a table of runs"),
        (HEAD + "g,l,a,0,x,3,true\n", "line 2: expected whole numbers"),
        (HEAD + "g,l,a,0,4,3,true\ng,l,a,0,5,3,true\n", "line 3: a took 4 elsewhere and 5 here"),
        (HEAD + "g,l,a,0,4,3,true\nh,l,b,0,5,3,true\n", "no problem on which all schedulers were run"),
        ("\0\xff", "is not a table"),
    ],
)
def test_tables_that_cannot_be_ranked(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ConfigError, match=words):
        read_cases([tmp_path])


EXPERIMENT = """
name: small
graphs:
  - generate: layered_random
    parameters: {n: 12, seed: [1, 2, 3, 4, 5, 6, 7]}
hardware: lanes:2
schedulers: [critical_path, serial]
noise: [none, 0.3]
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ranking")
    (folder / "small.yaml").write_text(EXPERIMENT)
    assert (
        invoke("experiment", str(folder / "small.yaml"), "-o", str(folder / "out"), "--no-plots", "-j", "1").exit_code
        == 0
    )
    return folder / "out"


def test_an_experiment_is_ranked(results: Path, tmp_path: Path) -> None:
    done = invoke("rank", str(results), "--by", "noise", "-o", str(tmp_path / "ranks.png"))
    assert done.exit_code == 0, done.output
    assert "noise none: 7 graphs" in done.stdout
    assert "1 of 1 difference between two schedulers are real" in done.stdout
    assert "What becomes of the real differences of 'noise none'" in done.stdout
    before = (tmp_path / "ranks.png").read_bytes()
    invoke("rank", str(results), "--by", "noise", "-o", str(tmp_path / "ranks.png"))
    assert (tmp_path / "ranks.png").read_bytes() == before


def test_the_json_of_a_ranking(results: Path) -> None:
    first, second = objects("rank", str(results), "--by", "noise")
    assert (first["title"], second["title"]) == ("noise none", "noise lognormal(0.3)")
    assert [each["scheduler"] for each in first["schedulers"]] == ["critical_path", "serial"]
    assert first["schedulers"][0]["wins"] == 7
    (difference,) = first["differences"]
    assert difference["real"] is True
    assert 0 < difference["low"] < difference["longer"] < difference["high"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no results given"),
        (["nowhere"], "no such table"),
        (["RESULTS", "--by", "nois"], "did you mean 'noise'"),
        (["RESULTS", "--resamples", "5"], "from 100 to 1000000"),
    ],
)
def test_a_wrong_command_says_why(words: list[str], message: str, results: Path) -> None:
    done = invoke("rank", *(str(results) if word == "RESULTS" else word for word in words))
    assert done.exit_code == 2
    assert message in done.output


def test_compare_sums_several_graphs_up() -> None:
    done = invoke(
        "compare", "rewrite_before", "rewrite_after", "diamond", "-H", "lanes:2", "-s", "critical_path,serial"
    )
    assert done.exit_code == 0
    summary = done.stdout.partition("All 3 graphs")[2]
    lines = [line.split() for line in summary.splitlines() if line]
    assert ["rewrite_after", "critical_path", "0.0", "%", "33.3", "%", "66.7", "%"] in lines
    assert next(line for line in lines if line[0] == "critical_path")[3:5] == ["3", "2"]
    assert "own time" in summary
    assert "All" not in invoke("compare", "diamond", "-H", "lanes:2", "-s", "serial").stdout
