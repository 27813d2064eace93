"""Nothing that a judge's browser gets tells which agent it watches, or what is known of a clip."""

from __future__ import annotations

import json
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from sqlalchemy import select

from sts.annotations import assignment, references
from sts.annotations import people as store_people
from sts.annotations.items import item_of
from sts.annotations.schema import copies, items, reference_episodes
from sts.annotations.store import Store
from sts.annotations.types import Annotator, Item
from sts.continuations.run import run
from sts.continuations.store import entries, find
from sts.storage.workspace import Workspace
from sts.suites import store as suites
from sts_annotator_app import remaining
from sts_annotator_app.events import storage_namespace, sync_page
from sts_annotator_app.remaining import RemainingWork
from tests.access.attempts import attempt
from tests.access.telling import ALPHA, p_value, words_in
from tests.annotator_app.served.test_reachable import PAGES, asked
from tests.annotator_app.serving import AGENTS, OWNER, SUITE, Server, empty_workspace, quiet
from tests.annotator_app.wire import Wire, wired
from tests.examples import small
from tests.stores import add_person, add_reference, ask, enqueue
from tests.zygote import Zygote

KIND = "Blindness"
MADE_UP = "made-up@1"


class Kept:
    """A websocket that keeps what it receives."""

    def __init__(self, socket: Any) -> None:
        self.socket = socket
        self.bytes = b""
        self.last = 0

    def send(self, message: bytes) -> None:
        self.last = 0
        self.socket.send(message)

    def recv(self, *given: Any, **more: Any) -> bytes:
        raw: bytes = self.socket.recv(*given, **more)
        self.bytes += raw
        self.last += len(raw)
        return raw


def secrets_of(server: Server) -> dict[str, list[str]]:
    """What no judge is to read, by what it is."""
    workspace = Workspace.open(str(server.folder))
    scenarios = suites.load(workspace, SUITE).scenarios
    every = list(entries(workspace, {one.hash for one in scenarios}))
    people = [one for one in ask(server.store, store_people.everybody) if one.name != "looks"]
    return {
        "agent": [*AGENTS],
        "agent's code": sorted({one.identity.fingerprint for one in every}),
        "continuation": [one.id for one in every],
        "clip": [one.clip for one in every if one.clip],
        "scenario": [one.id for one in scenarios if len(one.id) > 6],
        "scenario's content": [one.hash for one in scenarios],
        "judge": [one.name for one in people if len(one.name) > 5],
        "pseudonym": [one.pseudonym for one in ask(server.store, store_people.everybody)],
        "note of a reference": ["known to be so"],
        "folder": [str(server.folder)],
        "owner's key": [server.secret(OWNER)],
    }


def judged(wire: Wire, server: Server, data: dict[str, Any], number: int) -> dict[str, Any]:
    """Judges the clip that a page has before it; returns what it is sent then."""
    one = {"uuid": f"{number:032x}", "item": data["queue"][0]["id"], "verdict": "not_done"}
    sent = {"author": data["author"], "outbox": [one], "has": [one["id"] for one in data["queue"]]}
    (answer,) = wire.ask(json.dumps({"sync": sent}))
    assert [ack["status"] for ack in answer["acks"]] == ["saved"]
    return answer


@attempt(
    KIND,
    "every byte that a judge's pages, scripts and websocket bring is searched for agents, "
    "fingerprints, ids, other people, notes of references, folders and keys",
    "none is found, coded in base64 or digits either",
)
def test_no_byte_to_a_judge_names_what_is_hidden(server: Server) -> None:
    found = b""
    with wired(server, "looks") as wire:
        kept = wire.socket = Kept(wire.socket)  # type: ignore[assignment]
        (data,) = wire.ask()
        for number in range(3):
            data = judged(wire, server, data, number)
        found += kept.bytes
    for path in (*PAGES, "/_stcore/host-config", "/_stcore/health"):
        answer = asked(server, "GET", path, "looks")
        found += answer.text.encode("latin-1") + str(answer.headers).encode()  # type: ignore[attr-defined]
    assert len(found) > 50_000
    assert words_in(found, secrets_of(server)) == set()


def item(agent: str, scenario: str, number: int) -> Item:
    name = f"{agent} {scenario} {number}"
    return Item(
        name,
        clip=name,
        agent=agent,
        scenario=scenario,
        scenario_hash=scenario,
        suite=MADE_UP,
        category="c",
        kind="instruction",
        horizon=5,
        takeover=3,
    )


class Serving(NamedTuple):
    """A clip as it came: of whom it is, and what can be seen of it from outside."""

    agent: str
    scenario: str
    is_reference: bool
    order: int
    size: int
    seconds: float
    after: str
    """What the answer to its verdict says besides the clips that it brings."""


