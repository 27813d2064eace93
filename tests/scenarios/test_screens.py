"""Many episodes give what each gives alone, and files are mined as lists are."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sts.errors import StsError
from sts.jobs.pool import executor
from sts.storage.files import canonical_json
from sts.storage.workspace import Workspace
from sts.suites.types import DIFFICULTIES
from sts.trajectories import flat, store
from sts.trajectories.flat import Abreast
from sts.trajectories.types import Trajectory
from sts_scenarios import categories, mining
from sts_scenarios.categories.lambda_star.playing import find_period
from sts_scenarios.categories.lambda_star.prospects import shortest_periods
from sts_scenarios.category import Category, Hits, Screen
from sts_scenarios.mining import asking, rows, survey
from sts_scenarios.mining.choice import (
    OfferedSteps,
    Place,
    Stratum,
    random_orders,
    select_steps,
    world_key,
)
from sts_scenarios.mining.order import Order, carried_out
from tests.examples import on_test_side, recorded

RULES = {c.name: c for c in categories.of("lambda-star")}
SCREENED = [name for name, c in RULES.items() if c.screen]
FEW = ("count-others", "keep-beside", "last-move")


def side_by_side(every: list[Trajectory], height: int, width: int) -> Abreast:
    scene = np.stack([t.episode.scene for t in every])
    return Abreast(height, width, every[0].episode.participants, scene)


def found(hits: Hits) -> Counter[tuple[Any, ...]]:
    columns = (one.tolist() for one in hits[:5])
    return Counter(
        (e, r, m, d, hits.kinds[k][0], repr(sorted(hits.kinds[k][1].items())))
        for e, r, m, d, k in zip(*columns, strict=True)
    )


def named(rule: Category, every: list[Trajectory], *, level: bool) -> Counter[tuple[Any, ...]]:
    return Counter(
        (
            n,
            c.role,
            c.moment,
            DIFFICULTIES.index(c.difficulty) if level else -1,
            c.answer,
            repr(sorted(c.parameters.items())),
        )
        for n, t in enumerate(every)
        for c in rule.moments(t)
    )


def test_every_category_that_is_mined_unnamed_has_a_screen() -> None:
    assert {*SCREENED} == {*RULES}
    assert sum(RULES[name].screen.exact for name in SCREENED) >= 13  # type: ignore[union-attr]


@pytest.mark.parametrize("team", [2, 3])
def test_who_runs_away_is_found_in_teams_of_two_alone(team: int) -> None:
    rule = RULES["catch-mate"]
    assert rule.screen is not None
    every = recorded("random", count=40, team=team, steps=40, seed=4, height=8, width=9)
    screened = found(rule.screen.find(side_by_side(every, 8, 9), rule.context, rule.horizon))
    assert screened == named(rule, every, level=True) and bool(screened) == (team == 2)


@settings(max_examples=settings().max_examples // 8, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 1000),
    agent=st.sampled_from(["random", "local-search", "stigmergy", "rule"]),
    team=st.integers(1, 4),
    size=st.sampled_from([(10, 10), (8, 9), (5, 12), (4, 5), (46, 46)]),
)
def test_batch_finds_what_its_episodes_give_alone(
    seed: int, agent: str, team: int, size: tuple[int, int]
) -> None:
    height, width = size
    every = recorded(agent, count=2, team=team, steps=34, seed=seed, height=height, width=width)
    for name in SCREENED:
        rule = RULES[name]
        screen = rule.screen
        assert screen is not None
        hits = screen.find(side_by_side(every, height, width), rule.context, rule.horizon)
        screened = found(hits)
        own = named(rule, every, level=-1 not in hits.difficulty)
        assert not own - screened, name
        assert not screen.exact or screened == own, name
        if not screen.exact:  # and so does whoever is told of that moment alone
            alone = [
                asking.query_difficulty(rule, every[n], moment, role, answer)
                for n, role, moment, _, answer, _ in screened
            ]
            asked = sum((screened[k] for k, d in zip(screened, alone, strict=True) if d >= 0), 0)
            assert asked == own.total(), name


@given(st.lists(st.integers(-1, 2), max_size=10))
def test_periods_are_those_of_one_moment(moves: list[int]) -> None:
    length, follows = shortest_periods(np.array([moves], np.int64))
    one = find_period(moves)
    expected = (0, -1) if one is None else (len(one), one[0])
    assert (int(length[0]), int(follows[0])) == expected


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_what_is_chosen_of_the_first_of_each_bucket_is_what_is_chosen_of_all(
    data: st.DataObject,
) -> None:
    rules = [RULES["shadow-evil"], RULES["clean-take"]]
    several = data.draw(st.booleans())
    counts = {rule.name: data.draw(st.integers(1, 2)) for rule in rules}
    terms = mining.Terms(counts, seed=0, per_world=2 if several else 1)
    asked = rows.scan_limits(rules, terms)._replace(
        most=dict.fromkeys(counts, sum(counts.values()))
    )
    offered: list[dict[str, OfferedSteps]] = [{}, {}]
    for rule in rules:
        rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
        every = [_drawn(rng, rule.name, part) for part in range(3)]
        kept = [rows.prune(rule, one, asked) for one in every]
        assert sum(len(one.rows["order"]) for one in kept) < 600
        wide = asked._replace(most=dict.fromkeys(counts, 10**6))
        offered[0][rule.name] = rows.make_offers(rule, rows.merge(every), wide)
        offered[1][rule.name] = rows.make_offers(rule, rows.merge(kept), asked)
    all_of, first_of = (
        select_steps(
            own, rules, {}, counts=counts, per_world=terms.per_world, keep=lambda rule, offer: True
        )
        for own in offered
    )
    for name in counts:
        assert [one.at for one in all_of[name].offers] == [one.at for one in first_of[name].offers]


def _drawn(rng: np.random.Generator, name: str, part: int) -> rows.FoundSteps:
    """Return 200 moments that were found anywhere."""
    high = {"world": 40, "difficulty": 3, "recorder": 2, "answer": 3, "step": 40}
    drawn = {
        field: rng.integers(0, high.get(field, 1), 200).astype(kind)
        for field, kind in rows.FIELDS.items()
    }
    drawn |= {"order": rng.integers(0, 2**63, 200, np.uint64), "part": np.full(200, part)}
    drawn["row"], drawn["moment"] = np.arange(200), drawn["step"]
    words = {"source": ["agent"], "recorder": ["a", "b"], "answer": ["x", "y", "z"]}
    return rows.FoundSteps(drawn, words, Counter(), np.unique(drawn["world"]))


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Two files of several row groups each, some of whose trajectories stand in both."""
    out = Workspace.open(tmp_path_factory.mktemp("screens") / "w")
    wide = {"steps": 34, "height": 10, "width": 10}
    one = recorded("random", count=40, seed=1, **wide)
    two = recorded("local-search", count=60, team=3, seed=1, **wide)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "ROWS_PER_GROUP", 8)
        store.save(out, one)
        store.save(out, [*one[:9], *two])
    return out


