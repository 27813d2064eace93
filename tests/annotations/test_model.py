"""Random sequences of claims, submissions, corrections and lapsed leases agree with a model."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import uuid4

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select

from sts.annotations.answers import progress
from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.database.schema import events, items
from sts.annotations.queue.claims import LEASE_DURATION_S
from tests.annotations.examples import Clock, a_submission, an_item
from tests.stores import add_person, ask, claim_items, enqueue, submit

PEOPLE, ITEMS, REQUIRED = 3, 3, 2


class Step(NamedTuple):
    what: str
    who: int
    which: int
    mark: int


steps = st.lists(
    st.builds(
        Step,
        st.sampled_from(["claim", "claim", "submit", "submit", "resend", "correct", "expire"]),
        st.integers(0, PEOPLE - 1),
        st.integers(0, 50),
        st.integers(1, 40),
    ),
    max_size=30,
)


@dataclass
class Slot:
    holder: int | None = None
    until: float = 0.0
    judged: bool = False

    def is_free(self, now: float) -> bool:
        return not self.judged and (self.holder is None or self.until <= now)


@dataclass
class Person:
    """One browser: the items that it was given and all that it has sent."""

    number: int
    given: list[str] = field(default_factory=list)
    sent: list[dict[str, Any]] = field(default_factory=list)

    def current(self) -> dict[str, int]:
        return {sent["item"]: sent["step"] for sent in self.sent}


class Model:
    """The expected state of the slots."""

    def __init__(self) -> None:
        self.slots: dict[str, list[Slot]] = {}
        self.events = self.extras = 0

    def get_slots(self, continuation: str) -> list[Slot]:
        return self.slots.setdefault(continuation, [Slot() for _ in range(REQUIRED)])

    def find_slot(self, continuation: str, who: int) -> Slot | None:
        return next((slot for slot in self.get_slots(continuation) if slot.holder == who), None)

    def first_free(self, continuation: str, now: float) -> Slot | None:
        return next((slot for slot in self.get_slots(continuation) if slot.is_free(now)), None)

    def judge(self, continuation: str, who: int, now: float) -> str:
        slot = self.find_slot(continuation, who) or self.first_free(continuation, now)
        self.events += 1
        if slot is None:
            self.extras += 1
            return "extra"
        slot.holder, slot.judged = who, True
        return "saved"

    def filled(self) -> list[int]:
        return [sum(slot.judged for slot in slots) for slots in self.slots.values()]


class Bench:
    """The store and its model."""

    def __init__(self, store: AnnotationStore, clock: Clock) -> None:
        self.store, self.clock, self.model = store, clock, Model()
        self.suite = uuid4().hex  # every example works on items and people of its own
        self.names = [f"{self.suite}-{i}" for i in range(ITEMS)]
        self.continuation: dict[str, str] = {}
        enqueue(store, [an_item(name, suite=self.suite) for name in self.names], required=REQUIRED)
        self.people = [
            Person(add_person(store, f"{self.suite[:20]} {i}").id) for i in range(PEOPLE)
        ]

    def take(self, step: Step) -> None:
        person = self.people[step.who]
        if step.what == "expire":
            self.clock.pass_lease()
        elif step.what == "claim":
            self.claim(person, 1 + step.which % 2)
        elif step.what == "resend" and person.sent:
            acks = submit(self.store, person.number, person.sent)
            assert {ack.status for ack in acks} == {"duplicate"}
        elif step.what == "correct" and person.sent:
            before = person.sent[step.which % len(person.sent)]
            self.send(person, before["item"], step.mark, corrects=before["uuid"])
        elif step.what == "submit" and person.given:
            self.send(person, person.given[step.which % len(person.given)], step.mark)

    def claim(self, person: Person, count: int) -> None:
        now, number = self.clock.now, person.number
        claims = claim_items(self.store, number, suite=self.suite, count=count)
        got = {claim.continuation for claim in claims}
        judged = {self.continuation[item] for item in person.current()}
        own = {name: self.model.find_slot(name, number) for name in self.names}
        held = {name for name, slot in own.items() if slot and not slot.judged}
        offered = {
            name
            for name in set(self.names) - held - judged
            if self.model.first_free(name, now) and own[name] is None
        }
        assert len(got) == len(claims) == min(max(count, len(held)), len(held) + len(offered))
        assert {claim.continuation for claim in claims[: len(held)]} == held
        assert got - held <= offered
        for claim in claims:
            name = claim.continuation
            slot = own[name] or self.model.first_free(name, now)
            assert slot is not None
            slot.holder, slot.until = number, now + LEASE_DURATION_S
            self.continuation[claim.item] = name
            person.given += [claim.item] if claim.item not in person.given else []

    def send(self, person: Person, item: str, mark: int, **changes: Any) -> None:
        submission = a_submission(item, step=mark, **changes)
        expected = self.model.judge(self.continuation[item], person.number, self.clock.now)
        assert [ack.status for ack in submit(self.store, person.number, [submission])] == [expected]
        person.sent.append(submission)

    def check(self) -> None:
        for person in self.people:
            history = ask(self.store, progress.load_recent_judgements, person.number, 100)
            assert {judgement.item: judgement.step for judgement in history} == person.current()
        filled = self.model.filled()
        assert ask(self.store, progress.load_progress, self.suite)[:4] == (
            ITEMS,
            filled.count(REQUIRED),
            ITEMS * REQUIRED,
            sum(filled),
        )
        with self.store.database.read() as connection:
            kept = connection.execute(
                select(func.count(), func.coalesce(func.sum(events.c.extra), 0))
                .join(items, items.c.id == events.c.item)
                .where(items.c.continuation.in_(self.names))
            ).one()
        assert tuple(kept) == (self.model.events, self.model.extras)


@given(steps)
@settings(
    max_examples=settings().max_examples // 4,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_slots_events_and_current_verdicts_agree_with_a_model(store, clock, sequence) -> None:
    bench = Bench(store, clock)
    for step in sequence:
        bench.take(step)
        bench.check()
