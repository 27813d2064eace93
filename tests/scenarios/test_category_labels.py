"""Labels of the categories of Λ*, worked by hand on a torus of 6 rows and 7 columns."""

from typing import Any

import numpy as np
import pytest

from sts.trajectories.batches import EpisodeBatch
from sts_lambda_star import torus
from sts_lambda_star.categories.ambush import Ambush
from sts_lambda_star.categories.batches import StepBatch, TrackBatch
from sts_lambda_star.categories.clean_take import CleanTake
from sts_lambda_star.categories.evade_evil import EvadeEvil
from sts_lambda_star.categories.grid_category import ActionCategory
from sts_lambda_star.categories.hold_until_evil import HoldUntilEvil
from sts_lambda_star.categories.keep_beside import KeepBeside
from sts_lambda_star.categories.shadow_evil import ShadowEvil
from sts_lambda_star.categories.tracks import Grid, Track
from sts_scenarios.rules import categories
from sts_scenarios.rules.category import Label
from tests.scenarios.scripted import episode

NOT_DONE = Label("not_done", None)
FAR = [(5, 6)]
BELOW, ON = {"start": (3, 3), "evil": [(4, 3)]}, {"start": (3, 2), "evil": [(3, 3)]}
PAST = {"start": (3, 2), "good": [(0, 0)], "evil": [(3, 3)]}
NEAR_GOOD = {"start": (2, 2), "good": [(2, 3)], "evil": FAR}
COMES = [(5, 3), (4, 3), (3, 3), (3, 3), (3, 3), (3, 3), (3, 3), (3, 3)]
HOLD = {"start": (2, 3), "good": [(0, 0)], "evil": COMES}
GOOD_COMES = {"start": (3, 3), "good": [(3, 6), (3, 6), (3, 5), (3, 4), (3, 3)], "evil": FAR}
MATE = {"others": [((1, 0), "right right right right")]}
APART = {"start": (2, 2), "good": [(2, 4)], "evil": FAR}
MATE_AWAY = APART | {"others": [((2, 1), "right left stay stay stay")]}
SAYS = {"utterances": ["silence", "up", "left"]}
EARLY = {"utterances": ["1", "silence", "2"]}


def success(step: int) -> Label:
    return Label("success", step)


def failure(step: int) -> Label:
    return Label("failure", step)


