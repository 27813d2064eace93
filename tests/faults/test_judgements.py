"""Judgements arrive once and as given, whatever faults happen on the way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sts.annotations.answers import progress
from sts.annotations.people import people
from tests.annotations.conftest import cluster as cluster
from tests.annotations.conftest import postgresql as postgresql
from tests.annotator_app.wire import cookie
from tests.faults.judgements import trial
from tests.faults.judging import tabs
from tests.faults.judging.faults import FAULTS
from tests.faults.judging.history import History
from tests.faults.judging.study import open_study
from tests.faults.trials import DATABASES, Setting, make_generator
from tests.stores import ask


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize(
    "database", [DATABASES[0], pytest.param(DATABASES[1], marks=pytest.mark.postgresql)]
)
def test_database_has_every_answer_that_was_given_amid_faults(
    database: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if database == DATABASES[1]:
        request.getfixturevalue("cluster")  # skips or fails if there can be none
    for number in range(2):
        folder = tmp_path / str(number)
        folder.mkdir()
        counts = trial(Setting(make_generator(1, "judgements", number), folder, database))
        assert counts["put"] == counts["acknowledged"] >= 50, "64 clips, wanted once or more"


@pytest.mark.slow
def test_answer_left_in_a_browser_arrives_once_its_author_returns(
    chromium: Any, tmp_path: Path
) -> None:
    random, history = make_generator(1, "a tab", 0), History()
    with open_study(Setting(random, tmp_path, DATABASES[0])) as study:
        (one, own), (other, lent) = (
            (ask(study.server.store, people.get_person, name).id, cookie(study.server, secret))
            for name in ("one", "other")
            if (secret := study.server.secret(name))
        )
        tab = tabs.Tab(one, own, random, history)
        tab.open(chromium.new_context())
        while not tab.ready:
            tab.turn(study, False)
        tab.cookie = lent
        tab.turn(study, False)
        tab.page.goto(study.address)  # it begins as the other's
        tab.ready = False
        while not tab.ready:
            tab.turn(study, False)
        with FAULTS["SIGSTOP"](study, [], random):
            assert tab.turn(study, True)
            assert {*(tab.read_outbox() or {}).values()} == {other}
            tab.cookie, tab.ready = own, False
            tab.send_cookie(study, own)  # while the server sleeps: the page would send it again
        tab.page.reload()
        while not tab.ready:
            tab.turn(study, False)
        assert {*(tab.read_outbox() or {}).values()} == {other}  # no other person sends it
        tab.come_back(study)
        assert tab.read_outbox() == {}
        assert ask(study.server.store, progress.load_recent_judgements, other, 9)
