"""The web server of the pages, on a socket that is already bound."""

import asyncio
import contextlib
import errno
import logging
import socket
import threading
import webbrowser
from functools import partial
from pathlib import Path
from typing import cast

from sts.errors import ArgumentError, Unavailable
from sts_annotator_app.settings import Settings

_OPTIONS = {
    "browser.gatherUsageStats": False,
    "client.showErrorDetails": "none",
    "client.toolbarMode": "minimal",
    "logger.level": "warning",
    "runner.magicEnabled": False,
    "secrets.files": [],  # Streamlit's own secrets must not configure sign-in
    "runner.postScriptGC": False,  # a full collection after every run costs more than the run
    "server.fileWatcherType": "none",
    "server.headless": True,
    "theme.dark.primaryColor": "#0a6ebd",  # as on the entry pages; red would look like a warning
    "theme.light.primaryColor": "#0a6ebd",
}


def bind(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 selects a free port.

    Raise ArgumentError for another machine's address, Unavailable if the port cannot be used.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM
        )[0]
    except socket.gaierror:
        raise ArgumentError(f"expected an address of this machine, found host {host!r}") from None
    # Without the protocol asyncio would not recognise TCP and not set TCP_NODELAY, which delays
    # each message by some 40 ms.
    bound = socket.socket(family, kind, protocol)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind(address)
        bound.listen(128)
    except OSError as error:
        bound.close()
        if error.errno == errno.EADDRNOTAVAIL:
            raise ArgumentError(f"host {host!r} is not an address of this machine") from None
        is_busy = error.errno == errno.EADDRINUSE
        reason = "is busy" if is_busy else f"cannot be used: {error.strerror}"
        raise Unavailable(
            f"port {port} on {host} {reason}; stop the program there or choose another --port"
        ) from None
    return bound


def serve(settings: Settings, bound: socket.socket) -> None:
    """Serve the pages on `bound` until Ctrl-C or SIGTERM."""
    settings.publish()
    import streamlit as st
    import uvicorn
    from streamlit import config as streamlit_config

    from sts.viewer.sprites import is_pixel_rendered
    from sts_annotator_app import results, sprites, state
    from sts_annotator_app.auth import openid
    from sts_annotator_app.auth.browser_sessions import BrowserSessions, cookie_name
    from sts_annotator_app.auth.entrances import Authenticator
    from sts_annotator_app.live.socket import serve_live
    from sts_annotator_app.pages import component_pages
    from sts_annotator_app.pages.message_route import serve_messages
    from sts_annotator_app.racing import LookMaker
    from sts_annotator_app.shell import routes
    from sts_annotator_app.shell.connections import LimitedProtocol, raise_file_limit
    from sts_annotator_app.shell.page_html import render_shell

    base = settings.base_path
    for name, value in {**_OPTIONS, "server.baseUrlPath": base}.items():
        streamlit_config.set_option(name, value)
    # The access log would contain invitations, and Streamlit turns it on regardless of options.
    logging.getLogger("uvicorn.access").disabled = True

    sessions = BrowserSessions(state.get_store, cookie_name(state.workspace_path()), base)
    auth = openid.load_settings(state.get_workspace(), base) if settings.has_sign_in else None
    door = Authenticator(settings, sessions, openid.Provider(auth) if auth else None)
    report = results.serve_results(lambda: state.get_report_builder().folder, sessions)
    within: dict[str, routes.Answer] = {
        routes.PAGE: render_shell(base),
        f"{results.RESULTS}{{file:path}}": report,
    }
    streamlit = st.App(Path(__file__).parents[1] / "pages" / "app.py")
    live = serve_live(sessions, state.get_hall().find)
    messages = serve_messages(sessions, component_pages.PAGES, state.needs_consent)
    app = routes.build_application(streamlit, door, within, streamlit.lifespan(), live, messages)
    protocol = partial(
        LimitedProtocol,
        each=settings.connections,
        total=raise_file_limit(),
        proxies=settings.proxies,
    )
    config = uvicorn.Config(
        app,
        http=cast(type[asyncio.Protocol], protocol),
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=1,
        ws="websockets-sansio",
        proxy_headers=bool(settings.proxies),  # trust forwarded headers only from known proxies
        forwarded_allow_ips=settings.proxies or None,
    )
    state.warm_up()
    scenarios = state.get_suite().scenarios if settings.suite else ()
    recordings = {s.recording.domain: s.recording for s in scenarios}
    if any(is_pixel_rendered(r.domain, r.state) for r in recordings.values()):
        sprites.start_rendering(state.get_workspace(), settings.suite)
    if settings.suite:
        LookMaker(state.get_workspace(), settings.suite, state.get_store).start()
    with contextlib.suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[bound])


def open_soon(link: str) -> None:
    """Open `link` in the browser after two seconds, when `serve` is ready."""
    opener = threading.Timer(2.0, webbrowser.open, [link])
    opener.daemon = True
    opener.start()
