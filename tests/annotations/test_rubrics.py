"""A rubric whose version is raised while its clips are judged."""

from __future__ import annotations

from sts.annotations import references, views
from sts.annotations.export import load_ratings
from sts.annotations.history import verify
from sts.annotations.store import Store
from sts.annotations.types import Item
from sts.storage.workspace import Workspace
from tests.annotations.examples import SUITE, a_submission, an_item, statuses
from tests.stores import add_person, add_reference, ask, claim_items, enqueue, submit


def by(version: str, number: int = 3) -> list[Item]:
    """Clips of two copies each, judged by a version of their category's rubric."""
    return [
        an_item(f"c{n}{copy}", clip=f"look {n}.{version}", agent=f"agent-{copy}", rubric=version)
        for n in range(number)
        for copy in "ab"
    ]


def exported(workspace: Workspace) -> list[tuple[str, str, str, str]]:
    table = load_ratings(workspace, SUITE, names=True)
    columns = ["continuation", "annotator", "verdict", "rubric"]
    return [tuple(row) for row in table[columns].itertuples(index=False)]


def test_what_is_judged_keeps_its_version_and_what_is_not_moves(workspace: Workspace) -> None:
    with Store.open(workspace) as store:
        enqueue(store, by("1"))
        ana, bo = (add_person(store, name).id for name in ("Ana", "Bo"))
        first, late, _ = claim_items(store, ana, suite=SUITE, count=3)
        assert statuses(submit(store, ana, [a_submission(first)])) == ["saved"]
        assert enqueue(store, by("2")) == 0
        assert ask(store, views.progress, SUITE)[:4] == (3, 1, 3, 1)
        waiting = {claim.item for claim in claim_items(store, bo, suite=SUITE, count=5)}
        assert len(waiting) == 2 and late.item not in waiting
        assert enqueue(store, by("2")) == 0 == len(claim_items(store, ana, suite=SUITE, count=5))
        judged, old, other = first.continuation[:2], late.continuation[:2], "c0 c1 c2".split()
        (rest,) = {*other} - {judged, old}
        assert set(exported(workspace)) == {
            *((judged + copy, "Ana", "success", "1") for copy in "ab"),
            *((name + copy, "", "", "2") for name in (old, rest) for copy in "ab"),
        }
        assert statuses(submit(store, ana, [a_submission(late, verdict="failure")])) == ["extra"]
        assert set(exported(workspace)) == {
            *((judged + copy, "Ana", "success", "1") for copy in "ab"),
            *((old + copy, "Ana", "failure", "1") for copy in "ab"),
            *((rest + copy, "", "", "2") for copy in "ab"),
        }
        for item in waiting:
            submit(store, bo, [a_submission(item, verdict="not_done", step=None)])
        assert {row for row in exported(workspace) if row[1] == "Bo"} == {
            (name + copy, "Bo", "not_done", "2") for name in (old, rest) for copy in "ab"
        }
        assert (old + "a", "Ana", "failure", "1") in exported(workspace)
        assert verify(store.database).findings == ()


def test_a_version_that_is_taken_back_finds_its_clips_again(workspace: Workspace) -> None:
    with Store.open(workspace) as store:
        enqueue(store, by("1"))
        ana = add_person(store, "Ana").id
        before = {claim.item for claim in claim_items(store, ana, suite=SUITE, count=3)}
        for version in "231":
            enqueue(store, by(version))
        assert {claim.item for claim in claim_items(store, ana, suite=SUITE, count=3)} == before
        assert {row[3] for row in exported(workspace)} == {"1"}
        assert verify(store.database).findings == ()


def test_a_copy_that_is_not_asked_for_moves_with_its_clip(workspace: Workspace) -> None:
    with Store.open(workspace) as store:
        enqueue(store, by("1", 1))
        enqueue(store, by("2", 1)[:1])
        assert set(exported(workspace)) == {("c0a", "", "", "2"), ("c0b", "", "", "2")}
        assert verify(store.database).findings == ()


def test_an_item_that_says_nothing_of_a_rubric_moves_nothing(workspace: Workspace) -> None:
    with Store.open(workspace) as store:
        enqueue(store, by("1", 1))
        enqueue(store, [an_item("c0a", clip="look 0")])
        assert {row[3] for row in exported(workspace)} == {"1"}


def test_a_reference_keeps_its_version(workspace: Workspace) -> None:
    with Store.open(workspace) as store:
        enqueue(store, by("1", 1))
        add_reference(store, by("1", 1)[0], "success", 7)
        enqueue(store, by("2", 1))
        assert {row[3] for row in exported(workspace)} == {"1"}
        assert [one.continuation for one in ask(store, references.every)] == ["c0a"]
