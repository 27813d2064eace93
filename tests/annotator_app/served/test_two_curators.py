"""Two curators, from candidates that nobody has looked at to the second version of a suite."""

from __future__ import annotations

import re
import signal
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from sts.annotations import decisions
from sts.cli.main import main
from sts.storage.workspace import Workspace
from sts.suites import drafts
from sts.suites import store as suites
from sts_scenarios.freezing import looked_at
from tests.annotator_app.served.test_curate_page import at, curated, curator, kept, mined
from tests.annotator_app.served.test_player_page import press, saved
from tests.annotator_app.serving import Server
from tests.stores import ask

__all__ = ["curated", "mined"]  # fixtures

pytestmark = pytest.mark.browser


def decide(page: Any, *keys: str) -> str:
    """Decides about the candidate in view, once it is there; returns which it was."""
    page.wait_for_selector(".curate .stage:not([hidden])")
    name = at(page)
    press(page, *keys)
    return name


def choose(page: Any, cell: str, status: str = "undecided") -> None:
    """Chooses what to go through."""
    chip = page.locator(".coverage [data-row=status] button", has_text=status)
    for button in (chip, page.locator(f".coverage button[aria-label^='{cell}']")):
        press(page, "f")
        button.focus()
        press(page, "Enter", "Escape")
    page.locator(".position", has_text=re.compile("^1 of")).wait_for()


def sts(server: Server, *words: str) -> None:
    assert main([*words, "--workspace", str(server.folder)]) == 0


def ids(server: Server, status: str) -> list[str]:
    """The candidates of the draft that have come to a status."""
    draft = drafts.open_draft(Workspace.open(str(server.folder)), "own")
    every = looked_at(draft, ask(server.store, decisions.of_draft, draft.id))
    return [one.summary.id for one in every if one.status == status]


def state(page: Any, text: str) -> None:
    page.locator(".state", has_text=text).wait_for()


def test_two_curators_make_forty_scenarios_and_the_version_after_it(
    open_page: Callable[..., Any], curated: Server
) -> None:
    ana, ben = (curator(open_page, curated, name) for name in ("Ana", "Ben"))
    choose(ben, "shadow-evil, all")  # each takes a part
    mine = [decide(ben, "a") for _ in range(5)]
    saved(ben)
    first = decide(ana, "a")
    saved(ana)

    # They disagree: he rejects what she has accepted, and she overrules him, each having seen it.
    choose(ben, "count-others, all")
    assert at(ben) != first  # nor is it in his list, which is of what was undecided
    choose(ben, "count-others, all", "all")
    assert at(ben) == first
    state(ben, "accepted by Ana")
    press(ben, "r", "1")
    saved(ben)
    press(ana, "k")
    state(ana, "rejected by Ben: two people would not agree")
    press(ana, "a")
    saved(ana)
    about = [(who, what) for who, what, which in kept(curated) if which == first]
    assert about == [("Ana", "accept"), ("Ben", "reject"), ("Ana", "accept")]

    # The server dies between decisions and their acknowledgement, and goes on where it was.
    given = [decide(ana, "a")]
    saved(ana)
    curated.end(signal.SIGKILL)
    given += [decide(ana, "a") for _ in range(2)]
    assert "2 unsaved" in ana.text_content(".progress")
    ana.locator(".status", has_text="Connection lost").wait_for()
    curated.start()
    saved(ana)
    counts = Counter(kept(curated))
    assert [counts["Ana", "accept", name] for name in given] == [1, 1, 1]

    for _ in range(40):
        ana.wait_for_selector(".curate .stage:not([hidden])")
        undecided = ana.text_content(".state") == "undecided"
        decide(ana, "a" if undecided else "j")
    saved(ana)
    assert len(ids(curated, "accepted")) == 40 and {*mine} <= {*ids(curated, "accepted")}
    sts(curated, "suite", "freeze", "own", "--description", "forty, looked at")
    version = suites.load(Workspace.open(str(curated.folder)), "own@1")
    assert len(version.scenarios) == 40

    # Version 2 begins with all of them: some go, some come.
    ana.locator(".empty h2", has_text="No draft yet").wait_for()
    sts(curated, "draft", "from", "own@1")
    sts(curated, "mine", "own", "--per-category", "6", "--seed", "9", "--category", "shadow-evil")
    new = ids(curated, "undecided")
    ben.wait_for_selector(".curate .judging:not([hidden])")
    choose(ben, "shadow-evil, all")
    state(ben, "undecided")
    assert [decide(ben, "a"), *(decide(ben, "r", "4") for _ in new[1:])] == new
    saved(ben)
    ana.wait_for_selector(".curate .judging:not([hidden])")
    choose(ana, "when-evil, all", "kept")
    state(ana, "kept from own@1")
    gone = [decide(ana, "t", "1"), decide(ana, "t", "0", *"too easy", "Enter")]
    saved(ana)
    sts(curated, "suite", "freeze", "own", "--description", "some go, some come")
    second = suites.load(Workspace.open(str(curated.folder)), "own@2")
    before, after = ({one.id for one in made.scenarios} for made in (version, second))
    assert before - after == {*gone} and after - before == {new[0]}
    assert len(before & after) == 38 >= 0.8 * len(before)
    assert [c.reason for c in second.changes if c.kind == "retired"] == [
        "every agent passes it",
        "too easy",
    ]
