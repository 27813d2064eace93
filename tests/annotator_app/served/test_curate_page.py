"""The curator's page in a real browser, on a draft of its own."""

from __future__ import annotations

import re
import shutil
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sts.annotations.log import decisions
from sts.cli.main import main
from sts.storage.workspace import Workspace
from sts.suites import drafts
from sts.suites import suite_store as suites
from sts.suites.suite import Suite
from sts.trajectories import trajectory_store as trajectories
from sts_scenarios.draft.freezing import with_state
from tests.annotator_app.served.browser import Opener, press, saved
from tests.annotator_app.serving import Server
from tests.examples import recorded
from tests.stores import ask
from tests.zygote import Zygote

CATEGORIES, SIZE = ("count-others", "shadow-evil"), 10
"""The categories of the draft, and the number of its candidates."""


@pytest.fixture(scope="session")
def mined(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with a draft of undecided candidates."""
    folder = tmp_path_factory.mktemp("mined")
    workspace = Workspace.open(str(folder)).create()
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


def curator(open_page: Opener, server: Server, name: str) -> Any:
    """Open the page of a curator; adds them when new."""
    page = open_page(name, server, roles=("curator",), ready=False)
    page.wait_for_selector(".curate .stage:not([hidden])")
    return page


def read_candidate(page: Any) -> str:
    return str(page.get_attribute(".curate", "data-candidate"))


def list_decisions(server: Server) -> list[tuple[str, str, str]]:
    """Return every decision about the draft: its author, kind and candidate."""
    draft = drafts.open_draft(Workspace.open(str(server.folder)), "own")
    return [
        (d.by, d.kind, d.candidate) for d in ask(server.store, decisions.load_decisions, draft.id)
    ]


@pytest.mark.landing
def test_curator_decides_and_undoes_from_the_keyboard(open_page: Opener, curated: Server) -> None:
    page = curator(open_page, curated, "Ana")
    assert page.text_content(".position") == f"1 of {SIZE}"
    seen = []
    for keys in (["a"], ["r", "2"], ["r", "Enter", *"odd: j, a & <b>k</b>", "Enter"], ["j"], ["a"]):
        seen.append(read_candidate(page))
        press(page, *keys)
    assert page.text_content(".position") == f"6 of {SIZE}"
    saved(page)
    kinds = ("accept", "reject", "reject", "accept")
    decided = (*seen[:3], seen[4])
    assert list_decisions(curated) == [("Ana", *one) for one in zip(kinds, decided, strict=True)]
    press(page, "u", "u")
    assert read_candidate(page) == seen[2]
    press(page, "k")
    assert (
        page.text_content(".state")
        == "rejected by Ana: the subject of the question was not in sight"
    )
    saved(page)
    assert list_decisions(curated)[4:] == [("Ana", "undo", seen[4]), ("Ana", "undo", seen[2])]
    assert "Ana rejected" in page.inner_text(".log") and "<b>k</b>" in page.inner_text(".log")
    page.reload()  # starts at the first undecided one
    page.wait_for_selector(".curate .stage:not([hidden])")
    assert read_candidate(page) == seen[2]
    press(page, "f", "ArrowRight", "Enter")
    page.locator(".position", has_text="1 of 1").wait_for()
    assert read_candidate(page) == seen[0]


def drag(page: Any, handle: str, steps: int) -> None:
    """Drag a handle of the timeline to the right by some steps."""
    box = page.locator(f"[data-handle={handle}]").bounding_box()
    width = page.locator(".span").bounding_box()["width"]
    whole = int(page.get_attribute(f"[data-handle={handle}]", "aria-valuemax"))
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + steps * width / whole, y, steps=3)
    page.mouse.up()


@pytest.mark.landing
def test_edit_is_previewed_saved_and_undone(open_page: Opener, curated: Server) -> None:
    page = curator(open_page, curated, "Ana")
    press(page, "f")
    page.locator(".coverage button[aria-label^='shadow-evil, all']").focus()
    press(page, "Enter", "Escape")
    page.locator(".position", has_text="1 of 5").wait_for()
    name, before = read_candidate(page), page.text_content(".instruction")
    changes = lambda text: page.locator(".changes", has_text=text)  # noqa: E731
    press(page, "e")
    page.locator(".unfit", has_text="Valid").wait_for()
    takeover = int(page.get_attribute("[data-handle=takeover]", "aria-valuenow"))
    press(page, "2")
    changes("instruction").wait_for()
    page.focus("[data-handle=end]")
    press(page, "ArrowRight", "ArrowRight")
    changes("horizon 12 → 14").wait_for()
    drag(page, "start", 2)
    changes("context 10 → ").wait_for()
    drag(page, "start", -2)
    changes("context").wait_for(state="detached")
    press(page, "g")
    page.keyboard.type("<i>wrap</i>, edge")
    changes("<i>wrap</i>, edge").wait_for()
    page.keyboard.press("Escape")  # leaves the field and keeps the changes
    page.select_option("[name=difficulty]", "hard")
    page.select_option("[name=partner]", "agent:random")
    page.locator(".notice", has_text="this scenario is random: its partner random").wait_for()
    assert page.locator(".fits i").count() > 0
    page.click(".editing [data-action=enter]")
    assert "horizon 12 → 14" in page.text_content(".status")
    saved(page)
    page.locator(".facts", has_text="horizon 14").wait_for()
    assert "<i>wrap</i>, edge" in page.inner_text(".facts")
    assert f"at step {takeover};" in page.inner_text(".facts")
    draft = drafts.open_draft(Workspace.open(str(curated.folder)), "own")
    (made,) = ask(curated.store, decisions.load_decisions, draft.id)
    edited = draft.candidate(name, made.scenario)
    assert (edited.difficulty, edited.partner) == ("hard", "agent:random")
    assert (edited.horizon, edited.tags[:2]) == (14, ("<i>wrap</i>", "edge"))
    press(page, "u")
    page.locator(".instruction", has_text=before).wait_for()
    page.locator(".facts", has_text="horizon 12").wait_for()


@pytest.mark.landing
def test_any_moment_and_words_become_a_candidate_that_two_others_vote_for(
    open_page: Opener, curated: Server
) -> None:
    page = curator(open_page, curated, "Ana")
    page.get_by_role("link", name="New scenario").click()
    page.get_by_role("button", name="Add to the draft").wait_for()
    page.reload()
    words, criterion = "Bleib weg. <b>ابتعد</b>", "It is never next to another player."
    page.get_by_role("textbox", name="Instruction").fill(words)
    page.get_by_role("textbox", name="Success criterion").fill(criterion)
    page.get_by_role("textbox", name="Category").fill("manners")
    page.get_by_role("button", name="Add to the draft").click()
    page.get_by_text("expected an instruction without markup").wait_for()
    words = words.replace("<b>", "").replace("</b>", "")
    page.get_by_role("textbox", name="Instruction").fill(words)
    page.get_by_role("button", name="Add to the draft").click()
    page.get_by_text("manners-01 is added to the draft own.").wait_for()
    page.goto(page.url.replace("/new", "/curate?draft=own&at=manners-01"))
    page.locator(".id", has_text="manners-01").wait_for()
    assert page.text_content(".instruction") == words
    assert "not checked by a rule" in page.inner_text(".facts")
    press(page, "e")
    page.locator(".unfit", has_text="Not checked by a rule").wait_for()
    drag(page, "takeover", -4)
    page.locator(".changes", has_text="takeover 19 → 15").wait_for()
    page.fill("[name=edge_cases]", "Being on one cell counts as next to it.")
    page.locator(".changes", has_text="edge_cases").wait_for()
    page.click(".editing [data-action=enter]")
    press(page, "a")
    saved(page)
    sts(curated, "draft", "reject", "own", *ids(curated, "undecided"), "--reason=other")
    assert main(["suite", "freeze", "own", "--workspace", str(curated.folder)]) == 1
    for name in ("Ben", "Cleo"):  # scripts with these names
        curated.let_in(page.context, name, ("curator",))
        page.goto(curated.url("/"))
        page.wait_for_selector(".curate .stage:not([hidden])")
        press(page, "b")
        page.locator(".position", has_text=f"1 of {SIZE + 1}").wait_for()
        while read_candidate(page) != "manners-01":
            press(page, "j")
        page.locator(".instruction", has_text=words).wait_for()
        press(page, "y")
        saved(page)
    sts(curated, "suite", "freeze", "own")
    suite = suites.load(Workspace.open(str(curated.folder)), "own@1")
    (frozen,) = suite.scenarios
    assert (frozen.text, frozen.criterion, suite.unreviewed) == (words, criterion, ())
    assert frozen.step == 15


def decide(page: Any, *keys: str) -> str:
    """Decide about the candidate in view, once it is there; return its name."""
    page.wait_for_selector(".curate .stage:not([hidden])")
    name = read_candidate(page)
    press(page, *keys)
    return name


def choose(page: Any, cell: str, status: str = "undecided") -> None:
    """Choose the list to go through."""
    chip = page.locator(".coverage [data-row=status] button", has_text=status)
    for button in (chip, page.locator(f".coverage button[aria-label^='{cell}']")):
        press(page, "f")
        button.focus()
        press(page, "Enter", "Escape")
    page.locator(".position", has_text=re.compile("^1 of")).wait_for()


def sts(server: Server, *words: str) -> None:
    assert main([*words, "--workspace", str(server.folder)]) == 0


def ids(server: Server, status: str) -> list[str]:
    """Return the candidates of the draft with a status."""
    draft = drafts.open_draft(Workspace.open(str(server.folder)), "own")
    every = with_state(draft, ask(server.store, decisions.load_decisions, draft.id))
    return [one.summary.id for one in every if one.status == status]


def state(page: Any, text: str) -> None:
    page.locator(".state", has_text=text).wait_for()


@pytest.mark.slow
@pytest.mark.parametrize("freezes", [False, True], ids=["decided", "frozen"])
def test_two_curators_who_disagree_survive_a_crash_of_the_server(
    open_page: Opener, curated: Server, freezes: bool
) -> None:
    ana, ben = (curator(open_page, curated, name) for name in ("Ana", "Ben"))
    choose(ben, "shadow-evil, all")  # each takes a part
    mine = [decide(ben, "a") for _ in range(5)]
    saved(ben)
    choose(ben, "count-others, all")
    first = read_candidate(ana)
    assert read_candidate(ben) == first
    ben.context.set_offline(True)  # else he might hear of her decision before he makes his
    decide(ana, "a")
    saved(ana)

    # They disagree. He rejects what she has accepted, which is refused until he has seen it.
    press(ben, "r", "1")
    ben.context.set_offline(False)
    ben.locator(".rejections", has_text="is now accepted by Ana").wait_for()
    assert f"rejected {first}, “two people would not agree" in ben.inner_text(".rejections")
    press(ben, "Escape", "k")
    assert read_candidate(ben) == first
    state(ben, "accepted by Ana")
    press(ben, "r", "1")
    saved(ben)
    ana.locator(".log", has_text="Ben rejected").wait_for()
    press(ana, "k")
    state(ana, "rejected by Ben: two people would not agree")
    press(ana, "a")
    saved(ana)
    about = [(by, kind) for by, kind, candidate in list_decisions(curated) if candidate == first]
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
    counts = Counter(list_decisions(curated))
    assert [counts["Ana", "accept", name] for name in given] == [1, 1, 1]
    if freezes:
        check_versions(curated, ana, ben)
        assert {*mine} <= {one.id for one in load_version(curated, 1).scenarios}


def load_version(server: Server, number: int) -> Suite:
    return suites.load(Workspace.open(str(server.folder)), f"own@{number}")


def check_versions(curated: Server, ana: Any, ben: Any) -> None:
    """Have two curators accept all candidates, and then replace some of them."""
    for _ in range(SIZE):
        ana.wait_for_selector(".curate .stage:not([hidden])")
        undecided = ana.text_content(".state") == "undecided"
        decide(ana, "a" if undecided else "j")
    saved(ana)
    assert len(ids(curated, "accepted")) == SIZE
    sts(curated, "suite", "freeze", "own", "--description", "all, looked at")
    version = load_version(curated, 1)
    assert len(version.scenarios) == SIZE

    # Version 2 begins with all of them: some go, some come.
    ana.locator(".empty h2", has_text="No draft yet").wait_for()
    sts(curated, "draft", "new", "--from", "own@1")
    sts(curated, "mine", "own", "--per-category", "6", "--seed", "9", "--category", "shadow-evil")
    new = ids(curated, "undecided")
    ben.wait_for_selector(".curate .judging:not([hidden])")
    choose(ben, "shadow-evil, all")
    state(ben, "undecided")
    assert [decide(ben, "a"), *(decide(ben, "r", "4") for _ in new[1:])] == new
    saved(ben)
    ana.wait_for_selector(".curate .judging:not([hidden])")
    choose(ana, "count-others, all", "kept")
    state(ana, "kept from own@1")
    gone = [decide(ana, "t", "1"), decide(ana, "t", "0", *"too easy", "Enter")]
    saved(ana)
    sts(curated, "suite", "freeze", "own", "--description", "some go, some come")
    second = load_version(curated, 2)
    before, after = ({one.id for one in made.scenarios} for made in (version, second))
    assert before - after == {*gone} and after - before == {new[0]}
    assert len(before & after) == SIZE - 2 >= 0.8 * len(before)
    reasons = [c.reason for c in second.changes if c.kind == "retired"]
    assert reasons == ["every agent passes it", "too easy"]
