"""Sign-in by an OpenID Connect provider."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterator
from html import escape, unescape
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urljoin
from urllib.request import HTTPCookieProcessor, OpenerDirector, build_opener

import pytest

from sts.annotations.people import people, sessions
from sts.cli.main import main
from sts.errors import ArgumentError, MissingExtra
from sts.storage.workspace import Workspace
from sts_annotator_app.auth import openid
from sts_annotator_app.auth.browser_sessions import cookie_name
from tests.annotator_app import provider
from tests.annotator_app.provider import CLIENT, SECRET, Provider
from tests.annotator_app.served.browser import STAGE
from tests.annotator_app.serving import Server
from tests.stores import add_person, ask, change
from tests.waiting import PATIENCE
from tests.zygote import Zygote

BASE = "/judge"
AUTH = {
    "redirect_uri": "https://study.example/oauth2callback",
    "cookie_secret": "0123456789abcdef" * 2,
    "client_id": CLIENT,
    "client_secret": SECRET,
    "server_metadata_url": "https://provider.example/.well-known/openid-configuration",
}


def write_settings(folder: Path, **changed: Any) -> Workspace:
    """Return a workspace whose secrets are `AUTH` with changes."""
    table = {name: value for name, value in (AUTH | changed).items() if value is not None}
    lines = [f"{name} = {json.dumps(value)}\n" for name, value in table.items()]
    (folder / openid.FILE).write_text("[auth]\n" + "".join(lines))
    return Workspace.open(str(folder))


@pytest.fixture(scope="module")
def sign_in_provider() -> Iterator[Provider]:
    with provider.running() as made:
        yield made


@pytest.fixture(scope="module")
def served(
    recorded: Path,
    sign_in_provider: Provider,
    tmp_path_factory: pytest.TempPathFactory,
    zygote: Zygote,
) -> Iterator[Server]:
    folder = shutil.copytree(recorded, tmp_path_factory.mktemp("signing") / "workspace")
    made = Server(folder, base=BASE, zygote=zygote)
    write_settings(
        folder,
        redirect_uri=made.url(openid.CALLBACK),
        server_metadata_url=f"{sign_in_provider.issuer}/.well-known/openid-configuration",
    )
    with made:
        yield made


def cookies(context: Any) -> set[str]:
    return {one["name"] for one in context.cookies()}


@pytest.mark.landing
def test_member_with_a_verified_address_signs_in_and_judges(
    served: Server, sign_in_provider: Provider, profile: Any
) -> None:
    add_person(served.store, "Sara", email="Sara@Study.example")
    sign_in_provider.account = {"email": "sara@study.EXAMPLE", "email_verified": True}
    page = profile.new_page()
    seen: list[str] = []
    page.on("request", lambda request: seen.append(request.headers.get("referer", "")))
    page.goto(served.url("/annotate"))
    assert "invitation" in page.inner_text("body")
    page.click("text=Sign in")
    page.wait_for_selector(STAGE)
    assert page.url == served.url("/")
    assert [one for one in sign_in_provider.asked if one == "/token"]
    assert cookie_name(served.place) in cookies(profile)
    assert not any(name.startswith("_streamlit_user") for name in cookies(profile))
    assert not any("code=" in address or "provider=" in address for address in seen)
    (session,) = [
        one for one in ask(served.store, sessions.list_open_sessions) if one.name == "Sara"
    ]
    change(served.store, people.end_sessions, "Sara")
    page.goto(served.url("/enter"))  # the browser keeps nothing that would sign them in again
    assert page.inner_text("h1") == "Welcome" and page.locator("text=Sign in").count() >= 1


def visit(opener: OpenerDirector, address: str) -> tuple[int, str]:
    """Return the status and the text of the page that redirects lead to."""
    try:
        answer: Any = opener.open(address, timeout=PATIENCE)
    except HTTPError as error:
        answer = error
    with answer:
        return answer.status, answer.read().decode()


@pytest.mark.landing
def test_every_other_account_is_refused_with_the_reason(
    served: Server, sign_in_provider: Provider
) -> None:
    add_person(served.store, "Rita", email="rita@study.example")
    change(served.store, people.deactivate, "Rita")
    add_person(served.store, "Tom", email="tom@study.example")
    unknown = "No member of this study has the address"
    for account, words in (
        ({"email": "<b>nobody</b>@study.example"}, f"{unknown} <b>nobody"),
        ({"email": "rita@study.example"}, f"{unknown} rita"),
        ({"email": "tom@study.example", "email_verified": False}, "is not verified"),
        ({"name": "Tom"}, "does not share its e-mail address"),
        ({"iss": "http://elsewhere.example"}, "Sign-in failed"),
    ):
        sign_in_provider.account = account
        jar = CookieJar()
        opener = build_opener(HTTPCookieProcessor(jar))
        _, text = visit(opener, served.url("/enter"))
        link = re.search(r'<a href="([^"]+)"', text)
        assert link
        status, text = visit(opener, urljoin(served.url("/enter"), unescape(link[1])))
        assert status in (401, 403) and escape(words) in text and "Sign in" in text
        assert not {cookie_name(served.place), "_streamlit_user"} & {c.name for c in jar}


def test_sign_in_is_offered_only_with_a_complete_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = Workspace.open(str(tmp_path))
    assert not openid.load_settings(workspace, "")
    (tmp_path / openid.FILE).write_text('[mail]\nhost = "mail.example"\n')
    assert not openid.load_settings(workspace, "")
    assert openid.load_settings(write_settings(tmp_path), "")
    monkeypatch.setitem(sys.modules, "authlib", None)
    with pytest.raises(MissingExtra, match=r"standardised-test-suite\[oidc\]"):
        openid.load_settings(workspace, "")
    (tmp_path / openid.FILE).write_text("[auth\n")
    with pytest.raises(ArgumentError, match="is not readable TOML"):
        openid.load_settings(workspace, "")


@pytest.mark.parametrize(
    ("changed", "base", "words"),
    [
        ({"client_id": None, "client_secret": ""}, "", "expected client_id, client_secret in"),
        ({"server_metadata_url": 7}, "", "expected server_metadata_url in"),
        ({}, BASE, "ends with /judge/oauth2callback"),
        ({"redirect_uri": "https://study.example/"}, "", "ends with /oauth2callback"),
        ({"cookie_secret": "short"}, "", "cookie_secret of 32 characters or more"),
    ],
)
def test_incomplete_table_is_refused_before_serving(
    tmp_path: Path, changed: dict[str, Any], base: str, words: str
) -> None:
    with pytest.raises(ArgumentError, match=words) as error:
        openid.load_settings(write_settings(tmp_path, **changed), base)
    assert "\n" not in str(error.value) and SECRET not in str(error.value)


@pytest.mark.parametrize(
    ("claims", "words"),
    [
        ({}, "does not share its e-mail address"),
        ({"email": ["a@b"]}, "does not share its e-mail address"),
        *(
            ({"email": "a@b", "email_verified": one}, "is not verified")
            for one in (False, "false", None)
        ),
    ],
)
def test_address_must_be_verified_by_the_provider(claims: dict[str, Any], words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        openid.get_verified_email(claims)
    assert openid.get_verified_email({"email": "a@b"}) == "a@b"
    assert openid.get_verified_email({"email": "a@b", "email_verified": "true"}) == "a@b"


def test_lead_sets_changes_and_removes_addresses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def annotators(*words: str) -> tuple[int, str, str]:
        code = main(["annotators", *words, "--workspace", str(tmp_path)])
        return code, *capsys.readouterr()

    code, out, _ = annotators("add", "Ana", "--email", " Ana@Study.example ")
    assert code == 0 and "they can also use ana@study.example" in out
    assert annotators("add", "Bo")[0] == 0
    code, _, error = annotators("email", "Bo", "ana@study.example")
    assert code != 0 and "belongs to 'Ana'" in error
    assert annotators("email", "Ana", "new@study.example")[0] == 0
    assert annotators("email", "Bo", "ana@study.example")[0] == 0
    rows = json.loads(annotators("ls", "--json")[1])["annotators"]
    assert [row["email"] for row in rows] == ["new@study.example", "ana@study.example"]
    assert annotators("email", "Bo")[0] == 0
    assert "ana@study.example" not in annotators("ls")[1]


@pytest.mark.parametrize("email", ["", "ana", "ana@", "@x.org", "a b@x.org", "a@b@c", "a@\u202eb"])
def test_invalid_address_is_refused_and_adds_no_person(
    tmp_path: Path, email: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["annotators", "add", "Ana", "--email", email, "--workspace", str(tmp_path)]) != 0
    assert capsys.readouterr().err.count("\n") == 1
    assert main(["annotators", "ls", "--workspace", str(tmp_path)]) == 0
    assert "Ana" not in capsys.readouterr().out
