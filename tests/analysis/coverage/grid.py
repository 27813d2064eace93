"""The cells in which the report's intervals must hold, and their limits."""

from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from tests.analysis.coverage.measures import Measured
from tests.analysis.coverage.worlds import ASSIGNMENTS, SEED, World

RATES = (0.03, 0.1, 0.3, 0.5, 0.9, 0.97)
DESIGNS = ((1, 6), (1, 10), (4, 5), (1, 20), (4, 10), (8, 5), (4, 40))
CONTINUATIONS = (1, 3, 10)
MIN_UNITS = 5
"""Units from which on the report shows intervals; smaller designs are no cells."""
ENOUGH_UNITS = 20
NEARER = 0.6
"""By how many logits the third agent of a cell is nearer to a rate of .5."""
FEW = 0.05
"""Share of studies in which fewer than six units differ, from which on a cell is one of those."""
MOST = 0.5
"""Share of studies that must have a number for it to be held against limits."""

FULL_STUDIES, FAST_STUDIES, FAST_CELLS = 4000, 1000, 60
FAST_STEP, FAST_LOOKS_STEP = 4, 8
"""Each fourth cell of orders and of identical annotators, and each eighth of looks, is fast."""
MAX_SHARE_OUTSIDE, MAX_EXCESS = 0.02, 0.01
"""How many cells may lie outside their limits, and by how much."""
MAX_SIZE, MAX_WRONG_ORDER, MAX_WRONG_LOOK, MAX_ADJUSTED = 0.075, 0.065, 0.07, 0.06
"""Shares of studies: equal agents differ; wrong order; twenty looks; identical annotators."""

UNEVEN_ASSIGNMENTS = ("80/20", "90/10", "waves")
OTHERS = (0.91, 0.985)
"""Limits of differences for other annotators."""
DEFAULT = World((0.3, 0.3, 0.44), 4, 10, 3)
WITHOUT_UNITS = [
    World((rate,) * 2, 4, 40, continuations, "10")
    for rate in (0.3, 0.5)
    for continuations in CONTINUATIONS
]
"""Cells in which an analysis that ignores units must fail."""
WITHOUT_ANNOTATORS = [
    DEFAULT._replace(annotators=people, deviation=1.2, assignment="90/10") for people in (2, 3, 5)
]
"""Cells in which an analysis that ignores annotators must fail."""
UNEVEN = [
    *WITHOUT_ANNOTATORS,
    DEFAULT._replace(annotators=10, deviation=0.7, assignment="80/20"),
    DEFAULT._replace(annotators=5, deviation=0.7, assignment="80/20", continuations=1),
]
MAX_WITHOUT_UNITS, MAX_WITHOUT_ANNOTATORS, MIN_NAIVE_LOOKS = 0.85, 0.90, 0.15


class Tolerance(NamedTuple):
    """Allowances for chance: two standard errors of a coverage of .95 and of a share of .06."""

    coverage: float
    size: float

    @classmethod
    def of_studies(cls, studies: int) -> "Tolerance":
        """Return the tolerance of shares of so many studies."""
        return cls(*(2 * (share * (1 - share) / studies) ** 0.5 for share in (0.95, 0.06)))


class Breach(NamedTuple):
    """A number outside its limits."""

    number: str
    value: float
    low: float
    high: float

    @property
    def excess(self) -> float:
        """How far outside."""
        return max(self.low - self.value, self.value - self.high)

    def __str__(self) -> str:
        return f"{self.number} {self.value:.3f} outside {self.low:.3f}-{self.high:.3f}"


def list_plain_cells() -> list[World]:
    """List cells without annotators: three agents, of which the first two are equal."""
    cells = []
    for rate, design, continuations, units, missing in product(
        RATES, DESIGNS, CONTINUATIONS, ("own", "4", "10", "unequal"), (0.0, 0.3)
    ):
        third = round(float(expit(logit(rate) + (NEARER if rate <= 0.5 else -NEARER))), 4)
        cells.append(World((rate, rate, third), *design, continuations, units, missing))
    return [cell for cell in cells if cell.units_drawn >= MIN_UNITS]


def list_judged_cells() -> list[World]:
    """List cells with annotators, each in a plain cell and with two or three agents, drawn for it.

    Assignments that differ only in who judges are left out where all annotators judge all clips.
    """
    rng = np.random.default_rng(SEED)
    plain = [cell for cell in list_plain_cells() if cell.scenarios >= ENOUGH_UNITS]
    cells = []
    for people, deviation, assignment, verdicts in product(
        (1, 2, 3, 5, 10), (0.0, 0.7, 1.2), ASSIGNMENTS, (1, 2, 3)
    ):
        base = plain[rng.integers(len(plain))]
        agents = int(rng.choice([2, 3]))
        even = assignment in ("random", "favouring")
        most = people // 2 if assignment == "confounded" else people if even else people - 1
        if verdicts <= most and (people > 1 or assignment == "random"):
            cells.append(base._replace(
                rates=base.rates[:agents], annotators=people,
                deviation=deviation, assignment=assignment, verdicts=verdicts,
            ))  # fmt: skip
    return cells