def served(store: Store, ann: Annotator, shown: Callable[[str], dict[str, Any]]) -> list[Serving]:
    """Judges all that there is of the made-up suite, a clip at a time."""
    told, known = RemainingWork(), {one.continuation for one in ask(store, references.every)}
    out: list[Serving] = []

    def asked(outbox: list[Any]) -> tuple[dict[str, Any], float]:
        sent = {"author": storage_namespace("here", ann.id), "outbox": outbox}
        began = time.perf_counter()
        data = sync_page(
            store, ann, sent, suite=MADE_UP, place="here", shown=shown, broken={}, remaining=told
        )
        return data, time.perf_counter() - began

    data, seconds = asked([])
    brought: dict[str, tuple[int, float]] = {}
    while data["queue"]:
        for one in data["queue"]:
            brought.setdefault(one["id"], (len(json.dumps(one)), seconds))
        one, before = data["queue"][0], data["counts"]
        sent = {"uuid": f"{len(out):032x}", "item": one["id"], "verdict": "not_done"}
        data, seconds = asked([sent])
        change = {name: data["counts"][name] - before[name] for name in before}
        agent, scenario, _ = one["of"].split(" ")
        after = json.dumps([change, [(a["status"], a["message"]) for a in data["acks"]]])
        is_reference = one["of"] in known
        out.append(Serving(agent, scenario, is_reference, len(out), *brought[one["id"]], after))
    return out


def told_by(found: list[Serving], name: str, of: str = "agent") -> float:
    """How likely chance alone would tell as much of the agent by one thing that can be seen."""
    own = [one for one in found if of == "is_reference" or not one.is_reference]
    values = [getattr(one, name) for one in own]
    if name == "after":
        values = [sorted(set(values)).index(one) for one in values]
    return p_value(values, [getattr(one, of) for one in own], [one.scenario for one in own])


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., list[Serving]]]:
    """Make studies of four agents in six scenarios, four times each, with references of the same.

    Each is judged from its beginning to its end.
    """

    def whole(shown: Callable[[str], dict[str, Any]]) -> list[Serving]:
        workspace = Workspace.open(str(tmp_path_factory.mktemp("study"))).ensure()
        rules = workspace.settings.setdefault("annotation", {})
        rules |= {"reference_rate": 0.2, "spacing": 0, "seed": 1}
        agents, scenarios = ("ant", "bee", "cow", "doe"), "klmnop"
        with Store.open(workspace) as store:
            enqueue(
                store, [item(a, s, n) for a in agents for s in scenarios for n in range(10, 14)]
            )
            for n in range(36):
                add_reference(store, item(agents[n % 4], scenarios[n % 6], 50 + n), "success", 1)
            return served(store, add_person(store, "ann"), shown)

    yield whole


def plain(continuation: str) -> dict[str, Any]:
    return {"of": continuation, "scene": "x" * 40}


@pytest.fixture(scope="module")
def sound(study: Callable[..., list[Serving]]) -> list[Serving]:
    return study(plain)


def by_name(candidates: Any, *given: Any) -> Any:
    return min(candidates, key=lambda one: one.agents, default=None)


def leaking(continuation: str) -> dict[str, Any]:
    time.sleep(0.03 * continuation.startswith("doe"))
    return {"of": continuation, "scene": "x" * (40 + continuation.startswith("cow"))}


