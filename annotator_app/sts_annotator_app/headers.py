"""What every answer tells a browser to keep to itself."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

DEFAULTS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
"""What an answer says where it says nothing of its own."""
_FOR_OTHER_SITES = b"access-control-"
_FOR_UPLOADS = b"_streamlit_xsrf="


class DefaultHeaders:
    """ASGI middleware that has each answer say what is `DEFAULTS`.

    What would let pages of other sites read it is taken out, and so is a cookie of Streamlit's that
    guards uploads: nobody uploads anything here.
    """

    def __init__(self, app: ASGIApp) -> None:
        """Stands before `app`."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything on."""

        async def told(message: Message) -> None:
            if message["type"] == "http.response.start":
                found = message.get("headers", ())
                kept = [one for one in found if not _is_removed(*one)]
                message = {**message, "headers": kept}
                headers = MutableHeaders(scope=message)
                for name, value in DEFAULTS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, told)


def _is_removed(name: bytes, value: bytes) -> bool:
    name = name.lower()
    return name.startswith(_FOR_OTHER_SITES) or (
        name == b"set-cookie" and value.startswith(_FOR_UPLOADS)
    )
