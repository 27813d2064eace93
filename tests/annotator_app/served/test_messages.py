"""Invalid messages of a page are ignored, and the page continues."""

from __future__ import annotations

import contextlib
import http.client
import json

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg

from sts_annotator_app.messages import MAX_CHARS, sanitise
from sts_annotator_app.pages.message_route import MESSAGES
from tests.access.attempts import attempt
from tests.annotator_app.serving import Server
from tests.annotator_app.wire import cookie, wired
from tests.waiting import PATIENCE

DEEP = "[" * 100_000 + "]" * 100_000
NINES, LONG, LISTS = "9" * 5000, "x" * MAX_CHARS, "[" * 400 + "]" * 400
INVALID = [
    *("{half", "", "7", '"x"', DEEP, f'{{"sync": {{"outbox": {DEEP}}}}}'),
    *(f'{{"sync": {NINES}}}', f'{{"sync": "{LONG}"}}', f'{{"sync": {LISTS}}}'),
]


def message(text: str) -> bytes:
    made = BackMsg()
    widget = made.rerun_script.widget_states.widgets.add()
    widget.id, widget.json_value = "player", text
    return made.SerializeToString()


@pytest.mark.parametrize("text", ["null", *INVALID], ids=range(1 + len(INVALID)))
def test_invalid_state_is_emptied_and_logged_in_one_line(
    text: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert sanitise(message(text)) == (message("{}"), True)
    (line,) = caplog.messages
    assert line == f"ignored an invalid state of {len(text)} characters"


def test_valid_message_is_passed_on_unchanged(caplog: pytest.LogCaptureFixture) -> None:
    letters = [{"uuid": f"{n}", "reason": "ü" * 300, "step": None} for n in range(500)]
    sent = message(json.dumps({"sync": {"author": "a:1", "outbox": letters}}, ensure_ascii=False))
    for raw in (sent, message("{}"), b"", b"\xff no protobuf"):
        assert sanitise(raw)[0] is raw
    assert caplog.messages == []


def test_fragment_run_becomes_a_whole_run_if_asked() -> None:
    asked = BackMsg()
    asked.rerun_script.fragment_id = "part"
    raw = asked.SerializeToString()
    assert sanitise(raw) == (raw, True)
    whole = BackMsg.FromString(sanitise(raw, is_first_run=True)[0])
    assert whole.WhichOneof("type") == "rerun_script" and not whole.rerun_script.fragment_id
    assert sanitise(BackMsg(clear_cache=True).SerializeToString(), is_first_run=True)[1] is False


@pytest.mark.landing
@attempt(
    "Another's clip, another's answer",
    "a page sends what is no JSON, a hundred thousand levels deep, or a megabyte",
    "ignored with a line in the log; the page goes on",
)
def test_page_continues_after_every_invalid_message(server: Server) -> None:
    with wired(server, "careless") as page:
        (first,) = page.ask()
        for text in INVALID:
            assert page.ask(text) == []
        letter = {"uuid": "a" * 32, "item": first["queue"][0]["id"], "verdict": "not_done"}
        (data,) = page.ask(json.dumps({"author": first["author"], "outbox": [letter]}))
        assert [ack["status"] for ack in data["acks"]] == ["saved"]
    log = (server.folder / "server.log").read_text()
    assert "Traceback" not in log and log.count("ignored an invalid message of ") == len(INVALID)


@attempt(
    "Addresses and other sites",
    "a message comes from another site, without an origin or a session, or for another role's page",
    "refused, and nothing is saved",
)
def test_message_requires_own_origin_a_session_and_the_role(server: Server) -> None:
    name = "posts"
    with wired(server, name) as page:
        (data,) = page.ask()
        letter = {"uuid": "b" * 32, "item": data["queue"][0]["id"], "verdict": "not_done"}
        message = json.dumps({"author": data["author"], "outbox": [letter]})

        def post(path: str = "player", method: str = "POST", **headers: str) -> int:
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
            with contextlib.closing(connection):
                connection.request(method, f"{MESSAGES}{path}", message, headers)
                return connection.getresponse().status

        own = {"Cookie": cookie(server, server.secret(name)), "Origin": server.url("")}
        for origin in ("https://evil.example", "http://localhost", "null", ""):
            assert post(**own | {"Origin": origin}) == 403
        assert post(Cookie=own["Cookie"]) == 403
        assert post(Origin=own["Origin"]) == 401
        assert post("review", **own) == post("curate", **own) == 403
        assert post("elsewhere", **own) == 404
        assert post(method="GET", **own) == 405
        assert server.judgements(name) == []
        assert post(**own) == 200
        assert len(server.judgements(name)) == 1
