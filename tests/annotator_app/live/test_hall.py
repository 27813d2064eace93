"""The hall: people get into sessions, and every ended session leaves its record."""

import asyncio
import errno

import pytest

from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.records import Annotator
from sts.episodes import Instruction
from sts.live import forgetting
from sts.live.game import Game
from sts.live.interactions import collect_sessions
from sts.live.journal import read_events
from sts.live.openings import open_recording, open_scenario
from sts.live.plans import make_plan
from sts.live.records import get_journal_path
from sts.live.types import Participant, Turn
from sts.storage.workspace import Workspace
from sts.trajectories import trajectory_store as trajectories
from sts_annotator_app.live.hall import Hall, Place
from sts_annotator_app.live.rooms import DISK_FAILED, Refused
from sts_lambda_star.agents.rule import Rule
from tests.annotator_app.live.test_rooms import Page
from tests.examples import play_turns, scenarios
from tests.stores import add_person
from tests.waiting import wait_until

ANN, BOB, EVE = (Annotator(i, name, pseudonym=name.lower()) for i, name in enumerate("ABE"))
FREE = [Participant("human", "a", "setter", None), Participant("human", "", "solver", 0)]


class Fixture(Hall):
    """A hall of a workspace, with a scenario that can be played."""

    def __init__(self, root) -> None:
        (self.scenario,) = scenarios(1)
        self.continuations: list = []
        super().__init__(
            Workspace.open(root),
            find_scenario=lambda hash: self.scenario,
            add_continuation=self.continuations.append,
            check_person=self.check,
        )

    def check(self, person: Annotator) -> None:
        if person is EVE:
            raise Refused("Please agree to the consent text first.")


def record(hall: Hall, opening, asks: Annotator = ANN, takes_place: Annotator = BOB) -> None:
    """Play a session by a person who asks, and one who takes the free place."""

    async def go() -> None:
        pages = Page(), Page()
        for person, page in zip((asks, takes_place), pages, strict=True):
            room, place = await hall.find(opening.id, person)
            room._countdown = 0.0
            await room.enter(place, page)
        await room.receive(0, {"type": "tell", "text": "Go to Good.", "key": "k"})
        await pages[0].wait_for("frame", 3)
        await room.receive(1, {"type": "press", "move": 3})
        await pages[0].wait_for("frame", 5)
        await room.receive(0, {"type": "mark", "instruction": 0, "mark": "success"})
        await room.receive(0, {"type": "end"})
        for place, page in enumerate(pages):
            await room.leave(place, page)
        await room.task

    asyncio.run(go())


def test_recording_of_two_people_becomes_a_trajectory_that_replays(tmp_path):
    hall, opening = Fixture(tmp_path), open_recording("lambda-star", FREE)
    opening = opening._replace(tick=0.05)
    hall.create(opening)
    assert hall.list_places("a") == [Place(opening, "setter", is_own=True, has_ended=False)]
    assert hall.list_places("b") == [Place(opening, "solver", is_own=False, has_ended=False)]
    record(hall, opening)
    assert hall.list_places("a") == hall.list_places("b") == []
    (trajectory,) = trajectories.load(Workspace.open(tmp_path))  # verified against its world
    assert [(p.kind, p.name) for p in trajectory.players] == [("human", "b"), ("human", "a")]
    (instruction,) = trajectory.instructions
    at, marked = instruction.given_at, instruction.marked_at
    assert instruction == Instruction(
        "Go to Good.", "live", at, "setter", player=0, mark="success", marked_at=marked
    )
    assert 3 in trajectory.episode.actions[:, 0]
    assert trajectory.provenance["setters"] == ["human"]
    last = read_events(get_journal_path(Workspace.open(tmp_path), opening.id))[-1]
    assert last["kind"] == "stored" and last["record"] == trajectory.id


