"""The small pages at the door: plain HTML, for who has not entered yet."""

from __future__ import annotations

import secrets
from html import escape

from starlette.responses import HTMLResponse

RETRY_S = 5
"""Seconds after which a page that could not be served asks again."""
UNAVAILABLE = (
    "The database of this study cannot be reached at the moment. This page tries again every "
    f"{RETRY_S} seconds; answers that were not saved are kept in this browser."
)
_SHELL = """<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>{title}</title>
<style>
  :root {{ color-scheme: light dark; }}
  body {{ font: 18px/1.5 system-ui, sans-serif; max-width: 34em; margin: 3em auto; padding: 0 1.2em;
    overflow-wrap: anywhere; }}
  button, a {{ font: inherit; font-weight: 600; padding: 0.6em 1.2em; border: 0;
    border-radius: 0.4em; background: #0a6ebd; color: #fff; cursor: pointer; max-width: 100%; }}
  button:disabled {{ opacity: 0.6; }}
  a {{ display: inline-block; text-decoration: none; }}
</style>
{body}"""
_FORM = """<h1>Welcome</h1>
<p>This invitation is for <b>{name}</b>. It lets one browser in, once: this one, if you go on.</p>
<form method="post" action="enter"><input type="hidden" name="t" value="{token}">
<button>Enter as {name}</button></form>
<p>If you are somebody else, close this page and ask for an invitation of your own.</p>
<script nonce="{nonce}">
  document.forms[0].addEventListener("submit", () => {{
    document.querySelector("button").disabled = true;
  }});
  addEventListener("pageshow", () => {{ document.querySelector("button").disabled = false; }});
</script>"""


def render_invitation(name: str, token: str) -> HTMLResponse:
    """The page on which an invitation is spent; opening it, as a preview does, spends nothing."""
    nonce = secrets.token_urlsafe()
    body = _FORM.format(name=escape(name), token=escape(token), nonce=nonce)
    return _render_page("Enter", body, 200, f"; script-src 'nonce-{nonce}'")


def render_sign_in(sign_in: str) -> HTMLResponse:
    """The page for who comes without an invitation, where people can sign in at `sign_in`."""
    body = f"""<h1>Welcome</h1>
<p>Sign in with the account whose e-mail address this study knows, or open an invitation.</p>
{_sign_in_link(sign_in)}"""
    return _render_page("Sign in", body, 200)


def render_refusal(
    sentence: str, status: int = 401, sign_in: str = "", **headers: str
) -> HTMLResponse:
    """A page that says in one sentence why nobody comes in; where to `sign_in`, if anywhere."""
    body = f"<p>{escape(sentence)}</p>{_sign_in_link(sign_in) if sign_in else ''}"
    response = _render_page("No entry", body, status)
    response.headers.update(headers)
    return response


def render_unavailable() -> HTMLResponse:
    """A page that asks again, for while the database cannot be reached."""
    return render_refusal(UNAVAILABLE, 503, Refresh=str(RETRY_S))


def _sign_in_link(address: str) -> str:
    # A link and no form: a browser lets no form lead on to another site than it may be sent to.
    return f'<p><a href="{escape(address)}">Sign in</a></p>'


def _render_page(title: str, body: str, status: int, policy: str = "") -> HTMLResponse:
    headers = {
        "Cache-Control": "no-store",  # a link in a proxy's memory would let anyone in
        # Not "no-referrer", with which a browser does not say either where a form is sent from.
        "Referrer-Policy": "same-origin",
        "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; "
        f"form-action 'self'; frame-ancestors 'none'{policy}",
    }
    return HTMLResponse(_SHELL.format(title=title, body=body), status, headers)
