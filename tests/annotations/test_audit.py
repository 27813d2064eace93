"""Audit of the balance of agents and annotators, by hand and by simulation."""

import json
import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pytest

from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.findings.audit import load_balance_audit
from sts.annotations.findings.imbalance import (
    EMPTY_AUDIT,
    LARGE_IMBALANCE,
    AssignmentBalance,
    measure_imbalance,
)
from sts.annotations.records import Item
from sts.storage.workspace import Workspace
from tests.annotations.examples import SUITE, a_submission, add_people, an_item, claim, judge
from tests.stores import add_person, add_reference, ask, enqueue, submit


class Judged(NamedTuple):
    """One person's judgement of one clip, of an agent or several."""

    annotator: str
    item: str
    agents: tuple[str, ...]


def audit_judgements(judged: Sequence[Judged]) -> AssignmentBalance:
    rows = [(one.item, "", agent, one.annotator) for one in judged for agent in one.agents]
    return measure_imbalance(*np.array(rows, object).T) if rows else EMPTY_AUDIT


def judged(**agents: str) -> list[Judged]:
    """Return judgements: A="xxy" is three clips of A, judged by x, x and y."""
    return [
        Judged(name, f"{agent}{i}", (agent,))
        for agent, names in agents.items()
        for i, name in enumerate(names)
    ]


def test_imbalance_is_the_share_that_other_people_would_have_to_judge() -> None:
    found = audit_judgements(judged(A="xxxxxxxxyy", B="xxyyyyyyyy", C="xxxxxyyyyy"))
    assert found.imbalance == pytest.approx(0.6) and found.between == ("A", "B")
    assert found.judgements == ((8, 2), (2, 8), (5, 5))
    assert found.cramers_v == pytest.approx(np.sqrt((2 * 2 * 3**2 / 5) / 30))
    assert found.p is not None and 0.01 < found.p < 0.06
    assert audit_judgements(judged(A="xy" * 20, B="xy" * 20)).p == 1.0


def test_clip_of_several_agents_counts_for_each_and_once_among_clips() -> None:
    found = audit_judgements(
        [Judged("x", "1", ("A", "B")), Judged("y", "1", ("A", "B")), *judged(A="x")]
    )
    assert found.judgements == ((2, 1), (1, 1))
    assert (found.clips, found.twice) == (2, 1)


@pytest.mark.parametrize(
    ("agents", "words"),
    [
        ({}, "There are no judgements yet."),
        ({"A": "xxx", "B": "xx"}, "x judged everything"),
        ({"A": "xyy"}, "There is only one agent"),
        ({"A": "x" * 9, "B": "y" * 9}, "are confounded: A and B have no annotators in common"),
        (
            {"A": "x" * 45 + "y" * 5, "B": "x" * 5 + "y" * 45},
            "unbalanced: 80% of A's judgements differ",
        ),
        ({"A": "xy" * 9, "B": "xy" * 8}, "are balanced: at most 0% of"),
        ({"A": "x" * 9, "C": "y" * 9, "B": "xy"}, "are unbalanced: 100% of A's"),
    ],
)
def test_sentence_reports_confounded_unbalanced_or_balanced_judgements(agents, words) -> None:
    assert words in audit_judgements(judged(**agents)).sentence


# The simulation: of four agents two join late; of five people two come later and one leaves.
CLIPS = 60
JOINING = {0: "AB", 3: "C", 6: "D"}
THERE = "vw vx vwx wx vxy vwx xyz vwz xyz wz xyz wyz xyz wyz".split()
EACH = 8
"""Judgements of one person in one session."""
PAGE = 4


def rounds() -> Iterator[tuple[list[Item], str]]:
    """Yield the items that join and the people there; one in four clips of B to D equals A's."""
    for number, people in enumerate(THERE):
        yield (
            [
                an_item(
                    f"{agent}{i}",
                    agent=agent,
                    scenario=f"s{i}",
                    clip=f"A{i}" if i % 4 == 0 else f"{agent}{i}",
                )
                for agent in JOINING.get(number, "")
                for i in range(CLIPS)
            ],
            people,
        )


def audit_store(workspace: Workspace) -> AssignmentBalance:
    """Judge through the store, as pages do: some at a time."""
    with AnnotationStore.open(workspace) as store:
        numbers: dict[str, int] = {}
        for joining, people in rounds():
            enqueue(store, joining, required=None)
            for name in people:
                if name not in numbers:
                    numbers[name] = add_person(store, name).id
            for _ in range(EACH // PAGE):
                for name in people:
                    held = claim(store, numbers[name], PAGE)
                    submit(store, numbers[name], [a_submission(one) for one in held])
        return ask(store, load_balance_audit, SUITE)


def audit_random(seed: int) -> AssignmentBalance:
    """Judge naively: each person takes any open clip that they have not judged."""
    draw = random.Random(seed)
    agents: dict[str, set[str]] = {}
    open_: dict[str, int] = {}
    out: list[Judged] = []
    for joining, people in rounds():
        for item in joining:
            if item.clip not in agents:
                open_[item.clip] = 1 + (draw.random() < 0.1)
            agents.setdefault(item.clip, set()).add(item.agent)
        for name in people * EACH:
            seen = {j.item for j in out if j.annotator == name}
            left = [clip for clip, n in open_.items() if n and clip not in seen]
            if left:
                clip = draw.choice(left)
                open_[clip] -= 1
                out.append(Judged(name, clip, ()))
    return audit_judgements([j._replace(agents=tuple(sorted(agents[j.item]))) for j in out])


def test_assignment_bounds_the_imbalance_where_random_assignment_does_not(sqlite_workspace) -> None:
    ours = audit_store(sqlite_workspace)
    assert ours.imbalance is not None and ours.imbalance < LARGE_IMBALANCE
    assert ours.p is not None and ours.p > 0.5
    assert ours.twice > 15 and 0 < ours.anchors == ours.anchors_judged
    for seed in range(5):
        found = audit_random(seed).imbalance
        assert found is not None and found > LARGE_IMBALANCE


def test_audit_command_prints_a_table_with_and_without_names(sqlite_workspace, sts) -> None:
    words = "annotations balance"
    assert sts(sqlite_workspace, words) == "There are no judgements yet.\n"
    assert not sqlite_workspace.root.exists()
    long = "a-very-long-name-" * 6
    with AnnotationStore.open(sqlite_workspace) as store:
        enqueue(store, [an_item("c0", agent="A"), an_item("c1", agent=long)], required=2)
        enqueue(store, [an_item("d0", agent="A", suite="other@1")])
        add_reference(store, an_item("r", agent="A"), "success", 1)
        for who in add_people(store, "Ana", "Bo"):
            judge(store, who)
    said = sts(sqlite_workspace, f"{words} {SUITE}")
    assert max(map(len, said.splitlines()[:4])) < 40
    assert f"[2] is {long}\n" in said and "2 clips, 2 of them judged by two" in said
    assert "annotator-" in said and "Ana" not in said
    said = sts(sqlite_workspace, f"{words} {SUITE} --real-names --json")
    found = json.loads(said.partition("sts: warning: this shows real names")[0])
    assert found["judgements"] == {name: {"A": 1, long: 1} for name in ("Ana", "Bo")}
    assert (found["imbalance"], found["p"], found["suite"]) == (0.0, 1.0, SUITE)
    assert "There are no judgements yet." in sts(sqlite_workspace, f"{words} other@1")
    assert "unknown queued suite 'no@1'" in sts(sqlite_workspace, f"{words} no@1", 2)