@pytest.mark.parametrize("phase", ["created", "playing", "ended"])
def test_server_that_ends_in_any_phase_loses_nothing(tmp_path, phase):
    hall, opening = Fixture(tmp_path), open_recording("lambda-star", FREE)._replace(tick=0.05)
    hall.create(opening)
    path = get_journal_path(Workspace.open(tmp_path), opening.id)
    steps = 0
    if phase != "created":
        game = Game.resume(path)
        game.seat(1, "b")
        for move in range(4):
            game.step({0: Turn(move, 0)})
        steps = 4
        if phase == "ended":
            game.end("finished")
        game.close()
    later = Fixture(tmp_path)
    if phase == "ended":
        assert later.list_places("a") == []
    else:
        assert [place.is_own for place in later.list_places("a")] == [True]
        record(later, opening)
    (trajectory,) = trajectories.load(Workspace.open(tmp_path))
    assert trajectory.episode.actions[:steps, 0].tolist() == [*range(steps)]


@pytest.mark.parametrize("returns", [True, False])
def test_server_that_ends_before_the_last_marks_waits_for_them(tmp_path, monkeypatch, returns):
    if not returns:
        monkeypatch.setattr("sts_annotator_app.live.hall.PATIENCE_S", 0.3)
    people = [FREE[0], Participant("agent", "rule", "solver", 0)]
    opening = open_recording("lambda-star", people)._replace(tick=0.05)
    game = Game.start(get_journal_path(Workspace.open(tmp_path), opening.id), opening)
    game.tell(0, "Go.")
    game.step({})
    game.end("finished")
    game.close()
    monkeypatch.setattr(Rule, "version", "changed")  # which does not matter any more
    hall = Fixture(tmp_path)
    assert [place.has_ended for place in hall.list_places("a")] == [True]
    assert hall.list_places("b") == []

    async def mark() -> None:
        room, place = await hall.find(opening.id, ANN)
        page = Page()
        await room.enter(place, page)
        await room.receive(place, {"type": "mark", "instruction": 0, "mark": "success"})
        await room.leave(place, page)
        await room.task

    if returns:
        asyncio.run(mark())
    stored = wait_until(lambda: trajectories.load(Workspace.open(tmp_path)))
    (instruction,) = stored[0].instructions
    assert instruction.mark == ("success" if returns else "")
    assert hall.list_places("a") == []


def test_only_people_of_a_session_who_have_agreed_may_enter_it(tmp_path):
    hall, opening = Fixture(tmp_path), open_recording("lambda-star", FREE)
    hall.create(opening)

    async def go() -> None:
        assert (await hall.find(opening.id, ANN))[1] == 0
        with pytest.raises(Refused, match="consent"):
            await hall.find(opening.id, EVE)
        room, place = await hall.find(opening.id, BOB)
        assert place == 1
        with pytest.raises(Refused, match="no place"):
            await hall.find(opening.id, Annotator(9, "C", pseudonym="c"))
        with pytest.raises(Refused, match="does not exist"):
            await hall.find("f" * 24, ANN)
        await room.receive(0, {"type": "end"})
        await room.task
        with pytest.raises(Refused, match="has ended"):
            await hall.find(opening.id, ANN)

    asyncio.run(go())


def test_person_plays_a_scenario_as_in_turns_and_it_is_judged(tmp_path):
    hall = Fixture(tmp_path)
    scenario = hall.scenario
    opening, player = open_scenario(scenario, "b")._replace(tick=None), scenario.players[0]
    hall.create(opening, scenario)
    turns = [(step % 9, step % 2) for step in range(scenario.horizon)]

    async def go() -> None:
        room, place = await hall.find(opening.id, BOB)
        room._countdown = 0.0
        page = Page()
        await room.enter(place, page)
        await page.wait_for("frame", scenario.context + 1)
        for number, (move, say) in enumerate(turns):
            await room.receive(place, {"type": "press", "move": move, "say": say})
            await page.wait_for("frame", scenario.context + 2 + number)
        await room.task
        watched = [frame["watch"] for frame in page.list("frame")]
        assert watched == [True] * scenario.context + [False] * (scenario.horizon + 1)

    assert hall.start_scenario([scenario], "b") == opening.id  # it has not ended
    asyncio.run(go())
    for again in (hall, Fixture(tmp_path)):
        with pytest.raises(Refused, match="played all"):
            again.start_scenario([scenario], "b")
    (played,) = hall.continuations
    expected = play_turns(scenario, turns, "b")
    assert (played.content_hash, played.identity) == (expected.content_hash, expected.identity)
    moves = played.episode.actions[-scenario.horizon :, player]
    assert moves.tolist() == [move for move, _ in turns]