def test_files_are_mined_as_a_list_is_whatever_the_processes_and_the_parts(
    workspace: Workspace,
) -> None:
    names = (*FEW, "find-good-again", "return-to-first", "evade-or-shadow")
    every = store.load(workspace)
    plain = mining.mine(every, [RULES[name] for name in names], per_category=3, seed=2)
    assert len(plain.scenarios) >= 15
    for workers in (1, 2):
        order = Order(names, per_category=3, seed=2, workers=workers)
        made = carried_out(order, workspace, there=(), last={})
        assert [s.hash for s in made.mined.scenarios] == [s.hash for s in plain.scenarios]
        assert made.mined.candidates == plain.candidates
        assert made.mined.strata == plain.strata
        assert made.mined.worlds == plain.worlds
        assert made.mined.sampled == {}
        assert made.on_side == len(on_test_side(every))


@pytest.mark.parametrize("strata", [("difficulty",), ("source",), ()])
def test_files_are_mined_as_a_list_is_whatever_tells_moments_apart(
    workspace: Workspace, strata: tuple[str, ...]
) -> None:
    rules = [RULES[name] for name in FEW]
    first = mining.mine(store.load(workspace), rules, per_category=1, seed=0).scenarios
    order = Order(FEW, per_category=2, seed=3, per_world=2, strata=strata)
    made = carried_out(order, workspace, there=first, last={})
    plain = mining.mine(
        store.load(workspace),
        rules,
        per_category=2,
        seed=3,
        per_world=2,
        strata=strata,
        there=first,
    )
    assert [s.hash for s in made.mined.scenarios] == [s.hash for s in plain.scenarios]


