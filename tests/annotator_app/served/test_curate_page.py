"""The curator's page in a real browser, on a draft of its own."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sts.annotations import decisions, people
from sts.cli.main import main
from sts.storage.workspace import Workspace
from sts.suites import drafts
from sts.suites.decisions import states
from sts.trajectories import store as trajectories
from tests.annotator_app.served.test_player_page import press, saved
from tests.annotator_app.serving import Server
from tests.examples import recorded
from tests.stores import ask, change
from tests.zygote import Zygote

pytestmark = pytest.mark.browser

CATEGORIES = (
    *("count-others", "keep-beside", "last-move", "return-to-first"),
    *("shadow-evil", "when-evil", "where-is-good", "where-was-evil"),
)

Opener = Callable[..., Any]


@pytest.fixture(scope="session")
def mined(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with a draft of forty candidates that nobody has looked at."""
    folder = tmp_path_factory.mktemp("mined")
    workspace = Workspace.open(str(folder)).ensure()
    worlds = {"count": 40, "team": 2, "steps": 40, "height": 8, "width": 9}
    for seed, agent in ((5, "local-search"), (6, "random")):
        trajectories.save(workspace, recorded(agent, seed=seed, **worlds))
    asked = [word for name in CATEGORIES for word in ("--category", name)]
    assert main(["mine", "own", *asked, "--per-category", "5", "--workspace", str(folder)]) == 0
    return folder


@pytest.fixture
def curated(mined: Path, tmp_path: Path, zygote: Zygote) -> Iterator[Server]:
    with Server(shutil.copytree(mined, tmp_path / "workspace"), "own", zygote=zygote) as made:
        yield made


def curator(open_page: Opener, server: Server, name: str, **options: Any) -> Any:
    """Open the page of a curator; adds them when new."""
    page = open_page(name, server, roles=("curator",), ready=False, **options)
    page.wait_for_selector(".curate .stage:not([hidden])")
    return page


def at(page: Any) -> str:
    return str(page.get_attribute(".curate", "data-candidate"))


def kept(server: Server) -> list[tuple[str, str, str]]:
    """Every decision about the draft: who, what, about which."""
    draft = drafts.open_draft(Workspace.open(str(server.folder)), "own")
    return [(d.by, d.kind, d.candidate) for d in ask(server.store, decisions.of_draft, draft.id)]


def test_a_draft_is_decided_from_the_keyboard_and_undone(
    open_page: Opener, curated: Server
) -> None:
    page = curator(open_page, curated, "Ana")
    assert page.text_content(".position") == "1 of 40"
    seen = []
    for keys in (["a"], ["r", "2"], ["r", "Enter", *"odd: j, a & <b>k</b>", "Enter"], ["j"], ["a"]):
        seen.append(at(page))
        press(page, *keys)
    assert page.text_content(".position") == "6 of 40"
    saved(page)
    assert kept(curated) == [
        ("Ana", "accept", seen[0]),
        ("Ana", "reject", seen[1]),
        ("Ana", "reject", seen[2]),
        ("Ana", "accept", seen[4]),
    ]
    press(page, "u", "u")
    assert at(page) == seen[2]
    press(page, "k")
    assert page.text_content(".state") == "rejected by Ana: what is asked about was not in sight"
    saved(page)
    assert kept(curated)[4:] == [("Ana", "undo", seen[4]), ("Ana", "undo", seen[2])]
    assert "Ana rejected" in page.inner_text(".log") and "<b>k</b>" in page.inner_text(".log")
    page.reload()  # the page finds again where it was
    page.wait_for_selector(".curate .stage:not([hidden])")
    assert at(page) == seen[1]
    press(page, "f", "ArrowRight", "Enter")
    page.locator(".position", has_text="1 of 1").wait_for()
    assert at(page) == seen[0]


def drag(page: Any, handle: str, steps: int) -> None:
    """Drags a handle of the timeline to the right by some steps."""
    box = page.locator(f"[data-handle={handle}]").bounding_box()
    wide = page.locator(".span").bounding_box()["width"]
    whole = int(page.get_attribute(f"[data-handle={handle}]", "aria-valuemax"))
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + steps * wide / whole, y, steps=3)
    page.mouse.up()


