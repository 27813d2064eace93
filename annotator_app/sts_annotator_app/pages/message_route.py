"""Route of the pages' messages: saves what a page sends and returns its next data.

It bypasses Streamlit, which mounts the pages: a run of a page costs more than an answer.
"""

import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from sts.annotations.records import Annotator
from sts.errors import StoreError, StsError
from sts_annotator_app.annotating import UNSAVED
from sts_annotator_app.auth.browser_sessions import BrowserSessions, is_same_origin, read_body
from sts_annotator_app.messages import MAX_CHARS, is_valid_message

MESSAGES = "/messages/"
_LOG = logging.getLogger(__name__)


class ConnectedPage(NamedTuple):
    """A page that sends messages: its `roles`, of which a person needs one, and its `exchange`.

    The exchange gets a person, their message, None from a page just opened, and the query of the
    page's address; it returns the page's next data.
    """

    roles: tuple[str, ...]
    exchange: Callable[[Annotator, Any, Mapping[str, str]], dict[str, Any]]


def serve_messages(
    sessions: BrowserSessions,
    pages: Mapping[str, ConnectedPage],
    needs_consent: Callable[[Annotator], bool],
) -> Callable[[Request], Awaitable[Response]]:
    """Return the endpoint of messages; its path names one of `pages`.

    It returns 401 without a session and 403 to people who may not use the page, which then runs
    again to show the reason; 503 if the store fails, after which the page sends its message again.
    """

    async def answer(request: Request) -> Response:
        page = pages.get(request.path_params["page"])
        if page is None or not is_same_origin(request):
            return Response(status_code=404 if page is None else 403)
        text = (await read_body(request, MAX_CHARS)).decode("utf-8", "replace")
        if text != "null" and not is_valid_message(text):
            _LOG.warning("ignored an invalid message of %d characters", len(text))
            return Response(status_code=400)
        return await run_in_threadpool(exchange, request, page, json.loads(text))

    def exchange(request: Request, page: ConnectedPage, message: object) -> Response:
        try:
            person = sessions.find_person(request)
            if person is None:
                return Response(status_code=401)
            if not {*page.roles} & {*person.roles} or needs_consent(person):
                return Response(status_code=403)
        except StoreError as error:
            _LOG.error("annotation store: %s", error)
            return _make_response({"trouble": UNSAVED}, 503)
        except StsError:  # the consent text cannot be read
            return Response(status_code=403)
        return _make_response(page.exchange(person, message, request.query_params))

    return answer


def _make_response(data: dict[str, Any], status: int = 200) -> Response:
    text = json.dumps(data, separators=(",", ":"))  # ASCII: no half of a character can fail
    return Response(text, status, media_type="application/json")