@pytest.mark.parametrize("several", [False, True])
def test_first_of_moments_that_are_alike_is_offered(workspace: Workspace, several: bool) -> None:
    rules = [RULES[name] for name in FEW]
    terms = mining.Terms(dict.fromkeys(FEW, 200), seed=5, per_world=2 if several else 1)
    parts = flat.list_parts(workspace, "test").parts
    with executor(1, len(parts)) as here:
        found = survey.gather(parts, lambda: rules, terms, here).offered
    for rule in rules:
        first: dict[tuple[Any, ...], int] = {}
        for trajectory in on_test_side(store.load(workspace)):
            for one in rule.moments(trajectory):
                pick = mining.Pick(trajectory, one)
                told = [(one.moment, one.role, canonical_json(one.parameters))]
                order = int(random_orders(5, rule.name, [trajectory.id], told, [(0, 0)])[0])
                stretch = pick.step // rule.horizon if several else 0
                alike = world_key(trajectory.world), stretch, one.answer, pick.stratum
                first[alike] = min(order, first.get(alike, order))
        assert [one.order for one in found[rule.name].offers] == sorted(first.values())


def test_a_category_that_is_asked_at_some_moments_alone_says_so(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "CONFIRMED_PER_WANTED", 1)
    order = Order(("keep-beside", "count-others"), per_category=1)
    mined = carried_out(order, workspace, there=(), last={}).mined
    asked, of = mined.sampled["keep-beside"]
    assert mined.candidates["keep-beside"] <= asked < of
    assert "count-others" not in mined.sampled
    assert len(mined.scenarios) == 2


def test_a_screen_that_says_what_its_category_does_not_is_named(workspace: Workspace) -> None:
    rule = RULES["last-move"]

    def lying(every: Abreast, context: int, horizon: int) -> Hits:
        assert rule.screen is not None
        hits = rule.screen.find(every, context, horizon)
        return hits._replace(role=(hits.role + 1) % every.participants)

    liar = dataclasses.replace(rule, screen=Screen(lying, exact=True))
    terms = mining.Terms({liar.name: 200}, seed=0)
    parts = flat.list_parts(workspace, "test").parts
    with (
        executor(1, len(parts)) as here,
        pytest.raises(StsError, match="where its prefilter reports one"),
    ):
        there = survey.gather(parts, lambda: [liar], terms, here)
        mining.make_mined(there, [liar], terms)


def test_a_screen_that_fails_is_one_line_of_ours(workspace: Workspace) -> None:
    def failing(every: Abreast, context: int, horizon: int) -> Hits:
        raise ZeroDivisionError("of mine")

    broken = dataclasses.replace(RULES["last-move"], screen=Screen(failing, exact=True))
    parts = flat.list_parts(workspace, "test").parts
    with (
        executor(1, len(parts)) as here,
        pytest.raises(StsError, match="the prefilter of category"),
    ):
        survey.gather(parts, lambda: [broken], mining.Terms({broken.name: 1}, seed=0), here)


def test_a_place_says_what_a_stratum_does() -> None:
    assert Stratum("easy", "agent", "a") < Stratum("easy", "agent", "b")
    assert Place(0, 1, 2, 3) < Place(0, 1, 2, 4)
