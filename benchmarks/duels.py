"""How badly each scheduler can lose to each other one: ``python -m benchmarks.duels --steps 1000``.

One duel for each ordered pair; the table has the largest ratio of makespans that was found, a lower bound of the worst
case on instances of this size. After J. Coleman and B. Krishnamachari, arXiv:2403.07120, figure 4.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence

from benchmarks.results import commit
from simsched import __version__
from simsched.schedulers.registry import make_scheduler, split_specs
from simsched.study import Space, duel, make_space

SCHEDULERS = "heft,cpop,peft,etf,dls,min_min,max_min,sufferage,mct,critical_path"


def worst(loser: str, winner: str, space: Space, steps: int, seed: int) -> float:
    """Return the largest ratio that a duel finds."""
    found = duel(make_scheduler(loser), make_scheduler(winner), space, seed=seed, steps=steps)
    return 0.0 if found.best is None else found.best.ratio


def matrix(schedulers: Sequence[str], space: Space, steps: int, seed: int) -> list[str]:
    """Return the lines of the table in Markdown: who loses by row, to whom by column."""
    lines = [f"| loses to | {' | '.join(f'`{name}`' for name in schedulers)} | worst |"]
    lines.append("| --- |" + " --- |" * (len(schedulers) + 1))
    for loser in schedulers:
        ratios = [worst(loser, winner, space, steps, seed) if winner != loser else 1.0 for winner in schedulers]
        cells = ["-" if name == loser else f"{ratio:.2f}" for name, ratio in zip(schedulers, ratios, strict=True)]
        lines.append(f"| `{loser}` | {' | '.join(cells)} | {max(ratios):.2f} |")
    return lines


def main() -> None:
    """Print the table with the command that made it."""
    parser = argparse.ArgumentParser(description="Duel every scheduler with every other one.")
    parser.add_argument("--schedulers", default=SCHEDULERS)
    parser.add_argument("--hardware", default="procs:3")
    parser.add_argument("--vary", default="durations,edges,delays,operators")
    parser.add_argument("--operators", type=int, default=8)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    space = make_space(asked.hardware.split(","), vary=asked.vary.split(","), operators=asked.operators)
    words = shlex.join(["python", "-m", "benchmarks.duels", *sys.argv[1:]])
    print("\n".join(matrix(split_specs(asked.schedulers), space, asked.steps, asked.seed)))
    print(f"\n`{words}` · version {__version__}, commit {commit()}")


if __name__ == "__main__":
    main()
