"""Blindness: an annotator's browser learns neither the agent of a clip nor its known verdict."""

from __future__ import annotations

import json
import shutil
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.database.schema import copies, deals, items, reference_items
from sts.annotations.people import people as store_people
from sts.annotations.queue.items import make_item
from sts.continuations.continuation_store import find_continuation, iter_entries
from sts.continuations.run import run
from sts.storage.workspace import Workspace
from sts.suites import suite_store as suites
from sts.viewer.criteria import find_criterion
from tests.access.attempts import attempt
from tests.access.telling import ALPHA, p_value, words_in
from tests.annotator_app.served.test_reachable import PAGES, send_request
from tests.annotator_app.serving import AGENTS, OWNER, SUITE, Server, empty_workspace, quiet
from tests.annotator_app.wire import Wire, wired
from tests.examples import small
from tests.stores import add_reference, ask
from tests.zygote import Zygote

KIND = "Blindness"
MADE_UP = "made-up@1"


class Kept:
    """Bytes that a page receives; `last` is the number in the latest response."""

    def __init__(self, wire: Wire) -> None:
        self.bytes = b""
        self.last = 0
        wire.hear = self.hear

    def hear(self, raw: bytes) -> None:
        self.bytes += raw
        self.last = len(raw)


def secrets_of(server: Server) -> dict[str, list[str]]:
    """Return the words that no annotator may read, by kind."""
    workspace = Workspace.open(str(server.folder))
    scenarios = suites.load(workspace, SUITE).scenarios
    every = list(iter_entries(workspace, {one.hash for one in scenarios}))
    people = [one for one in ask(server.store, store_people.list_people) if one.name != "looks"]
    return {
        "agent": [*AGENTS],
        "agent's code": sorted({one.identity.fingerprint for one in every}),
        "continuation": [one.id for one in every],
        "clip": [one.clip for one in every if one.clip],
        "scenario": [one.id for one in scenarios if len(one.id) > 6],
        "scenario's content": [one.hash for one in scenarios],
        "judge": [one.name for one in people if len(one.name) > 5],
        "pseudonym": [one.pseudonym for one in ask(server.store, store_people.list_people)],
        "note of a reference": ["known to be so"],
        "folder": [str(server.folder)],
        "owner's key": [server.secret(OWNER)],
    }


def judged(wire: Wire, data: dict[str, Any], number: int) -> dict[str, Any]:
    """Judge the clip that a page has before it; return the answer."""
    one = {"uuid": f"{number:032x}", "item": data["queue"][0]["id"], "verdict": "not_done"}
    sent = {"author": data["author"], "outbox": [one], "has": [one["id"] for one in data["queue"]]}
    (answer,) = wire.ask(json.dumps(sent))
    assert [ack["status"] for ack in answer["acks"]] == ["saved"]
    return answer


@attempt(
    KIND,
    "every byte that a judge's pages, scripts and websocket bring is searched for agents, "
    "fingerprints, ids, other people, notes of references, folders and keys",
    "none is found, coded in base64 or digits either",
)
def test_bytes_sent_to_an_annotator_name_no_secret(server: Server) -> None:
    with wired(server, "looks") as wire:
        kept = Kept(wire)
        (data,) = wire.ask()
        for number in range(3):
            data = judged(wire, data, number)
    found: bytes = kept.bytes
    for path in (*PAGES, "/_stcore/host-config", "/_stcore/health"):
        answer = send_request(server, "GET", path, "looks")
        found += answer.text.encode("latin-1") + str(answer.headers).encode()  # type: ignore[attr-defined]
    assert len(found) > 50_000 and data["queue"][0]["id"].encode() in found
    assert words_in(found, secrets_of(server)) == set()


@pytest.fixture
def dealt(recorded: Path, tmp_path: Path, zygote: Zygote) -> Iterator[Server]:
    """A server whose annotators judge every second category by the instruction alone."""
    folder = shutil.copytree(recorded, tmp_path / "workspace")
    settings = folder / "workspace.toml"
    text = settings.read_text()
    settings.write_text(text.replace("[annotation]\n", "[annotation]\ninstruction_alone = 0.5\n"))
    with Server(folder, zygote=zygote) as made:
        yield made


@attempt(
    KIND,
    "every byte that a page brings is searched for success criteria and edge cases of categories "
    "that the person judges by the instruction alone",
    "none is found; those of the other categories are",
)
def test_bytes_sent_have_no_text_that_the_deal_withholds(dealt: Server) -> None:
    found = b""
    for number in (30, 0):  # the second page is sent the last answers again
        with wired(dealt, "looks") as wire:
            kept = Kept(wire)
            (data,) = wire.ask()
            assert len(data["previous"]) == (0 if number else 3)
            for place in range(number):
                data = judged(wire, data, place)
        found += kept.bytes
    for path in PAGES:
        found += send_request(dealt, "GET", path, "looks").text.encode("latin-1")  # type: ignore[attr-defined]
    looks = ask(dealt.store, store_people.get_person, "looks").id
    with dealt.store.read() as connection:
        rows = connection.execute(select(deals).where(deals.c.annotator == looks)).all()
    texts: dict[int, set[str]] = {0: set(), 1: set()}
    shown = {row.category: row.rubric_shown for row in rows}
    for scenario in suites.load(Workspace.open(str(dealt.folder)), SUITE).scenarios:
        criterion = find_criterion(scenario)
        if criterion and scenario.category in shown:
            own = {criterion["done"], criterion["guideline"]} - {""}
            texts[shown[scenario.category]] |= {json.dumps(text)[1:-1] for text in own}
    sent = {text for own in texts.values() for text in own if text.encode() in found}
    assert texts[0] - texts[1] and not sent & (texts[0] - texts[1])
    assert len(sent & texts[1]) > 3


