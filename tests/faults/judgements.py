"""People judge while faults happen; then what they did is compared with what the database has.

Eight pages without a browser and two tabs of Chromium, if it is installed, ask for clips, put
answers into their outboxes and send these until they are acknowledged. A seed repeats what they do
and which faults come after how many answers, and not what the machine makes of it at the moment.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from threading import Event

import numpy as np

from sts.annotations.people import people as store_people
from sts.annotations.vault.history import verify
from tests.annotator_app.wire import cookie
from tests.faults.judging import history as words
from tests.faults.judging import tabs
from tests.faults.judging.faults import FAULTS, OF_POSTGRESQL, Visitor
from tests.faults.judging.history import History, check, read_events, wanted_in
from tests.faults.judging.pages import Page
from tests.faults.judging.study import Study, open_study
from tests.faults.trials import BrokenPromise, Setting
from tests.programs import find_program
from tests.stores import ask

PAGES, TABS = 8, 2
ANSWERS = 15  # that each page puts, and clips that are judged in each tab
STORMS = 5  # times at which something happens, evenly spread over all answers
LASTS = 3.0  # seconds that it lasts at most
TOGETHER = 0.3  # how often two faults happen at one time
PATIENCE = 600.0  # seconds after which what is not acknowledged will never be


def trial(setting: Setting) -> Counter[str]:
    """Return how many answers were put, sent and acknowledged, and what happened meanwhile."""
    history, random = History(), setting.random
    with open_study(setting) as study, ThreadPoolExecutor(PAGES + 1) as threads:
        pages = [Page(*person(study, n, random), history) for n in range(PAGES)]
        people = range(PAGES, PAGES + TABS if find_program("browser") else PAGES)
        open_tabs = [tabs.Tab(*person(study, n, random), history) for n in people]
        until = time.monotonic() + PATIENCE
        work, ready = [], Event()
        if open_tabs:
            work.append(threads.submit(tabs.work, open_tabs, study, ANSWERS, until, ready))
            ready.wait(PATIENCE)
        work += [threads.submit(page.work, study, ANSWERS, until) for page in pages]
        befall(study, [*pages, *open_tabs], random, history, work)
        for one in work:
            one.result()
        with study.connection() as connection:
            events = [*history.events, *read_events(connection)]
            check(events, wanted_in(connection))
        findings = verify(study.server.store.database).findings
    if findings:
        raise BrokenPromise("promised: the chains of what people did are whole", findings)
    names = {words.PUT: "put", words.SENT: "sent", words.ACKNOWLEDGED: "acknowledged"}
    names |= {words.KEPT: "kept", words.EXTRA: "kept beyond what is wanted"}
    counts = Counter(names[one.what] for one in events if one.what in names)
    return counts + Counter(one.said for one in events if one.what == words.FAULT)


def person(
    study: Study, number: int, random: np.random.Generator
) -> tuple[int, str, np.random.Generator]:
    """Add a person; return their number, what their browser sends and what they draw from."""
    server, name = study.server, f"person {number}"
    sent = cookie(server, server.secret(name))
    return ask(server.store, store_people.get_person, name).id, sent, random.spawn(1)[0]


def befall(
    study: Study,
    people: Sequence[Visitor],
    random: np.random.Generator,
    history: History,
    work: Sequence[Future[None]],
) -> None:
    """Have faults happen, each storm once so many answers were put, as long as people work."""
    possible = FAULTS if study.cluster is None else FAULTS | OF_POSTGRESQL
    for storm in range(STORMS):
        together = 1 + int(random.random() < TOGETHER)
        places = sorted(random.choice(len(possible), together, replace=False))
        share, lasts = (storm + random.random()) / STORMS, random.random() * LASTS
        while history.count(words.PUT) < share * PAGES * ANSWERS:
            if all(one.done() for one in work):
                return
            time.sleep(0.01)
        with ExitStack() as stack:
            for name in ([*possible][place] for place in places):
                history.note(words.FAULT, said=name)
                stack.enter_context(possible[name](study, people, random))
            time.sleep(lasts)
