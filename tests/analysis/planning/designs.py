"""Small judged tables, of which studies are simulated."""

from __future__ import annotations

import numpy as np
import pandas as pd

from sts.jobs.pool import Pool
from sts_analysis.inputs import tables
from sts_analysis.inputs.ratings import check_ratings
from sts_analysis.inputs.subject import Subject
from sts_analysis.planning.pilot import Pilot, pilot
from sts_analysis.planning.selfcheck import Case, Checked, Share, check
from sts_analysis.planning.world import Design, design_of

COLUMNS = ["agent", "scenario", "category", "continuation", "annotator", "verdict"]


def plain(*, apart: bool = False, agents: str = "abc", scenarios: int = 40) -> pd.DataFrame:
    """Agents on scenarios of two categories, two continuations, each judged by one of two.

    Args:
      apart: whether each agent is judged by one person, the next agent by the other.
      agents: a letter each.
      scenarios: how many.
    """
    rng = np.random.default_rng(3)
    rows = []
    for i, agent in enumerate(agents):
        for s in range(scenarios):
            chance = rng.beta(0.75, 0.75)
            for n in range(2):
                who = i % 2 if apart else (s + n) % 2
                verdict = "success" if rng.random() < chance else "failure"
                rows.append((agent, f"s{s:02}", f"c{s % 2}", f"{agent}{s}-{n}", f"p{who}", verdict))
    return pd.DataFrame(rows, columns=COLUMNS)


def copied(*, scenarios: int = 30, each: int = 6) -> pd.DataFrame:
    """Two agents, whose continuations of a scenario are one clip where they end alike."""
    rng = np.random.default_rng(3)
    rows = []
    for agent in "ab":
        for s in range(scenarios):
            chance = rng.beta(0.3, 0.3)
            for n in range(each):
                verdict = "success" if rng.random() < chance else "failure"
                rows.append((agent, f"s{s:02}", "c", f"{agent}{s}-{n}", f"p{s % 2}", verdict))
    frame = pd.DataFrame(rows, columns=COLUMNS)
    return frame.assign(clip=frame["scenario"] + frame["verdict"])


def with_references(frame: pd.DataFrame, right: dict[str, float], number: int) -> pd.DataFrame:
    """The same, with so many reference episodes that each person answers, a share of them rightly.

    Args:
      frame: a ratings table.
      right: of each person, the share of right answers.
      number: of successes, and of others.
    """
    words = ("failure", "success")
    rows = [
        ("", "", "", f"r{r}", who, words[(r % 2) ^ (r // 2 >= share * number)], words[r % 2])
        for who, share in right.items()
        for r in range(2 * number)
    ]
    answers = pd.DataFrame(rows, columns=[*COLUMNS, "truth"])
    return pd.concat([frame, answers]).fillna("")


def judged(frame: pd.DataFrame, *, target: str = "sampled") -> Pilot:
    """The table, analysed."""
    ratings = check_ratings(tables.from_frame("t", frame))
    return pilot(ratings, Subject("t"), target=target)


def design(frame: pd.DataFrame, *, target: str = "sampled") -> Design:
    """The table's design."""
    return design_of(judged(frame, target=target))


def simulated(
    own: Design, *, studies: int, target: str = "sampled", better: bool = False
) -> Checked:
    """What came of so many studies of a design, in this process."""
    case = Case("x", own, better)
    (checked,) = check([case], target=target, studies=studies, seed=0, there=Pool(1, inside=True))
    return checked


def share(checked: Checked, name: str) -> Share:
    """One share that some study shows."""
    found = checked.shares[name]
    assert found is not None
    return found