@pytest.mark.landing
def test_an_edit_is_derived_before_ones_eyes_saved_and_undone(
    open_page: Opener, curated: Server
) -> None:
    page = curator(open_page, curated, "Ana")
    press(page, "f")
    page.locator(".coverage button[aria-label^='shadow-evil, all']").focus()
    press(page, "Enter", "Escape")
    page.locator(".position", has_text="1 of 5").wait_for()
    name, before = at(page), page.text_content(".instruction")
    press(page, "e")
    page.locator(".unfit", has_text="Valid").wait_for()
    takeover = int(page.get_attribute("[data-handle=takeover]", "aria-valuenow"))
    press(page, "2")
    page.locator(".changes", has_text="text").wait_for()
    page.focus("[data-handle=end]")
    press(page, "ArrowRight", "ArrowRight")
    page.locator(".changes", has_text="length 12 → 14").wait_for()
    drag(page, "start", 2)
    page.locator(".changes", has_text="context 10 → ").wait_for()
    drag(page, "start", -2)
    page.locator(".changes", has_text="context").wait_for(state="detached")
    press(page, "g")
    page.keyboard.type("<i>wrap</i>, edge")
    page.locator(".changes", has_text="<i>wrap</i>, edge").wait_for()
    page.keyboard.press("Escape")  # out of the field: what has changed is not lost by it
    page.click(".editing [data-action=enter]")
    assert "length 12 → 14" in page.text_content(".status")
    saved(page)
    page.locator(".facts", has_text="horizon 14").wait_for()
    assert "<i>wrap</i>, edge" in page.inner_text(".facts")
    assert f"at step {takeover};" in page.inner_text(".facts")
    draft = drafts.open_draft(Workspace.open(str(curated.folder)), "own")
    (made,) = ask(curated.store, decisions.of_draft, draft.id)
    edited = draft.candidate(name, made.scenario)
    assert (edited.horizon, edited.tags[:2]) == (14, ("<i>wrap</i>", "edge"))
    press(page, "u")
    page.locator(".instruction", has_text=before).wait_for()
    page.locator(".facts", has_text="horizon 12").wait_for()


@pytest.mark.landing
def test_only_curators_and_leads_have_the_page(open_page: Opener, server: Server) -> None:
    page = open_page("no curator", server)
    assert page.get_by_role("link", name="Curate").count() == 0
    page = open_page("curious lead", server, path="/curate", roles=("lead",), ready=False)
    page.locator(".empty h2", has_text="No draft yet").wait_for()
    change(server.store, people.set_role, "curious lead", "lead", held=False)
    page.get_by_text("This page is for the role curator").wait_for()


@pytest.mark.landing
def test_what_was_decided_while_the_server_was_dead_is_kept_once(
    open_page: Opener, curated: Server
) -> None:
    page = curator(open_page, curated, "Ana")
    given = [at(page)]
    press(page, "a")
    saved(page)
    curated.end(signal.SIGKILL)
    for _ in range(2):
        given.append(at(page))
        press(page, "a")
    assert "2 unsaved" in page.text_content(".progress")
    curated.start()
    saved(page)
    assert kept(curated) == [("Ana", "accept", name) for name in given]


@pytest.mark.landing
def test_two_curators_see_each_other_and_overrule_only_what_they_have_seen(
    open_page: Opener, curated: Server
) -> None:
    ana, ben = (curator(open_page, curated, name) for name in ("Ana", "Ben"))
    press(ana, "a")
    saved(ana)
    press(ben, "r", "1")  # before his page has heard of hers
    said = ben.locator(".refused", has_text="is now accepted by Ana")
    said.wait_for()
    first = kept(curated)[0][2]
    assert f"rejected {first}, “two people would not agree" in ben.inner_text(".refused")
    press(ben, "Escape", "k")
    assert at(ben) == first and "accepted by Ana" in ben.text_content(".state")
    press(ben, "r", "1")
    saved(ben)
    ana.locator(".log", has_text="Ben rejected").wait_for()
    draft = drafts.open_draft(Workspace.open(str(curated.folder)), "own")
    found = states(ask(curated.store, decisions.of_draft, draft.id))[first]
    assert (found.status, found.by) == ("rejected", "Ben") and len(kept(curated)) == 2
