"""Signing in with an account of elsewhere (OpenID Connect), by the routes of `st.login`.

`st.login` itself is called by a page, over a websocket, which the door opens to nobody without a
session. It does no more than send the browser to a route of Streamlit's, which the door does by
itself; what Streamlit's other route learns from the provider goes no further than the door.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from importlib.util import find_spec
from typing import Any, NamedTuple

from starlette.types import ASGIApp, Message, Receive, Scope

from sts.errors import ArgumentError, MissingExtra
from sts.storage.files import regular_bytes
from sts.storage.workspace import Workspace

FILE = "secrets.toml"
SIGN_IN, LOGIN, CALLBACK = "/sign-in", "/auth/login", "/oauth2callback"
ADDRESSES = (SIGN_IN, LOGIN, CALLBACK)
_MOST_BYTES = 2**16
_SECRET = 32
_NEEDED = ("redirect_uri", "cookie_secret", "client_id", "client_secret", "server_metadata_url")


class Answer(NamedTuple):
    """What came of asking the provider.

    Attributes:
      claims: what the provider says of who signed in; None where it says nothing.
      cookies: headers that end what the browser kept for the time of asking.
    """

    claims: Mapping[str, Any] | None
    cookies: list[bytes]


def is_offered(workspace: Workspace, base: str) -> bool:
    """Whether the workspace's `secrets.toml` has an `[auth]` table, as `st.login` reads it.

    Args:
      workspace: of the study.
      base: the path under which everything is served, "" or like "/judge".

    Raises:
      ArgumentError: the file is no TOML, or the table lacks something.
      MissingExtra: what speaks with the provider is not installed.
    """
    file = workspace.path(FILE)
    if not file.exists():
        return False
    try:
        auth = tomllib.loads(regular_bytes(file, _MOST_BYTES).decode()).get("auth")
    except (ValueError, RecursionError) as error:
        raise ArgumentError(f"{file} is not readable TOML: {error}") from None
    if auth is None:
        return False
    asked = auth if isinstance(auth, dict) else {}
    missing = [name for name in _NEEDED if not isinstance(asked.get(name), str) or not asked[name]]
    if missing:
        raise ArgumentError(f"{file}: expected {', '.join(missing)} in [auth], each a text")
    if not asked["redirect_uri"].endswith(f"{base}{CALLBACK}"):
        raise ArgumentError(
            f"{file}: expected a redirect_uri that ends with {base}{CALLBACK}, found "
            f"{asked['redirect_uri']!r}"
        )
    if len(asked["cookie_secret"]) < _SECRET:
        raise ArgumentError(f"{file}: expected a cookie_secret of {_SECRET} characters or more")
    if find_spec("authlib") is None or find_spec("httpx") is None:
        raise MissingExtra(
            f"{file} asks for signing in, which needs Authlib, which is not installed: "
            "pip install 'standardised-test-suite[oidc]'"
        )
    return True


def login_address() -> str:
    """Where `st.login` sends a browser, below the base path; good for two minutes."""
    from streamlit.user_info import generate_login_redirect_url

    return generate_login_redirect_url("default")


async def answer(app: ASGIApp, scope: Scope, receive: Receive) -> Answer:
    """What the provider says of whom it sends back.

    Streamlit's own answer, with a cookie that would say who this is for thirty days, is dropped.

    Args:
      app: Streamlit's.
      scope: of the request by which the browser comes back.
      receive: its body.
    """
    from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME
    from streamlit.web.server.starlette.starlette_websocket import _get_signed_cookie_with_chunks

    told: list[bytes] = []

    async def hear(message: Message) -> None:
        if message["type"] == "http.response.start":
            told.extend(value for name, value in message["headers"] if name == b"set-cookie")

    await app(scope, receive, hear)
    own = [one for one in told if one.startswith(USER_COOKIE_NAME.encode())]
    jar: SimpleCookie = SimpleCookie()
    try:
        for one in own:
            jar.load(one.decode("latin-1"))
    except CookieError:
        jar.clear()
    values = {name: morsel.value for name, morsel in jar.items()}
    raw = _get_signed_cookie_with_chunks(values, USER_COOKIE_NAME)
    claims = json.loads(raw) if raw else None
    return Answer(claims, [one for one in told if one not in own])


def verified_address(claims: Mapping[str, Any] | None) -> str:
    """The e-mail address that a provider vouches for.

    Raises:
      ArgumentError: there is none; says in one sentence what a person can do.
    """
    if claims is None:
        raise ArgumentError("Signing in did not work. Please try it again.")
    email = claims.get("email")
    if not isinstance(email, str) or not email:
        raise ArgumentError(
            "Your account tells this study no e-mail address, so it lets in nobody."
        )
    if claims.get("email_verified", True) not in (True, "true"):
        raise ArgumentError(
            "Nobody has verified the e-mail address of your account. Have that done there, then "
            "sign in again."
        )
    return email
