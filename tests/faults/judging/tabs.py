"""Two tabs of a real browser: what their outboxes hold is read off the browser's storage."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from threading import Event
from typing import Any

import numpy as np
from playwright.sync_api import Error

from tests.browser import start_chromium
from tests.faults.judging.history import ACKNOWLEDGED, GAVE_UP, GIVEN, PUT, History
from tests.faults.judging.study import Study

SPY = """
localStorage["sts:settings"] ??= '{"autoplay": false}';
for (const verb of ["setItem", "removeItem"]) {
  const real = Storage.prototype[verb];
  Storage.prototype[verb] = function (key, ...value) {
    real.call(this, key, ...value);
    if (key.startsWith("sts:outbox:")) console.debug(JSON.stringify([verb, key, ...value]));
  };
}
"""
HELD = "() => Object.keys(localStorage).filter((key) => key.startsWith('sts:outbox:'))"
FEWER = f"(count) => ({HELD})().length < count"
READY = ".player .stage:not([hidden])"
KEYS = (("n", "Enter"), ("End", "s", "Enter"), ("n", "Enter", "b", "End", "s", "Enter"))
"""What a person presses for a clip; the last changes the answer."""
RELOADED = 0.1  # how often a tab is reloaded after an answer
TURN = 250  # milliseconds that a look at a tab takes if no clip comes
WAITS = 20  # looks without a clip after which a tab is reloaded; they double with each time
WORKS = 20.0  # seconds after which people stop judging, though they have judged less


class Tab:
    """The tab of one person, in a browser profile of its own; it is `ready` once it shows a clip.

    Another person's link may replace the cookie that the browser is to send.
    """

    def __init__(
        self, person: int, cookie: str, random: np.random.Generator, history: History
    ) -> None:
        self.person, self.cookie, self.ready = person, cookie, False
        self._own, self._sent = cookie, ""
        self._others: list[str] = []
        self._random, self._history = random, history
        self._given: set[str] = set()
        self._waited, self._waits = 0, WAITS

    def open(self, context: Any) -> None:
        """Open an empty tab in a context of a browser of this thread."""
        self._context = context
        context.add_init_script(SPY)
        self.page = context.new_page()
        self.page.on("console", lambda message: self._note(message.text))

    def read_outbox(self) -> dict[str, int] | None:
        """Return the author of each answer in its outbox; None if the page cannot be asked."""
        with suppress(Error):
            keys = [key.split(":") for key in self.page.evaluate(HELD)]
            return {answer: int(person) for *_, person, answer in keys}
        return None

    def come_back(self, study: Study) -> None:
        """Open again the links of those who have left answers here, if only theirs are left.

        The tab may have begun as another's, when their link was opened while it was loading. Those
        answers wait in the browser until their author comes back to it.
        """
        for cookie in self._others:
            held = self.read_outbox()
            if not held or self.person in held.values():
                return
            self.send_cookie(study, cookie)
            with suppress(Error):
                self.page.goto(study.address)
                self.page.wait_for_function(FEWER, arg=len(held), timeout=WAITS * TURN)

    def leave(self) -> None:
        """Note what is still in its outbox, and what it shows."""
        with suppress(Error):
            text = " ".join(self.page.inner_text("body", timeout=1000).split())[:200]
            said = f"in the tab of person {self.person}, which shows {text!r}"
            for answer, person in (self.read_outbox() or {}).items():
                self._history.note(GAVE_UP, person, answer, said=said)

    def turn(self, study: Study, judging: bool) -> bool:
        """Have the person look at the tab once; return whether they have judged a clip."""
        with suppress(Error):
            self.page.locator(READY).wait_for(timeout=TURN)
        if self._sent != self.cookie:
            back = bool(self._sent) and self.cookie == self._own
            if self.cookie not in (self._own, *self._others):
                self._others.append(self.cookie)
            self.send_cookie(study, self.cookie)
            if back:
                with suppress(Error):
                    self.page.reload()
        with suppress(Error):
            mine = self._sent == self._own  # else a reloaded page would be another's
            if mine and not self.page.url.startswith(study.address):
                self.page.goto(study.address)
            if self.page.is_visible(READY):
                self.ready, self._waited, self._waits = True, 0, WAITS
                return judging and self._judge(mine)
            self._waited += 1
            if mine and self._waited == self._waits:
                self._waited, self._waits = 0, 2 * self._waits
                self.page.reload()
        return False

    def send_cookie(self, study: Study, cookie: str) -> None:
        """Have the browser send a cookie from its next connection on."""
        name, _, value = cookie.partition("=")
        sent = {"name": name, "value": value, "url": study.address, "httpOnly": True}
        self._context.add_cookies([sent])
        self._sent = cookie
        study.network.drop()

    def _judge(self, mine: bool) -> bool:
        item = self.page.get_attribute(".player", "data-item", timeout=1000)
        if not item:  # it was taken from the tab since it was seen
            return False
        if item not in self._given:
            self._given.add(item)
            self._history.note(GIVEN, self.person, item=item)
        for key in KEYS[int(self._random.integers(len(KEYS)))]:
            self.page.keyboard.press(key)
        if mine and self._random.random() < RELOADED:
            self.page.reload()
        return True

    def _note(self, text: str) -> None:
        """Note what was put into its storage and removed from it."""
        if not text.startswith(('["setItem"', '["removeItem"')):
            return
        verb, key, *value = json.loads(text)
        *_, person, answer = key.split(":")
        if verb == "setItem":
            put = json.loads(value[0])
            self._history.note(PUT, int(person), answer, put["item"], put["verdict"])
        else:
            self._history.note(ACKNOWLEDGED, int(person), answer, said="by the page")


def work(tabs: list[Tab], study: Study, clips: int, until: float, ready: Event) -> None:
    """Have each tab's person judge so many clips, and see that everything is sent.

    `ready` is set once each tab has shown a clip; they judge from then on. They give up after the
    monotonic time `until`.
    """
    left = [clips] * len(tabs)
    with start_chromium() as browser:
        for tab in tabs:
            tab.open(browser.new_context())
        while not all(tab.ready for tab in tabs) and time.monotonic() < until:
            for tab in tabs:
                tab.turn(study, False)
        ready.set()
        works_until = time.monotonic() + WORKS
        while time.monotonic() < until:
            working = time.monotonic() < works_until
            for n, tab in enumerate(tabs):
                left[n] -= tab.turn(study, working and left[n] > 0)
            if not (working and any(left)):
                if not any(tab.read_outbox() != {} for tab in tabs):
                    break
                for tab in tabs:
                    tab.come_back(study)
        for tab in tabs:
            tab.leave()
