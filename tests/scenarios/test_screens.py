"""Batched prefilters find what the plain rules find, and files are mined as lists are."""

import dataclasses
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sts.errors import StsError
from sts.jobs.pool import create_pool
from sts.storage.workspace import Workspace
from sts.suites.suite import DIFFICULTIES
from sts.trajectories import batches
from sts.trajectories import trajectory_store as store
from sts.trajectories.batches import EpisodeBatch
from sts.trajectories.trajectory import Trajectory
from sts_scenarios import mining
from sts_scenarios.mining import confirming, rows, survey
from sts_scenarios.mining.request import MiningRequest, run_request
from sts_scenarios.rules import categories
from sts_scenarios.rules.category import CandidateColumns, Category, Prefilter
from tests.examples import on_test_side, recorded
from tests.mined import mine

RULES = {c.name: c for c in categories.load_categories("lambda-star")}
SCREENED = [name for name, c in RULES.items() if c.prefilter]
FEW = ("count-others", "keep-beside", "last-move")


def side_by_side(every: list[Trajectory], height: int, width: int) -> EpisodeBatch:
    scene = np.stack([t.episode.scene for t in every])
    return EpisodeBatch(height, width, every[0].episode.n_players, scene)


def count_hits(hits: CandidateColumns) -> Counter[tuple[Any, ...]]:
    columns = (one.tolist() for one in hits[:5])
    return Counter(
        (e, r, m, d, hits.kinds[k][0], repr(sorted(hits.kinds[k][1].items())))
        for e, r, m, d, k in zip(*columns, strict=True)
    )


def count_candidates(
    rule: Category, every: list[Trajectory], *, level: bool
) -> Counter[tuple[Any, ...]]:
    return Counter(
        (
            n,
            c.player,
            c.step,
            DIFFICULTIES.index(c.difficulty) if level else -1,
            c.answer,
            repr(sorted(c.parameters.items())),
        )
        for n, t in enumerate(every)
        for c in rule.find_candidates(t)
    )


def test_every_category_has_a_prefilter() -> None:
    assert {*SCREENED} == {*RULES}
    assert sum(RULES[name].prefilter.exact for name in SCREENED) >= 13  # type: ignore[union-attr]


@pytest.mark.parametrize("team", [2, 3])
def test_catch_mate_is_found_only_in_teams_of_two(team: int) -> None:
    rule = RULES["catch-mate"]
    assert rule.prefilter is not None
    every = recorded("random", count=40, team=team, steps=40, seed=4, height=8, width=9)
    screened = count_hits(
        rule.prefilter.find(side_by_side(every, 8, 9), rule.context, rule.horizon)
    )
    assert screened == count_candidates(rule, every, level=True) and bool(screened) == (team == 2)


@settings(max_examples=settings().max_examples // 8, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 1000),
    agent=st.sampled_from(["random", "local-search", "stigmergy", "rule"]),
    team=st.integers(1, 4),
    size=st.sampled_from([(10, 10), (8, 9), (5, 12), (4, 5), (46, 46)]),
)
def test_prefilter_finds_the_candidates_of_each_episode(seed, agent, team, size):
    height, width = size
    every = recorded(agent, count=2, team=team, steps=34, seed=seed, height=height, width=width)
    for name in SCREENED:
        rule = RULES[name]
        prefilter = rule.prefilter
        assert prefilter is not None
        hits = prefilter.find(side_by_side(every, height, width), rule.context, rule.horizon)
        screened = count_hits(hits)
        own = count_candidates(rule, every, level=-1 not in hits.difficulty)
        assert not own - screened, name
        assert not prefilter.exact or screened == own, name
        if not prefilter.exact:  # the others are decided step by step
            asked = 0
            for hit, times in screened.items():
                n, player, step, _, answer, _ = hit
                found = confirming.query_step(rule, every[n], step)
                asked += times if (player, answer) in found else 0
            assert asked == own.total(), name


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


def test_files_are_mined_as_a_list_with_any_number_of_processes(workspace):
    names = (*FEW, "find-good-again", "return-to-first", "evade-or-shadow")
    every = store.load(workspace)
    plain = mine(every, [RULES[name] for name in names], per_category=3, seed=2)
    assert len(plain.scenarios) >= 15
    for workers in (1, 2):
        order = MiningRequest(names, per_category=3, seed=2, workers=workers)
        made = run_request(order, workspace, existing=(), last={})
        assert [s.hash for s in made.mined.scenarios] == [s.hash for s in plain.scenarios]
        assert made.mined.candidates == plain.candidates
        assert made.mined.strata == plain.strata
        assert made.mined.worlds == plain.worlds
        assert made.mined.sampled == {}
        assert made.in_split == len(on_test_side(every))


@pytest.mark.parametrize("strata", [("difficulty",), ("source",), ()])
def test_files_are_mined_as_a_list_for_any_strata(workspace, strata):
    rules = [RULES[name] for name in FEW]
    first = mine(store.load(workspace), rules, per_category=1, seed=0).scenarios
    order = MiningRequest(FEW, per_category=2, seed=3, max_per_environment=2, stratify_by=strata)
    made = run_request(order, workspace, existing=first, last={})
    plain = mine(
        store.load(workspace),
        rules,
        per_category=2,
        seed=3,
        per_world=2,
        strata=strata,
        existing=first,
    )
    assert [s.hash for s in made.mined.scenarios] == [s.hash for s in plain.scenarios]


def test_sampled_category_states_how_many_steps_it_tried(workspace, monkeypatch):
    monkeypatch.setattr(rows, "CONFIRMED_PER_WANTED", 1)
    order = MiningRequest(("keep-beside", "count-others"), per_category=1)
    mined = run_request(order, workspace, existing=(), last={}).mined
    asked, of = mined.sampled["keep-beside"]
    assert mined.candidates["keep-beside"] <= asked < of
    assert "count-others" not in mined.sampled
    assert len(mined.scenarios) == 2


def shift_roles(every: EpisodeBatch, context: int, horizon: int) -> CandidateColumns:
    prefilter = RULES["last-move"].prefilter
    assert prefilter is not None
    hits = prefilter.find(every, context, horizon)
    return hits._replace(player=(hits.player + 1) % every.n_players)


def fail(every: EpisodeBatch, context: int, horizon: int) -> CandidateColumns:
    raise ZeroDivisionError("of mine")


@pytest.mark.parametrize(
    ("find", "said"),
    [(shift_roles, "where its prefilter reports one"), (fail, "the prefilter of category")],
)
def test_wrong_prefilter_is_named(workspace, find, said):
    rule = dataclasses.replace(RULES["last-move"], prefilter=Prefilter(find, exact=True))
    terms = mining.MiningTerms({rule.name: 200}, seed=0)
    parts = batches.list_parts(workspace, "test").parts
    with create_pool(1, len(parts)) as here, pytest.raises(StsError, match=said):
        mining.make_mined(
            survey.gather_candidates(parts, lambda: [rule], terms, here), [rule], terms
        )
