"""Default security headers of every response."""

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
"""Headers that are added unless a response sets its own."""
_FOR_OTHER_SITES = b"access-control-"
_FOR_UPLOADS = b"_streamlit_xsrf="


class DefaultHeaders:
    """ASGI middleware that adds `DEFAULTS` to responses.

    It removes CORS headers, and Streamlit's cookie for uploads, which the pages do not use.
    """

    def __init__(self, app: ASGIApp) -> None:
        """Wrap `app`."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and complete the headers of its response."""

        async def send_with_defaults(message: Message) -> None:
            if message["type"] == "http.response.start":
                remaining = [pair for pair in message.get("headers", ()) if not _is_removed(*pair)]
                message = {**message, "headers": remaining}
                headers = MutableHeaders(scope=message)
                for name, value in DEFAULTS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, send_with_defaults)


def _is_removed(name: bytes, value: bytes) -> bool:
    name = name.lower()
    return name.startswith(_FOR_OTHER_SITES) or (
        name == b"set-cookie" and value.startswith(_FOR_UPLOADS)
    )
