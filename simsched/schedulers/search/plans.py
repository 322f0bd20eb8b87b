"""From the best member to a plan that can be followed."""

from __future__ import annotations

from typing import NamedTuple

from simsched.graph.model import OpId
from simsched.schedulers.base import Policy
from simsched.schedulers.follow import static_policy
from simsched.schedulers.planning.machines import lanes_of
from simsched.schedulers.planning.plan import Plan
from simsched.schedulers.search.effort import Member
from simsched.schedulers.search.hold import handed_over, holding_policy
from simsched.schedulers.search.world import World


class Followed(NamedTuple):
    """A plan, the operators in its order, and who hands units to whom."""

    plan: Plan
    order: list[OpId]
    pairs: list[tuple[OpId, OpId]]

    def policy(self) -> Policy:
        """Return a policy that follows the plan."""
        if self.pairs:
            return holding_policy(self.plan, self.order, self.pairs)
        return static_policy(self.plan.schedule())


def follow_member(world: World, member: Member) -> Followed:
    """Give out streams, turn units of time into ns, and find out who hands units to whom.

    On devices that place blocks one by one nobody holds units in the run as in the plan, so nobody is held back.
    """
    start, end, problem = member.start, member.end, world.problem
    where = member.where or [0] * world.count
    order = sorted(range(world.count), key=lambda op: (start[op], op))
    stream = [0] * world.count
    pairs: list[tuple[OpId, OpId]] = []
    for device in range(world.devices):
        there = [op for op in order if where[op] == device]
        for op, lane in lanes_of(there, start, end).items():
            stream[op] = problem.device_streams[device][lane]
        if problem.devices[device].model != "blocks":
            for amount in world.units[device]:
                pairs += handed_over(there, end, start, amount)
    begin = [time // world.scale for time in start]
    durations = [problem.durations(device)[op] for op, device in enumerate(where)]
    plan = Plan(stream, begin, [time + took for time, took in zip(begin, durations, strict=True)])
    return Followed(plan, order, pairs)