FOUR = ("local-search", "stigmergy", "random", "blind")


@pytest.fixture
def many(request: pytest.FixtureRequest, tmp_path: Path, zygote: Zygote) -> Iterator[Server]:
    """A server on many continuations of four agents, one in thirteen of them a reference."""
    folder = tmp_path
    workspace = empty_workspace(folder)
    settings = folder / "workspace.toml"
    settings.write_text(settings.read_text().replace("rate = 0.1 ", "rate = 0.15 "))
    scenarios = small(workspace).scenarios
    run(workspace, scenarios, FOUR, count=request.param, seed=0, workers=1, progress=quiet)
    every = sorted(iter_entries(workspace, {one.hash for one in scenarios}), key=lambda one: one.id)
    with AnnotationStore.open(workspace) as store:
        for one in every[::13]:
            item = make_item(find_continuation(workspace, one.id), suite="")
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
        known = set(connection.scalars(select(reference_items.c.item)))
    return {name: " and ".join(sorted(own)) for name, own in agents.items()}, scenarios, known


def judge_all(server: Server, person: str, count: int) -> list[tuple[str, dict[str, Any]]]:
    """Judge up to `count` clips as a page does; return each item and what can be seen of it."""
    out: list[tuple[str, dict[str, Any]]] = []
    with wired(server, person) as wire:
        kept = Kept(wire)
        brought: dict[str, dict[str, Any]] = {}

        def note(data: dict[str, Any], seconds: float) -> None:
            for one in data["queue"]:
                if len(one) > 1:  # it is new
                    size = len(json.dumps(one)) - len(one["id"])
                    brought[one["id"]] = {"size": size, "bytes": kept.last, "seconds": seconds}

        began = time.perf_counter()
        (data,) = wire.ask()
        note(data, time.perf_counter() - began)
        while len(out) < count and data["queue"]:
            now = data["queue"][0]["id"]
            before, began = data["counts"], time.perf_counter()
            data = judged(wire, data, len(out))
            note(data, time.perf_counter() - began)
            change = str([data["counts"][name] - before[name] for name in before])
            out.append((now, brought[now] | {"order": len(out), "after": change}))
    return out


@pytest.mark.landing
@pytest.mark.parametrize(
    ("many", "clips"),
    [(2, 100), pytest.param(10, 1000, marks=pytest.mark.slow)],
    indirect=["many"],
)
@attempt(  # below `parametrize`, so that the larger number counts alone
    KIND,
    "whether order, size, bytes on the wire, time or the answer to a verdict tell the agent, or a "
    "reference, of a thousand clips served by a live server; by permutation within a person's "
    "scenarios",
    "chance tells as much (p over .001; time in one of three parts at least)",
    times=1000,
)
def test_served_clips_reveal_neither_agent_nor_reference(many: Server, clips: int) -> None:
    each = [judge_all(many, person, clips * 7 // 20) for person in ("first", "second", "third")]
    assert sum(map(len, each)) > clips
    agents, scenarios, known = of_items(many)

    def p(rows: list[tuple[str, dict[str, Any]]], name: str, of: str) -> float:
        if of == "agent":  # a clip of several agents has none of its own
            rows = [one for one in rows if one[0] not in known and agents[one[0]] in FOUR]
        words = sorted({str(seen["after"]) for _, seen in rows})
        values = [words.index(s["after"]) if name == "after" else s[name] for _, s in rows]
        groups = [agents[one] if of == "agent" else one in known for one, _ in rows]
        return p_value(values, groups, [(scenarios[one], seen["person"]) for one, seen in rows])

    # Whether a person sees the texts of a scenario changes its size, and which references it has.
    every = [(one, seen | {"person": n}) for n, part in enumerate(each) for one, seen in part]
    assert Counter(one in known for one, _ in every)[True] > clips / 20
    found = {
        f"{name} tells {of}": p(every, name, of)
        for of in ("agent", "reference")
        for name in ("order", "size", "bytes", "after")
    }
    for of in ("agent", "reference"):  # how busy the machine is at one moment is no leak
        found[f"seconds tell {of}"] = max(
            p([one for one in every if one[1]["person"] == n], "seconds", of) for n in range(3)
        )
    assert min(found.values()) > ALPHA, found
