"""Openings of recordings, and the wordings that agents offer to setters."""

import pytest

from sts import agents
from sts.domains import load_domain
from sts.errors import ArgumentError
from sts.live.game import Game
from sts.live.openings import open_evaluation, open_recording
from sts.live.plans import make_plan
from sts.live.types import Participant
from sts_babyai.agents.instructions import parse_steps
from sts_babyai.agents.missions import parse_clauses
from sts_lambda_star.agents.readers.grammar import parse_intent
from sts_lambda_star.agents.readers.reader import Reader
from sts_overcooked.agents.greedy import classify_task

SETTER, SOLVER, PLAYER = (Participant("human", r, r, None) for r in ("setter", "solver", "player"))


@pytest.mark.parametrize(
    ("domain", "participants", "players"),
    [
        ("lambda-star", [SETTER, SOLVER], [1, 0]),
        ("lambda-star", [SOLVER, SETTER], [0, 1]),
        ("overcooked", [PLAYER, PLAYER._replace(name="")], [0, 1]),
        ("babyai", [SETTER, SOLVER], [None, 0]),
    ],
)
def test_participants_get_players_and_setters_last(domain, participants, players):
    opening = open_recording(domain, participants)
    assert [participant.player for participant in opening.participants] == players
    assert load_domain(domain).scene_format(opening.state).n_players <= 2


def test_free_play_of_two_needs_a_world_of_two():
    with pytest.raises(ArgumentError, match=r"^A world of babyai has a place for 1 only\.$"):
        open_recording("babyai", [PLAYER, PLAYER._replace(name="")])


UNDERSTANDS = {
    "reader": lambda text: parse_intent(text).act not in ("unknown", "nothing"),
    "babyai-reader": parse_steps,
    "babyai-seeker": parse_clauses,
    "overcooked-greedy": classify_task,
}


@pytest.mark.parametrize("name", UNDERSTANDS)
def test_agent_understands_all_wordings_that_it_offers(name):
    wordings = agents.load(name).wordings
    assert wordings and [text for text in wordings if not UNDERSTANDS[name](text)] == []


def test_wordings_do_not_change_the_fingerprint(monkeypatch):
    before = agents.fingerprint(agents.load("reader"))
    monkeypatch.setattr(Reader, "wordings", ("Go.",))
    reader = agents.load("reader")
    assert reader.wordings == ("Go.",) and agents.fingerprint(reader) == before


def test_wordings_of_a_plan_are_those_of_all_its_agents():
    plan = make_plan("pilot", ["local-search", "reader"], people=1)
    assert plan.wordings == agents.load("reader").wordings
    assert make_plan("pilot", ["local-search", "blind"], people=1).wordings == ()


def test_agent_of_a_file_meets_people_under_its_own_name(tmp_path):
    plan = make_plan("pilot", ["tests.live.examples:Still"], people=1)
    game = Game.start(tmp_path / "journal", open_evaluation(plan, 1, "p-1"))
    game.step({})
    game.close()
    assert Game.resume(tmp_path / "journal").participants[1].name == "stays-still"