@pytest.fixture(scope="module")
def leaky(study: Callable[..., list[Serving]]) -> list[Serving]:
    """What is served where four faults were put in."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assignment, "choose_next", by_name)
        patch.setattr(remaining, "REFRESH_S", 0.0)
        return study(leaking)


@attempt(
    KIND,
    "whether the answer to a verdict, or when a clip comes, tells that it is a reference",
    "they do not; what is left is told anew only every quarter of an hour",
)
def test_a_reference_is_served_like_any_other_clip(sound: list[Serving]) -> None:
    assert {one.is_reference for one in sound} == {True, False}
    assert len({one.after for one in sound}) == 1
    for name in ("order", "size"):
        assert told_by(sound, name, "is_reference") > ALPHA


def test_neither_order_nor_size_tells_an_agent(sound: list[Serving]) -> None:
    for name in ("order", "size"):
        assert told_by(sound, name) > ALPHA


@pytest.mark.landing
@pytest.mark.parametrize(
    ("leak", "of"),
    [("order", "agent"), ("size", "agent"), ("seconds", "agent"), ("after", "is_reference")],
)
def test_a_leak_that_is_put_in_is_found(leaky: list[Serving], leak: str, of: str) -> None:
    assert told_by(leaky, leak, of) <= ALPHA


def test_an_agents_name_in_an_episode_would_be_found() -> None:
    answer = json.dumps({"queue": [plain("x") | {"says": "c3RpZ21lcmd5"}]}).encode()
    assert words_in(answer, {"agent": AGENTS}) == {("agent", "stigmergy")}


FOUR = ("local-search", "stigmergy", "random", "blind")


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory, zygote: Zygote) -> Iterator[Server]:
    """A server on 1,280 continuations of four agents, with a hundred references among them."""
    folder = tmp_path_factory.mktemp("large")
    workspace = empty_workspace(folder)
    settings = folder / "workspace.toml"
    settings.write_text(settings.read_text().replace("rate = 0.1 ", "rate = 0.15 "))
    scenarios = small(workspace).scenarios
    run(workspace, scenarios, FOUR, count=10, seed=0, workers=1, progress=quiet)
    every = sorted(entries(workspace, {one.hash for one in scenarios}), key=lambda one: one.id)
    with Store.open(workspace) as store:
        for one in every[::13]:
            item = item_of(find(workspace, one.id), suite="")
            add_reference(store, item, "not_done", None, "known to be so")
    with Server(folder, zygote=zygote) as made:
        yield made


def of_items(server: Server) -> tuple[dict[str, str], dict[str, str], set[str]]:
    """The agents and the scenario of each item, and which items are references."""
    agents: dict[str, set[str]] = defaultdict(set)
    with server.store.database.read() as connection:
        for name, agent in connection.execute(select(copies.c.item, copies.c.agent)):
            agents[name].add(agent)
        rows = connection.execute(select(items.c.id, items.c.scenario))
        scenarios = {row.id: row.scenario for row in rows}
        known = set(connection.scalars(select(reference_episodes.c.item)))
    return {name: " and ".join(sorted(own)) for name, own in agents.items()}, scenarios, known


def thousand(server: Server, person: str, count: int) -> list[tuple[str, dict[str, Any]]]:
    """Judges so many clips as a page does; of each its item and what can be seen of it."""
    out: list[tuple[str, dict[str, Any]]] = []
    with wired(server, person) as wire:
        kept = Kept(wire.socket)
        wire.socket = kept  # type: ignore[assignment]
        brought: dict[str, dict[str, Any]] = {}

        def note(data: dict[str, Any], seconds: float) -> None:
            new = [one for one in data["queue"] if len(one) > 1]
            for one in new:
                size = len(json.dumps(one)) - len(one["id"])
                brought[one["id"]] = {"size": size, "bytes": kept.last, "seconds": seconds}

        began = time.perf_counter()
        (data,) = wire.ask()
        note(data, time.perf_counter() - began)
        while len(out) < count and data["queue"]:
            now = data["queue"][0]["id"]
            before, began = data["counts"], time.perf_counter()
            data = judged(wire, server, data, len(out))
            note(data, time.perf_counter() - began)
            change = str([data["counts"][name] - before[name] for name in before])
            out.append((now, brought[now] | {"order": len(out), "after": change}))
    return out


@pytest.mark.landing
@attempt(
    KIND,
    "whether order, size, bytes on the wire or time tell the agent, or a reference, of a thousand "
    "clips served by a live server; by permutation within scenarios",
    "chance tells as much (p over .001; time in one of three parts at least)",
    times=1000,
)
def test_a_thousand_servings_tell_nothing(large: Server) -> None:
    each = [thousand(large, person, 350) for person in ("first", "second", "third")]
    assert sum(map(len, each)) > 1000
    agents, scenarios, known = of_items(large)

    def p(rows: list[tuple[str, dict[str, Any]]], name: str, of: str) -> float:
        if of == "agent":  # a clip of several is no one's
            rows = [one for one in rows if one[0] not in known and agents[one[0]] in FOUR]
        words = sorted({str(seen["after"]) for _, seen in rows})
        values = [words.index(s["after"]) if name == "after" else s[name] for _, s in rows]
        groups = [agents[one] if of == "agent" else one in known for one, _ in rows]
        return p_value(values, groups, [scenarios[one] for one, _ in rows])

    every = [one for part in each for one in part]
    assert Counter(one in known for one, _ in every)[True] > 100
    found = {
        f"{name} tells {of}": p(every, name, of)
        for of in ("agent", "reference")
        for name in ("order", "size", "bytes", "after")
    }
    for of in ("agent", "reference"):  # how busy the machine is at one moment is no leak
        found[f"seconds tell {of}"] = max(p(part, "seconds", of) for part in each)
    print(found)
    assert min(found.values()) > ALPHA, found
