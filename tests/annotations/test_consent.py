"""What people agree to is known by its words, and who agreed is kept with the time."""

from __future__ import annotations

import pytest

from sts.annotations import consent
from sts.annotations.store import Store
from sts.errors import DamagedData
from sts.storage.workspace import Workspace
from tests.access.attempts import attempt
from tests.annotations.examples import Clock
from tests.stores import add_person, ask, change


def test_consent_is_kept_by_person_and_version_with_its_first_time(
    store: Store, clock: Clock
) -> None:
    ana, bo = add_person(store, "Ana").id, add_person(store, "Bo").id
    assert not ask(store, consent.has_agreed, ana, "one")
    began = clock.now
    change(store, consent.agree, ana, "one")
    clock.now += 1
    change(store, consent.agree, ana, "one")
    change(store, consent.agree, bo, "one")
    assert ask(store, consent.has_agreed, ana, "one") and not ask(
        store, consent.has_agreed, ana, "two"
    )
    clock.now += 1
    change(store, consent.agree, ana, "two")
    assert ask(store, consent.counts) == [
        ("one", 2, began, began + 1),
        ("two", 1, began + 2, began + 2),
    ]


def test_a_text_is_another_version_when_a_word_changes_and_not_by_the_last_line_break(
    sqlite_workspace: Workspace,
) -> None:
    file = sqlite_workspace.ensure().path("consent.md")
    versions = []
    for text in ("We keep your answers.", "We keep your answers.\n", "We keep all your answers."):
        file.write_text(text)
        versions.append(consent.text(sqlite_workspace, "consent.md").version)
    assert versions[0] == versions[1] != versions[2]


@pytest.mark.parametrize("content", [None, b"", b" \n", b"\xff\xfe", b"x" * 70_000])
def test_a_text_that_cannot_be_shown_is_one_line(
    sqlite_workspace: Workspace, content: bytes | None
) -> None:
    file = sqlite_workspace.ensure().path("consent.md")
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(DamagedData) as error:
        consent.text(sqlite_workspace, "consent.md")
    assert "\n" not in str(error.value) and "consent.md" in str(error.value)


@attempt(
    "Paths",
    "a consent text that workspace.toml names outside the workspace",
    "refused; nobody is shown it",
)
@pytest.mark.parametrize("how", ["absolute", "above", "link"])
def test_a_text_outside_the_workspace_is_not_shown(sqlite_workspace: Workspace, how: str) -> None:
    root = sqlite_workspace.ensure().root
    secret = root.resolve().parent / "secret.md"
    secret.write_text("secret")
    (root / "link.md").symlink_to(secret)
    name = {"absolute": str(secret), "above": "../secret.md", "link": "link.md"}[how]
    with pytest.raises(DamagedData, match="expected a text in the workspace"):
        consent.text(sqlite_workspace, name)