CASES: list[tuple[str, str, dict[str, Any], dict[str, Any], Label]] = [
    # category, moves, episode, takeover and parameters, label
    ("shadow-evil", "left right right right right right", ON, {"steps": 3}, success(4)),
    ("shadow-evil", "left right right right right right", ON, {"steps": 4}, NOT_DONE),
    ("shadow-evil", "stay left right stay stay stay", ON, {"steps": 3}, success(5)),
    ("shadow-evil", "stay stay stay stay", BELOW, {"steps": 4}, success(4)),
    ("shadow-evil", "stay up down stay stay stay stay", BELOW, {"steps": 4}, success(6)),
    ("shadow-evil", "stay up down stay stay stay stay", BELOW, {"steps": 6}, NOT_DONE),
    # steps before takeover do not count
    ("shadow-evil", "stay stay stay stay left", ON, {"takeover": 2, "steps": 2}, success(2)),
    ("shadow-evil", "stay stay stay stay left", ON, {"takeover": 2, "steps": 3}, NOT_DONE),
    ("shadow-evil", "stay stay", {"evil": FAR}, {"steps": 2}, success(2)),  # across the edge
    ("shadow-evil", "stay stay", {"start": (3, 3), "evil": [(3, 3)]}, {"steps": 9}, NOT_DONE),
    ("evade-evil", "stay stay stay", {"evil": [(3, 3)]}, {}, success(3)),
    ("evade-evil", "right right left", PAST | {"start": (3, 0)}, {}, failure(2)),
    ("evade-evil", "stay left left", PAST, {"takeover": 1}, success(2)),
    ("evade-evil", "stay left", {"start": (0, 1), "good": [(3, 3)], "evil": FAR}, {}, failure(2)),
    (
        *("evade-evil", "stay stay stay"),
        *({"start": (0, 3), "evil": [(3, 3), (2, 3), (1, 3)]}, {}, failure(2)),
    ),
    ("evade-evil", "up up", {"start": (1, 0), "evil": [(4, 3)]}, {}, success(2)),
    # caught on the same cell
    ("catch-mate", "right right stay right", {"others": [((0, 2), "")]}, {"target": 1}, success(2)),
    *(
        (
            "catch-mate",
            "right right",
            {"others": [((0, 1), ""), ((0, 4), "")]},
            {"target": t},
            label,
        )
        for t, label in ((1, success(1)), (2, NOT_DONE))
    ),
    (
        *("catch-mate", "stay right right", {"others": [((0, 0), "")]}),
        *({"takeover": 1, "target": 1}, NOT_DONE),
    ),
    ("catch-mate", "left", {"others": [((0, 6), "")]}, {"target": 1}, success(1)),
    # one or two cells away from Good
    ("keep-beside", "stay stay stay", NEAR_GOOD, {}, success(3)),
    ("keep-beside", "left stay right", NEAR_GOOD, {}, success(3)),
    ("keep-beside", "left left left", NEAR_GOOD, {}, failure(2)),
    ("keep-beside", "stay right stay", NEAR_GOOD, {}, failure(2)),
    # Evil was never near
    ("clean-take", "right right right", {"good": [(0, 3)], "evil": [(1, 1)]}, {}, failure(1)),
    (
        *("clean-take", "right right"),
        *({"start": (0, 1), "good": [(0, 3)], "evil": [(1, 4)]}, {}, failure(2)),
    ),
    (
        *("clean-take", "right right down"),
        *({"start": (0, 1), "good": [(0, 3)], "evil": [(3, 3)]}, {}, success(2)),
    ),
    ("clean-take", "left", {"start": (0, 1), "evil": [(3, 3)]}, {}, NOT_DONE),
    ("hold-until-evil", "stay stay up stay stay", HOLD, {"steps": 2}, success(3)),
    ("hold-until-evil", "stay up up stay stay", HOLD, {"steps": 2}, failure(2)),
    ("hold-until-evil", "up stay stay stay stay", HOLD, {"steps": 2}, failure(1)),
    ("hold-until-evil", "stay stay stay stay stay", HOLD, {"steps": 2}, failure(4)),
    ("hold-until-evil", "stay stay stay", HOLD, {"steps": 2}, NOT_DONE),
    ("hold-until-evil", "stay", HOLD, {"steps": 2}, NOT_DONE),
    ("return-to-first", "right down right", {}, {"cell": 8}, success(2)),
    ("return-to-first", "right down right", {}, {"cell": 0}, NOT_DONE),
    ("return-to-first", "right down right", {}, {"takeover": 1, "cell": 8}, success(1)),
    ("find-good-again", "right right right", {"start": (2, 0)}, {}, success(2)),
    ("find-good-again", "left", {"start": (2, 0)}, {}, NOT_DONE),
    ("ambush", "stay stay stay stay", GOOD_COMES, {"steps": 3}, success(4)),
    ("ambush", "up stay stay stay", GOOD_COMES | {"start": (4, 3)}, {"steps": 3}, success(4)),
    ("ambush", "stay up stay stay", GOOD_COMES | {"start": (4, 3)}, {"steps": 3}, failure(4)),
    ("ambush", "stay stay stay", GOOD_COMES, {"steps": 3}, NOT_DONE),
    ("ambush", "left left stay stay", GOOD_COMES, {"steps": 3}, NOT_DONE),
    ("ambush", "stay stay stay right", GOOD_COMES | {"good": [(3, 4)]}, {"steps": 3}, failure(4)),
    ("follow-mate", "right right right right", MATE, {"target": 1, "steps": 4}, success(4)),
    ("follow-mate", "stay stay right right", MATE, {"target": 1, "steps": 3}, NOT_DONE),
    # alone on a cell
    ("good-apart", "stay stay stay stay stay", MATE_AWAY, {"steps": 4}, success(5)),
    ("good-apart", "stay left stay stay stay", APART, {"steps": 4}, NOT_DONE),
    # the first word answers
    ("where-is-good", "stay stay stay", SAYS, {"answer": "up"}, success(2)),
    ("where-is-good", "stay stay stay", SAYS, {"answer": "left"}, failure(2)),
    ("where-is-good", "stay stay", {}, {"answer": "up"}, NOT_DONE),
    ("where-is-good", "stay", {"utterances": ["more"]}, {"answer": "up"}, failure(1)),
    ("where-is-good", "stay", {"utterances": ["stay"]}, {"answer": "stay"}, success(1)),
    ("when-evil", "stay stay stay", EARLY, {"takeover": 1, "answer": "2"}, success(2)),
    ("when-evil", "stay stay stay", EARLY, {"takeover": 1, "answer": "1"}, failure(2)),
    *(
        (name, "stay stay stay", {"utterances": ["silence", "4", "3"]}, {"answer": answer}, label)
        for name in (
            *("next-move", "last-move", "evil-from-good"),
            *("when-evil", "where-was-evil", "count-others"),
        )
        for answer, label in (("4", success(2)), ("3", failure(2)))
    ),
]


@pytest.mark.parametrize(("category", "actions", "world", "asked", "expected"), CASES)
def test_label_is_the_one_worked_by_hand(category, actions, world, asked, expected):
    asked = dict(asked)
    what, takeover = episode(actions, **world), asked.pop("takeover", 0)
    assert categories.load_category(category).label(what, takeover, (0,), asked) == expected


JUDGED: list[type[ActionCategory]] = [
    *(Ambush, CleanTake, EvadeEvil),
    *(HoldUntilEvil, KeepBeside, ShadowEvil),
]


@pytest.mark.parametrize("judged", JUDGED)
def test_many_paths_are_judged_as_each_path_alone(judged):
    category, rng = judged(), np.random.default_rng(5)
    height, width, context, horizon = 5, 6, 2, 8
    scene = np.zeros((20, 30, 3), np.uint16)
    scene[:, 0] = rng.integers(height * width, size=(20, 3))
    for frame in range(1, 30):
        moves = np.where(rng.random((20, 3)) < 0.6, torus.STAY, rng.integers(9, size=(20, 3)))
        scene[:, frame] = torus.move_cell(scene[:, frame - 1].astype(int), moves, height, width)
    batch = TrackBatch(EpisodeBatch(height, width, 1, scene))
    steps = StepBatch.select(batch, np.ones(batch.me.shape, np.bool_), context, horizon)
    paths = [steps.values_between(batch.me, 0, horizon + 1), steps.stand_still().me]
    together = category.judge_steps(steps.follow(np.stack(paths, 1)))
    assert {*np.sign(together).ravel()} >= {-1, 1} or judged is ShadowEvil
    for n, (episode_row, step) in enumerate(zip(steps.track, steps.step, strict=True)):
        for path, verdict in zip(paths, together[n], strict=True):
            frames = scene[episode_row, step : step + horizon + 1].astype(np.int64)
            frames[:, 2] = path[n]
            assert category.judge_steps(Track(frames, Grid(height, width), 0)) == verdict