def test_people_of_a_study_meet_the_agents_of_their_plan_in_its_order(tmp_path):
    plan = make_plan("pilot", ["reader", "rule"], people=2)
    met: list[tuple[str, str]] = []

    def play(hall: Hall, person: Annotator) -> None:
        session = hall.start_evaluation(plan, person.pseudonym)
        assert hall.start_evaluation(plan, person.pseudonym) == session  # it has not ended

        async def go() -> None:
            room, place = await hall.find(session, person)
            room._countdown = 0.0
            page = Page()
            await room.enter(place, page)
            await page.wait_for("frame", 2)
            await room.receive(place, {"type": "end"})
            await room.task
            assert not {"reader", "rule"} & {*str(page.messages).split("'")}
            met.append((person.pseudonym, room.game.participants[1].name))

        asyncio.run(go())

    hall = Fixture(tmp_path)
    for person in (BOB, ANN, BOB):
        play(hall, person)
    hall = Fixture(tmp_path)  # a restarted server knows who has met whom
    for person in (BOB, ANN, ANN):
        play(hall, person)
    for number, name in enumerate("ba"):  # in the order in which they came
        expected = [plan.agent_of(cell).name for cell in plan.cells if cell.person == number]
        assert [agent for person, agent in met if person == name] == expected
    with pytest.raises(Refused, match="done all sessions"):
        hall.start_evaluation(plan, "a")
    with pytest.raises(Refused, match="are taken"):
        hall.start_evaluation(plan, "c")
    sessions = collect_sessions(Workspace.open(tmp_path), plan)
    assert [session.ended for session in sessions] == ["finished"] * 6
    assert sum(session.practice for session in sessions) == 2


def test_session_that_has_ended_waits_for_marks_and_the_next_can_start(tmp_path):
    hall, plan = Fixture(tmp_path), make_plan("pilot", ["reader", "rule"], people=2)
    session = hall.start_evaluation(plan, "a")

    async def go() -> None:
        room, place = await hall.find(session, ANN)
        page = Page()
        await room.enter(place, page)
        await room.receive(place, {"type": "tell", "text": "Go.", "key": "k"})
        await room.receive(place, {"type": "end"})
        assert [place.has_ended for place in hall.list_places("a")] == [True]
        assert hall.start_evaluation(plan, "a") != session
        again, there = await hall.find(session, ANN)  # as after a reload
        answer = await again.receive(there, {"type": "mark", "instruction": 0, "mark": "success"})
        assert answer["type"] == "saved"
        await room.leave(place, page)
        await room.task

    asyncio.run(go())
    marks = {
        one.id: [row.mark for row in one.interactions]
        for one in collect_sessions(Workspace.open(tmp_path), plan)
    }
    assert marks.pop(session) == ["success"] and [*marks.values()] == [[]]


