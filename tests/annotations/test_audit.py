"""The audit, by hand and by simulation: people come and go, agents join late, clips have copies."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pytest

from sts.annotations.audit import audit
from sts.annotations.imbalance import LARGE_IMBALANCE, NONE, Audit, of_rows
from sts.annotations.store import Store
from sts.annotations.types import Item
from sts.cli.main import main
from sts.storage.workspace import Workspace
from tests.annotations.examples import SUITE, a_submission, an_item
from tests.stores import add_person, add_reference, claim_items, enqueue, submit


class Judged(NamedTuple):
    """One person's judgement of one clip, of an agent or several."""

    annotator: str
    item: str
    agents: tuple[str, ...]
    scenario: str = ""


def of(judged: Sequence[Judged]) -> Audit:
    """The audit of judgements."""
    rows = [
        (one.item, one.scenario, agent, one.annotator) for one in judged for agent in one.agents
    ]
    return of_rows(*np.array(rows, object).T) if rows else NONE


def judged(**agents: str) -> list[Judged]:
    """A="xxy" is three clips of A, judged by x, x and y."""
    return [
        Judged(name, f"{agent}{i}", (agent,))
        for agent, names in agents.items()
        for i, name in enumerate(names)
    ]


def test_the_imbalance_is_what_would_have_to_be_other_peoples() -> None:
    found = of(judged(A="xxxxxxxxyy", B="xxyyyyyyyy", C="xxxxxyyyyy"))
    assert found.imbalance == pytest.approx(0.6) and found.between == ("A", "B")
    assert found.judgements == ((8, 2), (2, 8), (5, 5))
    assert found.cramers_v == pytest.approx(np.sqrt((2 * 2 * 3**2 / 5) / 30))
    assert found.p is not None and 0.01 < found.p < 0.06
    assert of(judged(A="xy" * 20, B="xy" * 20)).p == 1.0


def test_a_clip_of_several_agents_counts_for_each_and_once_among_clips() -> None:
    found = of([Judged("x", "1", ("A", "B")), Judged("y", "1", ("A", "B")), *judged(A="x")])
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
def test_one_sentence_says_whether_agents_and_annotators_can_be_told_apart(
    agents: Mapping[str, str], words: str
) -> None:
    assert words in of(judged(**agents)).sentence


# The simulation: of four agents two join late; of five people two come later and one leaves.
CLIPS = 60
JOINING = {0: "AB", 3: "C", 6: "D"}
THERE = (
    "vw",
    "vx",
    "vwx",
    "wx",
    "vxy",
    "vwx",
    "xyz",
    "vwz",
    "xyz",
    "wz",
    "xyz",
    "wyz",
    "xyz",
    "wyz",
)
EACH = 8
"""Judgements of one person in one session."""
PAGE = 4


class Round(NamedTuple):
    """A time in which the same people judge the same agents."""

    joining: list[Item]
    people: str
    turns: int


def rounds() -> Iterator[Round]:
    """Of every four clips of B and later agents, one is the same as A's."""
    for number, people in enumerate(THERE):
        joining = [
            an_item(
                f"{agent}{i}",
                agent=agent,
                scenario=f"s{i}",
                clip=f"A{i}" if i % 4 == 0 else f"{agent}{i}",
            )
            for agent in JOINING.get(number, "")
            for i in range(CLIPS)
        ]
        yield Round(joining, people, EACH)


def by_the_store(workspace: Workspace) -> Audit:
    """Judges through the store, as pages do: some at a time."""
    with Store.open(workspace) as store:
        numbers: dict[str, int] = {}
        for one in rounds():
            enqueue(store, one.joining, required=None)
            for name in one.people:
                if name not in numbers:
                    numbers[name] = add_person(store, name).id
            for _ in range(one.turns // PAGE):
                for name in one.people:
                    held = claim_items(store, numbers[name], suite=SUITE, count=PAGE)
                    submit(store, numbers[name], [a_submission(claim) for claim in held])
        with store.database.read() as connection:
            return audit(connection, SUITE)


def by_lot(seed: int) -> Audit:
    """The naive way: whoever comes takes any open clip that they have not judged."""
    draw = random.Random(seed)
    agents: dict[str, set[str]] = {}
    open_: dict[str, int] = {}
    out: list[Judged] = []
    for one in rounds():
        for item in one.joining:
            if item.clip not in agents:
                open_[item.clip] = 1 + (draw.random() < 0.1)
            agents.setdefault(item.clip, set()).add(item.agent)
        for _ in range(one.turns):
            for name in one.people:
                seen = {j.item for j in out if j.annotator == name}
                left = [clip for clip, n in open_.items() if n and clip not in seen]
                if left:
                    clip = draw.choice(left)
                    open_[clip] -= 1
                    out.append(Judged(name, clip, ()))
    return of([j._replace(agents=tuple(sorted(agents[j.item]))) for j in out])


def test_the_imbalance_stays_under_its_bound_where_random_assignment_does_not(
    sqlite_workspace: Workspace,
) -> None:
    ours = by_the_store(sqlite_workspace)
    lots = [by_lot(seed) for seed in range(5)]
    for name, found in (("by the store", ours), *(("by lot", one) for one in lots)):
        print(f"{name}: imbalance {found.imbalance:.3f}, V {found.cramers_v:.3f}, p {found.p:.3f}")
    assert ours.imbalance is not None and ours.imbalance < LARGE_IMBALANCE
    assert ours.p is not None and ours.p > 0.5
    assert ours.twice > 15 and 0 < ours.anchors == ours.anchors_judged
    assert all(found.imbalance is not None and found.imbalance > LARGE_IMBALANCE for found in lots)


def test_the_command_says_it_of_no_store_of_one_suite_and_of_long_names(
    sqlite_workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    def said(*words: str) -> str:
        root = str(sqlite_workspace.root)
        assert main(["annotations", "audit", *words, "--workspace", root]) == 0
        return capsys.readouterr().out

    assert said() == "There are no judgements yet.\n"
    assert not sqlite_workspace.root.exists()
    long = "a-very-long-name-" * 6
    with Store.open(sqlite_workspace) as store:
        enqueue(store, [an_item("c0", agent="A"), an_item("c1", agent=long)], required=2)
        enqueue(store, [an_item("d0", agent="A", suite="other@1")])
        add_reference(store, an_item("r", agent="A"), "success", 1)
        for name in ("Ana", "Bo"):
            who = add_person(store, name).id
            held = claim_items(store, who, suite=SUITE, count=9)
            submit(store, who, [a_submission(claim) for claim in held])
    text = said(SUITE)
    assert max(map(len, text.splitlines()[:4])) < 40
    assert f"[2] is {long}\n" in text and "2 clips, 2 of them judged by two" in text
    assert "annotator-" in text and "Ana" not in text
    found = json.loads(said(SUITE, "--names", "--json"))
    assert found["judgements"] == {name: {"A": 1, long: 1} for name in ("Ana", "Bo")}
    assert (found["imbalance"], found["p"], found["suite"]) == (0.0, 1.0, SUITE)
    assert "There are no judgements yet." in said("other@1")
    root = str(sqlite_workspace.root)
    assert main(["annotations", "audit", "no@1", "--workspace", root]) == 2
    assert "unknown enqueued suite 'no@1'" in capsys.readouterr().err
