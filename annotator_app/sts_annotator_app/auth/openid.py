"""Sign-in with OpenID Connect, through Authlib."""

import logging
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from sts.errors import ArgumentError, MissingExtra
from sts.storage.files import read_bytes
from sts.storage.workspace import Workspace

FILE = "secrets.toml"
SIGN_IN, CALLBACK = "/sign-in", "/oauth2callback"
SIGN_IN_FAILED = "Sign-in failed. Please try again."
_MAX_BYTES = 2**16
_MIN_SECRET_CHARS = 32
_STATE_MAX_AGE_S = 600
"""Time that a person may spend at the provider."""
_LOG = logging.getLogger(__name__)
_REQUIRED = ("redirect_uri", "cookie_secret", "client_id", "client_secret", "server_metadata_url")


def load_settings(workspace: Workspace, base: str) -> dict[str, Any] | None:
    """Return the `[auth]` table of `secrets.toml`, or None; raise StsError if it is not usable."""
    file = workspace.path(FILE)
    if not file.exists():
        return None
    try:
        auth = tomllib.loads(read_bytes(file, _MAX_BYTES).decode()).get("auth")
    except (ValueError, RecursionError) as error:
        raise ArgumentError(f"{file} is not readable TOML: {error}") from None
    if auth is None:
        return None
    table = auth if isinstance(auth, dict) else {}
    texts = {name for name, value in table.items() if isinstance(value, str) and value}
    missing = [name for name in _REQUIRED if name not in texts]
    if missing:
        raise ArgumentError(f"{file}: expected {', '.join(missing)} in [auth], each a string")
    if not table["redirect_uri"].endswith(f"{base}{CALLBACK}"):
        raise ArgumentError(
            f"{file}: expected a redirect_uri that ends with {base}{CALLBACK}, found "
            f"{table['redirect_uri']!r}"
        )
    if len(table["cookie_secret"]) < _MIN_SECRET_CHARS:
        raise ArgumentError(
            f"{file}: expected a cookie_secret of {_MIN_SECRET_CHARS} characters or more"
        )
    if find_spec("authlib") is None or find_spec("httpx") is None:
        raise MissingExtra(
            f"{file} enables sign-in, but Authlib or httpx is missing: "
            "pip install 'standardised-test-suite[oidc]'"
        )
    return table


class Provider:
    """OpenID Connect provider; its errors are sentences that can be shown to people."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        """Configure the client from the `[auth]` table; nothing is requested yet."""
        from authlib.integrations.starlette_client import OAuth  # type: ignore[import-untyped]

        self._settings = settings
        usual = {"scope": "openid email", "prompt": "select_account"}
        self._client: Any = OAuth().register(
            "study",
            client_id=settings["client_id"],
            client_secret=settings["client_secret"],
            server_metadata_url=settings["server_metadata_url"],
            client_kwargs=usual
            | settings.get("client_kwargs", {})
            | {"code_challenge_method": "S256"},
        )

    def session_options(self, path: str) -> dict[str, Any]:
        """Return the options of the signed cookie that holds the state of a sign-in."""
        return {
            "secret_key": self._settings["cookie_secret"],
            "session_cookie": "sts_sign_in",
            "max_age": _STATE_MAX_AGE_S,
            "path": path,
            "https_only": self._settings["redirect_uri"].startswith("https:"),
        }

    async def redirect(self, request: Request) -> Response:
        """Redirect a browser to the provider."""
        with _translate_errors():
            uri = self._settings["redirect_uri"]
            answer: Response = await self._client.authorize_redirect(request, uri)
        return answer

    async def fetch_claims(self, request: Request) -> Mapping[str, Any]:
        """Return the claims of the provider about a person who returns from it."""
        with _translate_errors():
            token = await self._client.authorize_access_token(request)
            claims: Mapping[str, Any] = token["userinfo"]
        return claims


@contextmanager
def _translate_errors() -> Iterator[None]:
    """Translate any exception into `SIGN_IN_FAILED`; only its type is logged, not its secrets."""
    try:
        yield
    except Exception as error:
        _LOG.warning("signing in failed: %s", type(error).__name__)
        raise ArgumentError(SIGN_IN_FAILED) from None


def get_verified_email(claims: Mapping[str, Any]) -> str:
    """Return the verified e-mail address in claims; raise ArgumentError without one."""
    email = claims.get("email")
    if not isinstance(email, str) or not email:
        raise ArgumentError(
            "Your account does not share its e-mail address with this study. Allow that, then "
            "sign in again."
        )
    if claims.get("email_verified", True) not in (True, "true"):
        raise ArgumentError(
            "The e-mail address of your account is not verified. Verify it with the provider, "
            "then sign in again."
        )
    return email