def test_session_that_a_full_disk_stopped_goes_on_when_people_return(tmp_path, monkeypatch):
    hall = Fixture(tmp_path)
    opening = open_recording("lambda-star", [Participant("human", "a", "player", 0)])
    hall.create(opening._replace(tick=0.05))

    async def play(page: Page, *, until: str) -> None:
        room, place = await hall.find(opening.id, ANN)
        room._countdown = 0.0
        await room.enter(place, page)
        await page.wait_for("frame", 4)
        if until == "stopped":
            monkeypatch.setattr("os.write", fail)
        else:
            await room.receive(place, {"type": "end"})
        await room.task
        await room.leave(place, page)

    def fail(file: int, line: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    first, second = Page(), Page()
    asyncio.run(play(first, until="stopped"))
    assert first.list("stopped")[0]["text"] == DISK_FAILED
    monkeypatch.undo()
    asyncio.run(play(second, until="ended"))
    (trajectory,) = trajectories.load(Workspace.open(tmp_path))
    assert trajectory.episode.steps >= second.list("frame")[0]["t"] >= 3


def test_record_that_cannot_be_stored_is_stored_by_the_next_server(tmp_path, monkeypatch):
    hall, opening = Fixture(tmp_path), open_recording("lambda-star", FREE)._replace(tick=0.05)
    hall.create(opening)

    def fail(*given, **fields) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(trajectories, "save", fail)
    record(hall, opening)
    monkeypatch.undo()
    assert trajectories.load(Workspace.open(tmp_path)) == []
    Fixture(tmp_path)
    assert len(trajectories.load(Workspace.open(tmp_path))) == 1


def test_ended_session_is_stored_although_its_agent_has_changed(tmp_path, monkeypatch):
    people = [Participant("human", "a", "setter", None), Participant("agent", "rule", "solver", 0)]
    opening = open_recording("lambda-star", people)
    game = Game.start(get_journal_path(Workspace.open(tmp_path), opening.id), opening)
    game.tell(0, "Go to Good.")
    for _ in range(3):
        game.step({})
    game.mark(0, 0, "failure")
    game.end("finished")
    game.close()
    monkeypatch.setattr(Rule, "version", "changed")
    Fixture(tmp_path)
    (trajectory,) = trajectories.load(Workspace.open(tmp_path))
    assert (trajectory.players[0].name, trajectory.episode.steps) == ("rule", 3)
    assert trajectory.instructions[0].text == "Go to Good."


def test_erased_session_is_not_resumed_and_keeps_its_place_in_the_plan(tmp_path, caplog):
    hall, plan = Fixture(tmp_path), make_plan("pilot", ["reader", "rule"], people=2)

    async def play(person: Annotator) -> None:
        room, place = await hall.find(hall.start_evaluation(plan, person.pseudonym), person)
        await room.receive(place, {"type": "tell", "text": "Go.", "key": "k"})
        for kind in ("end", "done"):
            await room.receive(place, {"type": kind})
        await room.task

    for person in (ANN, BOB, ANN):
        asyncio.run(play(person))
    workspace = Workspace.open(tmp_path)
    forgetting.forget(workspace, ANN.pseudonym)
    files = {path: path.read_bytes() for path in tmp_path.rglob("*.jsonl")}
    assert len(files) == 3
    later = Fixture(tmp_path)
    assert later.list_places(ANN.pseudonym) == [] and caplog.text == ""
    with pytest.raises(Refused, match="are taken"):
        later.start_evaluation(plan, "c")
    session = next(path.stem for path, raw in files.items() if b"erased-" in raw)
    with pytest.raises(Refused, match="does not exist"):
        asyncio.run(later.find(session, ANN))
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.jsonl")} == files


def test_names_and_addresses_of_people_are_in_no_journal_and_no_trajectory(tmp_path):
    hall = Fixture(tmp_path)
    with AnnotationStore.open(Workspace.open(tmp_path)) as store:
        ids = "Ann Example", "ann@mail.example", "Bob Example", "bob@mail.example"
        ann, bob = (add_person(store, *ids[i : i + 1], email=ids[i + 1]) for i in (0, 2))
    free = [Participant("human", ann.pseudonym, "setter", None), FREE[1]]
    opening = open_recording("lambda-star", free)._replace(tick=0.05)
    hall.create(opening)
    record(hall, opening, ann, bob)
    (trajectory,) = trajectories.load(Workspace.open(tmp_path))
    (journal,) = tmp_path.glob("live/sessions/*.jsonl")
    for text in (str(trajectory), repr(vars(trajectory)), journal.read_text()):
        assert not [id for id in ids if id in text]
    assert bob.pseudonym in str(trajectory) and bob.pseudonym in journal.read_text()
