"""Entry pages: plain HTML for browsers without a session."""

import secrets
from html import escape

from starlette.responses import HTMLResponse

RETRY_S = 5
"""Time after which the page for an unavailable store reloads."""
UNAVAILABLE = (
    "The database of this study is currently unavailable. This page retries every "
    f"{RETRY_S} seconds. Unsaved answers are kept in this browser."
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
_INVITED = """<p>This invitation is for <b>{name}</b>. It works once, for the browser in
which you accept it.</p>"""
_NOT_INVITED = """<p>If you are someone else, close this page and ask the study lead for your own
invitation.</p>"""
_JOINING = """<p>Your participant id is <b>{name}</b>. It is kept apart from your answers, which
are stored under a pseudonym.</p>"""
_FORM = """<h1>Welcome</h1>
{before}
<form method="post" action="enter"><input type="hidden" name="t" value="{token}">{field}
<button>{button}</button></form>
{after}
<script nonce="{nonce}">
  document.forms[0].addEventListener("submit", () => {{
    document.querySelector("button").disabled = true;
  }});
  addEventListener("pageshow", () => {{ document.querySelector("button").disabled = false; }});
</script>"""


def render_invitation(name: str, token: str) -> HTMLResponse:
    """Return the page for accepting an invitation; opening it does not use the invitation."""
    name = escape(name)
    return _render_form(token, _INVITED.format(name=name), f"Sign in as {name}", after=_NOT_INVITED)


def render_study_link(external_id: str, token: str) -> HTMLResponse:
    """Return the page on which a participant of a crowd platform joins a study."""
    value = escape(external_id)
    field = f'<input type="hidden" name="pid" value="{value}">'
    return _render_form(token, _JOINING.format(name=value), "Start", field=field)


def _render_form(
    token: str, before: str, button: str, *, field: str = "", after: str = ""
) -> HTMLResponse:
    nonce, token = secrets.token_urlsafe(), escape(token)
    body = _FORM.format(
        before=before, token=token, field=field, button=button, after=after, nonce=nonce
    )
    return _render_page("Sign in", body, 200, f"; script-src 'nonce-{nonce}'")


def render_sign_in(sign_in: str) -> HTMLResponse:
    """Return the page for visitors without an invitation; `sign_in` is the provider's link."""
    body = f"""<h1>Welcome</h1>
<p>Sign in with the account whose e-mail address is registered for this study, or open your
invitation.</p>
{_sign_in_link(sign_in)}"""
    return _render_page("Sign in", body, 200)


def render_refusal(
    sentence: str, status: int = 401, sign_in: str = "", **headers: str
) -> HTMLResponse:
    """Return an error page with one sentence, and with a link to `sign_in` if given."""
    body = f"<p>{escape(sentence)}</p>{_sign_in_link(sign_in) if sign_in else ''}"
    response = _render_page("Not available", body, status)
    response.headers.update(headers)
    return response


def render_unavailable() -> HTMLResponse:
    """Return the page for an unavailable database, which reloads itself."""
    return render_refusal(UNAVAILABLE, 503, Refresh=str(RETRY_S))


def _sign_in_link(address: str) -> str:
    # A link, since `form-action` would block the redirect of a form to the provider.
    return f'<p><a href="{escape(address)}">Sign in</a></p>'


def _render_page(title: str, body: str, status: int, policy: str = "") -> HTMLResponse:
    headers = {
        "Cache-Control": "no-store",  # a cached link would let anyone sign in
        # Not "no-referrer", with which browsers omit the origin of a form.
        "Referrer-Policy": "same-origin",
        "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; "
        f"form-action 'self'; frame-ancestors 'none'{policy}",
    }
    return HTMLResponse(_SHELL.format(title=title, body=body), status, headers)