def list_favouring_cells() -> list[World]:
    """List cells in which agents lie far apart, annotators favour agents, or people change."""
    far = (0.05, 0.05, 0.9), (0.5, 0.5, 0.6), (0.1, 0.5, 0.9)
    designs = ((4, 60, 2), (4, 30, 3), (4, 15, 1))
    cells = [
        World(rates, categories, size, continuations, annotators=people, strictness=strictness,
              assignment=assignment, favour=favour)
        for (rates, (categories, size, continuations)), (people, strictness), favour, assignment
        in product(
            zip(far, designs, strict=True), ((2, 0.7), (3, 1.2), (5, 0.5), (10, 0.7)),
            (0.0, 0.5, 0.8, 1.2), ("random", "80/20"),
        )
    ]  # fmt: skip
    waves = [
        World((0.5, 0.6, 0.5, 0.6), 4, 79, 3, annotators=4, strictness=strictness,
              assignment="waves", favour=favour)
        for strictness, favour in ((0.7, 0.0), (1.2, 0.0), (1.2, 0.4))
    ]  # fmt: skip
    return cells + waves


def list_cells() -> list[World]:
    """List the cells of the grid."""
    return list_plain_cells() + list_judged_cells() + list_favouring_cells()


def draw_fast_cells() -> list[World]:
    """Draw the cells of the fast tier by a fixed seed, in the order of the grid."""
    cells = list_plain_cells() + list_judged_cells()
    drawn = np.random.default_rng(SEED).choice(len(cells), FAST_CELLS, replace=False)
    return [cells[i] for i in sorted(drawn)]


def list_orders() -> list[World]:
    """List cells in which the order of all agents is judged: equal ones, or from .2 to .8."""
    return [
        World(rates, 4, 10, 3, units)
        for agents, units in product((2, 3, 6, 10, 20), ("own", "4"))
        for rates in ((0.1,) * agents, (0.5,) * agents, _spread(agents))
    ]


def _spread(agents: int) -> tuple[float, ...]:
    return tuple(round(0.2 + 0.6 * i / (agents - 1), 4) for i in range(agents))


def list_looks() -> list[tuple[World, str]]:
    """List cells of equal agents that are looked at twenty times, with the order of judging."""
    worlds = (World((0.5,), 4, 10, 5), World((0.1,), 4, 10, 3), World((0.5,), 4, 10, 5, "4"))
    return [
        (world._replace(rates=world.rates * agents), order)
        for world, agents, order in product(worlds, (2, 5), ("clips", "scenarios", "agents"))
    ]


def list_identical() -> list[World]:
    """List cells whose annotators do not differ."""
    return [
        World((0.5,) * agents, 4, 10, 3, annotators=people, assignment=assignment)
        for agents, people, assignment in product((6, 10), (3, 5), ("random", "80/20", "90/10"))
    ]


def check_share(number: str, value: float, limit: float) -> list[Breach]:
    """Return a share that is above its limit."""
    return [Breach(number, value, 0.0, limit)] if value > limit else []


def find_breaches(world: World, found: Measured, tolerance: float) -> list[Breach]:
    """Return the coverages of a cell that lie outside their limits.

    Rates of confounded agents are unranked and have no limits; those of uneven judging have
    wider ones, and so have differences with one judged continuation or few units that differ.
    """
    usual = world.units_drawn >= ENOUGH_UNITS and 0.1 <= world.rates[0] <= 0.9
    low, high = (0.93, 0.97) if usual else (0.925, 0.99)
    rate = (
        (min(low, 0.92), max(high, 0.985))
        if world.assignment in UNEVEN_ASSIGNMENTS
        else (low, high)
    )
    single = world.annotators > 0 and world.continuations == 1
    difference = (min(low, 0.91), high) if single else (low, high)
    if found.few > FEW:
        difference = min(difference[0], 0.92), 1.0
    limits = {}
    if world.assignment != "confounded":
        limits["rate"] = rate
    if found.identifiable >= MOST:
        limits["difference"] = difference
    if found.generalises >= MOST:
        limits["others"] = rate
        limits["others_difference"] = OTHERS
    breaches = [
        Breach(name, getattr(found, name), low - tolerance, high + tolerance)
        for name, (low, high) in limits.items()
    ]
    return [breach for breach in breaches if breach.excess > 0]
