"""The addresses that there are, and what answers each; Streamlit has more, which nothing needs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.convertors import StringConvertor, register_url_convertor
from starlette.middleware import Middleware
from starlette.middleware.sessions import SessionMiddleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import ASGIApp

from sts.errors import StoreError
from sts_annotator_app.auth import Auth
from sts_annotator_app.door import Door
from sts_annotator_app.entry import away, refusal
from sts_annotator_app.headers import Headers
from sts_annotator_app.messages import Messages
from sts_annotator_app.sign_in import CALLBACK, SIGN_IN, Provider

STREAM = "/_stcore/stream"
HEALTH = "/_stcore/health"
ENTER = "/enter"
PAGE = "/{page:page}"
"""The address of a page; which there are is Streamlit's to say."""
STREAMLITS = ("/_stcore/host-config", "/favicon.png", "/static/{folder:page}/{file:file}")
"""The parts of Streamlit that pages load."""
_READING = ("GET", "HEAD")
_LOG = logging.getLogger(__name__)


class _Name(StringConvertor):
    regex = "[a-z]*"


class _File(StringConvertor):
    regex = r"\w[\w.-]*"


register_url_convertor("page", _Name())
register_url_convertor("file", _File())


Answer = ASGIApp | Callable[[Request], Response]


def application(
    streamlit: ASGIApp, door: Door, within: Mapping[str, Answer], lifespan: Any = None
) -> Starlette:
    """Return what answers each request, all under the base path of `door`.

    What is `within`, by address, needs a session, and so do Streamlit's pages.
    """
    base, provider = door.base, door.provider
    guard = Middleware(Auth, sessions=door.sessions, outside=door.outside)
    inside: dict[str, Answer] = {**dict.fromkeys(STREAMLITS, streamlit), **within}
    routes: list[BaseRoute] = [
        Route(f"{base}{HEALTH}", streamlit, methods=_READING),
        Route(f"{base}{ENTER}", door.enter, methods=[*_READING, "POST"]),
        *(_provided(door, provider, base) if provider else ()),
        WebSocketRoute(f"{base}{STREAM}", Messages(streamlit), middleware=[guard]),
        *(
            Route(base + at, app, methods=_READING, middleware=[guard])
            for at, app in inside.items()
        ),
    ]
    if base:
        routes.append(Route(base, RedirectResponse(f"{base}/"), methods=_READING))
    handlers: dict[Any, Any] = {404: _nothing, 405: _only_read, StoreError: _away}
    app = Starlette(
        routes=routes,
        middleware=[Middleware(Headers)],
        exception_handlers=handlers,
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    return app


def _provided(door: Door, provider: Provider, base: str) -> list[BaseRoute]:
    """Return the way to a provider and back; what it needs on the way is a cookie of its own."""
    signed = [Middleware(SessionMiddleware, **provider.session(base or "/"))]
    return [
        Route(f"{base}{SIGN_IN}", door.sign_in, methods=_READING, middleware=signed),
        Route(f"{base}{CALLBACK}", door.come_back, methods=_READING, middleware=signed),
    ]


def _nothing(request: Request, error: Exception) -> Response:
    return refusal("There is nothing at this address.", 404)


def _only_read(request: Request, error: Exception) -> Response:
    return refusal("This address can only be read.", 405, Allow="GET, HEAD")


def _away(request: Request, error: Exception) -> Response:
    _LOG.error("annotation store: %s", error)
    return away()
