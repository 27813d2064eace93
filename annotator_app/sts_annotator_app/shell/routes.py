"""Routes of the server; of Streamlit's own routes only those that pages need."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.convertors import StringConvertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.sessions import SessionMiddleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket

from sts.errors import StoreError
from sts_annotator_app.auth.browser_sessions import RequireSession
from sts_annotator_app.auth.entrances import Authenticator
from sts_annotator_app.auth.entry_pages import render_refusal, render_unavailable
from sts_annotator_app.auth.openid import CALLBACK, SIGN_IN, Provider
from sts_annotator_app.messages import MessageFilter
from sts_annotator_app.pages.message_route import MESSAGES
from sts_annotator_app.shell.headers import DefaultHeaders

STREAM = "/_stcore/stream"
HEALTH = "/_stcore/health"
LIVE = "/live/{session:session}"
ENTER = "/enter"
PAGE = "/{page:page}"
"""Path of a page; Streamlit knows which pages exist."""
PAGE_MESSAGES = f"{MESSAGES}{{page:page}}"
STREAMLIT_PATHS = ("/_stcore/host-config", "/favicon.png", "/static/{folder:page}/{file:file}")
"""Streamlit's files that pages load."""
_READ_METHODS = ("GET", "HEAD")
_LOG = logging.getLogger(__name__)


class _Name(StringConvertor):
    regex = "[a-z]*"


class _File(StringConvertor):
    regex = r"\w[\w.-]*"


class _Session(StringConvertor):
    regex = "[0-9a-f]{24}"


register_url_convertor("page", _Name())
register_url_convertor("session", _Session())
register_url_convertor("file", _File())


Answer = ASGIApp | Callable[[Request], Response] | Callable[[Request], Awaitable[Response]]


def build_application(
    streamlit: ASGIApp,
    door: Authenticator,
    within: Mapping[str, Answer],
    lifespan: Any = None,
    live: Callable[[WebSocket], Awaitable[None]] | None = None,
    messages: Answer | None = None,
) -> Starlette:
    """Return the ASGI application, with all routes under the base path of `door`.

    `live` is the endpoint of the websocket of live sessions, `messages` that of the pages'
    messages. They, the endpoints in `within`, by path, and Streamlit's pages require a session.
    """
    base, provider = door.base, door.provider
    guard = Middleware(RequireSession, sessions=door.sessions, outside=door.no_session_page)
    inside: dict[str, Answer] = {**dict.fromkeys(STREAMLIT_PATHS, streamlit), **within}
    routes: list[BaseRoute] = [
        Route(f"{base}{HEALTH}", streamlit, methods=_READ_METHODS),
        Route(f"{base}{ENTER}", door.open_invitation, methods=[*_READ_METHODS, "POST"]),
        *(_sign_in_routes(door, provider, base) if provider else ()),
        WebSocketRoute(f"{base}{STREAM}", MessageFilter(streamlit), middleware=[guard]),
        *([WebSocketRoute(f"{base}{LIVE}", live, middleware=[guard])] if live else ()),
        *(
            Route(base + at, app, methods=_READ_METHODS, middleware=[guard])
            for at, app in inside.items()
        ),
        *(
            [Route(base + PAGE_MESSAGES, messages, methods=["POST"], middleware=[guard])]
            if messages
            else ()
        ),
    ]
    if base:
        routes.append(Route(base, RedirectResponse(f"{base}/"), methods=_READ_METHODS))
    handlers: dict[Any, Any] = {
        404: lambda request, error: render_refusal("Page not found.", 404),
        405: _refuse_method,
        StoreError: _handle_store_error,
    }
    app = Starlette(
        routes=routes,
        middleware=[Middleware(DefaultHeaders)],
        exception_handlers=handlers,
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    return app


def _sign_in_routes(door: Authenticator, provider: Provider, base: str) -> list[BaseRoute]:
    """Return the routes for sign-in at a provider, which keep their state in a cookie."""
    signed = [Middleware(SessionMiddleware, **provider.session_options(base or "/"))]
    return [
        Route(f"{base}{SIGN_IN}", door.start_sign_in, methods=_READ_METHODS, middleware=signed),
        Route(f"{base}{CALLBACK}", door.finish_sign_in, methods=_READ_METHODS, middleware=signed),
    ]


def _refuse_method(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException) and error.headers
    allowed = ", ".join(sorted(error.headers["Allow"].split(", ")))
    return render_refusal("Method not allowed.", 405, Allow=allowed)


def _handle_store_error(request: Request, error: Exception) -> Response:
    _LOG.error("annotation store: %s", error)
    return render_unavailable()
