"""`sts annotate`: serves the pages on which people judge continuations."""

from __future__ import annotations

import json
from shlex import quote
from typing import TYPE_CHECKING

from sts.cli.arguments import warn
from sts.cli.command import argument, declare, option, repeatable, switch
from sts.errors import ArgumentError

if TYPE_CHECKING:
    from sts.annotations.log.closings import ClosingEvent
    from sts.annotations.records import Annotator, Progress
    from sts.storage.workspace import Workspace

LOOPBACK = ("127.0.0.1", "::1", "localhost")


@declare("annotate {suite} --user ann")
def annotate(
    workspace: Workspace,
    as_json: bool,
    *,
    suite: str | None = argument(
        "NAME@VERSION",
        "or a part of it, NAME@VERSION+tag:T, or NAME, a draft without versions (default: "
        "the latest, if there is one name)",
        nargs="?",
    ),
    port: int = option(
        "P", "port; 0: any free port (default: %(default)s)", 8501, least=0, most=65535
    ),
    user: str | None = option(
        "NAME",
        "annotate yourself on this machine: print and open your sign-in link (default: none)",
    ),
    host: str = option(
        "HOST", "address to listen on (default: 127.0.0.1, this machine only)", "127.0.0.1"
    ),
    base_path: str = option("/PATH", "path under which a proxy serves everything", ""),
    proxy: list[str] = repeatable(
        "ADDRESS",
        "address or network of a proxy whose forwarded headers are trusted; repeatable "
        "(default: none)",
    ),
    connections: int = option(
        "N", "maximum number of connections from one address, except proxies", 512, least=1
    ),
    no_browser: bool = switch("print the link without opening a browser"),
) -> int:
    """Annotate continuations in a browser."""
    if user is not None and host not in LOOPBACK:
        raise ArgumentError(
            f"--user is for your own machine, found --host {host}; give people links of their "
            "own instead: sts annotators add NAME"
        )
    from sts.annotations.answers import progress, training
    from sts.annotations.database.annotation_store import AnnotationStore
    from sts.annotations.log import closings, looks
    from sts.annotations.people import consent
    from sts_annotator_app import queueing
    from sts_annotator_app.auth import browser_sessions, openid
    from sts_annotator_app.settings import Settings, parse_base_path
    from sts_annotator_app.shell import server

    base, proxies = parse_base_path(base_path), [_parse_network(text) for text in proxy]
    offers = openid.load_settings(workspace, base) is not None
    selection = queueing.select_suite(workspace, suite)
    with server.bind(host, port) as bound:
        with AnnotationStore.open(workspace) as store:
            if store.study.consent:  # a bad file is reported here, not on the first page
                consent.load_text(workspace, store.study.consent)
            total = queueing.fill_queue(workspace, store, selection) if selection else 0
            owner = queueing.find_or_add_person(store, user) if user is not None else None
            with store.read() as connection:
                if selection:
                    name = selection.suite.label
                    looks.check_goal(looks.load_race(connection, name), store.study, name)
                counts = progress.load_progress(connection, selection.queue) if selection else None
                closing = closings.find_closing(connection, selection.queue) if selection else None
                untrained = training.describe_missing_references(connection, study=store.study)
        key = browser_sessions.derive_owner_key(workspace, owner.name) if owner else ""
        address = f"http://{host}:{bound.getsockname()[1]}{base}"
        link = f"{address}/enter?t={key}" if key else None
        label = selection.label if selection else ""
        if as_json:
            value = {"suite": label or None, "address": address, "link": link}
            print(json.dumps(value), flush=True)
        else:
            nothing = "curators decide about it; there is nothing to judge before it is frozen"
            lines = [f"draft {suite}: {nothing}"]
            lines = _describe_queue(label, counts, total, closing) if counts else lines
            lines += [untrained] if untrained else []
            print("\n".join([*lines, *_describe_links(address, link, owner)]), flush=True)
        if host not in LOOPBACK and not proxies:
            warn(
                f"{address} is plain http, which anyone on the way can read and change; serve it "
                "through a proxy with https (docs/deploy.md)"
            )
        if link and not no_browser:
            server.open_soon(link)
        settings = Settings(
            str(workspace.root.resolve()),
            suite=selection.suite.label if selection else "",
            queue=selection.queue if selection else "",
            administrator=owner.name if owner else "",
            key=key,
            base_path=base,
            proxies=",".join(proxies),
            has_sign_in=offers,
            connections=connections,
        )
        server.serve(settings, bound)
    return 0


def _parse_network(address: str) -> str:
    """Return an address or a network of them; raise ArgumentError if it is neither."""
    from ipaddress import ip_network

    try:
        ip_network(address)
    except ValueError:
        raise ArgumentError(
            f"--proxy: expected an address such as 127.0.0.1 or 10.0.0.0/8, found {address!r}"
        ) from None
    return address


def _describe_queue(
    suite: str, progress: Progress, total: int, closing: ClosingEvent | None
) -> list[str]:
    count, done, required = progress.continuations, progress.judged, progress.annotations_required
    unable = progress.unjudgeable
    none = f", {unable} of the clips could not be judged" if unable else ""
    clips = "" if progress.items == count else f" are {progress.items} clips"
    clips += f", {progress.auto_resolved} auto-resolved" if progress.auto_resolved else ""
    lines = [f"{suite}: {count} continuations{clips}, {done} of {required} judgements{none}"]
    if closing:
        lines.append(
            f"closed early ({closing.reason}): nothing is queued or assigned until it is reopened "
            f"with sts annotations close {suite} --reopen --reason TEXT"
        )
    elif total > count:
        lines.append(
            f"these are a random sample of {total}; when they are judged, start this again to "
            "queue others (queue in workspace.toml)"
        )
    if not count:
        lines.append(f"nothing to judge yet: sts run {suite} --agent NAME, then start this again")
    return lines


def _describe_links(address: str, link: str | None, owner: Annotator | None) -> list[str]:
    lines = [f"open your page: {link}" if link else f"serving {address}"]
    if owner and "lead" not in owner.roles:
        lines.append(f"{owner.name} sees no report: sts annotators role {quote(owner.name)} lead")
    lines.append("to invite someone: sts annotators add NAME")
    lines.append("Ctrl-C ends this; nothing is lost")
    return lines
