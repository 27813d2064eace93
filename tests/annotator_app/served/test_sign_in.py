"""Signing in by a provider: who is let in, who is not, and what stays in the browser."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sts.annotations import people, sessions
from sts.cli.main import main
from sts.errors import ArgumentError, MissingExtra
from sts.storage.workspace import Workspace
from sts_annotator_app import sign_in
from sts_annotator_app.auth import cookie_name
from tests.annotator_app import provider
from tests.annotator_app.provider import CLIENT, SECRET, Provider
from tests.annotator_app.serving import Server
from tests.stores import add_person, ask, change
from tests.zygote import Zygote

BASE = "/judge"
AUTH = {
    "redirect_uri": "https://study.example/oauth2callback",
    "cookie_secret": "0123456789abcdef" * 2,
    "client_id": CLIENT,
    "client_secret": SECRET,
    "server_metadata_url": "https://provider.example/.well-known/openid-configuration",
}


def written(folder: Path, **changed: Any) -> Workspace:
    """A workspace whose secrets are `AUTH`, with something else in it or without something."""
    table = {name: value for name, value in (AUTH | changed).items() if value is not None}
    lines = [f"{name} = {json.dumps(value)}\n" for name, value in table.items()]
    (folder / sign_in.FILE).write_text("[auth]\n" + "".join(lines))
    return Workspace.open(str(folder))


@pytest.fixture(scope="module")
def there() -> Iterator[Provider]:
    with provider.running() as made:
        yield made


@pytest.fixture(scope="module")
def served(
    recorded: Path, there: Provider, tmp_path_factory: pytest.TempPathFactory, zygote: Zygote
) -> Iterator[Server]:
    folder = shutil.copytree(recorded, tmp_path_factory.mktemp("signing") / "workspace")
    made = Server(folder, base=BASE, zygote=zygote)
    written(
        folder,
        redirect_uri=made.url(sign_in.CALLBACK),
        server_metadata_url=f"{there.issuer}/.well-known/openid-configuration",
    )
    with made:
        yield made


@pytest.fixture
def browser(chromium: Any) -> Iterator[Any]:
    context = chromium.new_context()
    yield context
    context.close()


def cookies(context: Any) -> set[str]:
    return {one["name"] for one in context.cookies()}


@pytest.mark.browser
@pytest.mark.landing
def test_who_is_known_by_a_verified_address_signs_in_and_works(
    served: Server, there: Provider, browser: Any
) -> None:
    add_person(served.store, "Sara", email="Sara@Study.example")
    there.account = {"email": "sara@study.EXAMPLE", "email_verified": True}
    page = browser.new_page()
    seen: list[str] = []
    page.on("request", lambda request: seen.append(request.headers.get("referer", "")))
    page.goto(served.url("/annotate"))
    assert "invitation" in page.inner_text("body")
    page.click("text=Sign in")
    page.wait_for_selector(".player .stage:not([hidden])")
    assert page.url == served.url("/")
    assert [one for one in there.asked if one == "/token"]
    assert cookie_name(served.place) in cookies(browser)
    assert not any(name.startswith("_streamlit_user") for name in cookies(browser))
    assert not any("code=" in address or "provider=" in address for address in seen)
    (session,) = [one for one in ask(served.store, sessions.under_way) if one.name == "Sara"]
    change(served.store, people.revoke, "Sara")
    page.goto(served.url("/enter"))  # nothing is left in the browser that would let them in
    assert page.inner_text("h1") == "Welcome" and page.locator("text=Sign in").count() >= 1


@pytest.mark.browser
@pytest.mark.landing
@pytest.mark.parametrize(
    ("account", "words"),
    [
        (
            {"email": "<b>nobody</b>@study.example"},
            "No member of this study has the address <b>nobody",
        ),
        ({"email": "rita@study.example"}, "No member of this study has the address rita"),
        ({"email": "tom@study.example", "email_verified": False}, "is not verified"),
        ({"name": "Tom"}, "does not share its e-mail address"),
        ({"iss": "http://elsewhere.example"}, "Sign-in failed"),
    ],
)
def test_anybody_else_is_told_why_not_in_a_sentence(
    served: Server, there: Provider, browser: Any, account: dict[str, Any], words: str
) -> None:
    known = {one.name for one in ask(served.store, people.everybody)}
    if "Rita" not in known:
        add_person(served.store, "Rita", email="rita@study.example")
        change(served.store, people.retire, "Rita")
        add_person(served.store, "Tom", email="tom@study.example")
    there.account = account
    page = browser.new_page()
    page.goto(served.url("/enter"))
    page.click("a")
    page.wait_for_selector("text=Sign in")
    assert words in page.inner_text("p")
    assert not {cookie_name(served.place), "_streamlit_user"} & cookies(browser)


def test_a_study_without_secrets_offers_nothing(tmp_path: Path) -> None:
    assert not sign_in.settings(Workspace.open(str(tmp_path)), "")
    (tmp_path / sign_in.FILE).write_text('[mail]\nhost = "mail.example"\n')
    assert not sign_in.settings(Workspace.open(str(tmp_path)), "")
    assert sign_in.settings(written(tmp_path), "")


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
def test_a_lacking_table_is_refused_before_anything_is_served(
    tmp_path: Path, changed: dict[str, Any], base: str, words: str
) -> None:
    with pytest.raises(ArgumentError, match=words) as error:
        sign_in.settings(written(tmp_path, **changed), base)
    assert "\n" not in str(error.value) and SECRET not in str(error.value)


def test_a_file_that_is_no_toml_is_one_line(tmp_path: Path) -> None:
    (tmp_path / sign_in.FILE).write_text("[auth\n")
    with pytest.raises(ArgumentError, match="is not readable TOML"):
        sign_in.settings(Workspace.open(str(tmp_path)), "")


def test_without_authlib_the_command_to_install_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "authlib", None)
    with pytest.raises(MissingExtra, match=r"standardised-test-suite\[oidc\]"):
        sign_in.settings(written(tmp_path), "")


@pytest.mark.parametrize(
    ("claims", "words"),
    [
        ({}, "does not share its e-mail address"),
        ({"email": ["a@b"]}, "does not share its e-mail address"),
        ({"email": "a@b", "email_verified": False}, "is not verified"),
        ({"email": "a@b", "email_verified": "false"}, "is not verified"),
        ({"email": "a@b", "email_verified": None}, "is not verified"),
    ],
)
def test_only_an_address_that_the_provider_vouches_for_counts(
    claims: dict[str, Any], words: str
) -> None:
    with pytest.raises(ArgumentError, match=words):
        sign_in.get_verified_email(claims)
    assert sign_in.get_verified_email({"email": "a@b"}) == "a@b"
    assert sign_in.get_verified_email({"email": "a@b", "email_verified": "true"}) == "a@b"


def test_the_lead_gives_and_takes_addresses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    at = ["--workspace", str(tmp_path)]
    assert main(["annotators", "add", "Ana", "--email", " Ana@Study.example ", *at]) == 0
    assert "sign in as ana@study.example" in capsys.readouterr().out
    assert main(["annotators", "add", "Bo", *at]) == 0
    assert main(["annotators", "email", "Bo", "ana@study.example", *at]) != 0
    assert "belongs to 'Ana'" in capsys.readouterr().err
    assert main(["annotators", "email", "Ana", "new@study.example", *at]) == 0
    assert main(["annotators", "email", "Bo", "ana@study.example", *at]) == 0
    capsys.readouterr()
    assert main(["annotators", "ls", "--json", *at]) == 0
    rows = json.loads(capsys.readouterr().out)["annotators"]
    assert [row["email"] for row in rows] == ["new@study.example", "ana@study.example"]
    assert main(["annotators", "email", "Bo", *at]) == 0
    assert main(["annotators", "ls", *at]) == 0
    assert "ana@study.example" not in capsys.readouterr().out


@pytest.mark.parametrize("email", ["", "ana", "ana@", "@x.org", "a b@x.org", "a@b@c", "a@\u202eb"])
def test_what_is_no_address_is_refused_and_nobody_is_added(
    tmp_path: Path, email: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["annotators", "add", "Ana", "--email", email, "--workspace", str(tmp_path)]) != 0
    assert capsys.readouterr().err.count("\n") == 1
    assert main(["annotators", "ls", "--workspace", str(tmp_path)]) == 0
    assert "Ana" not in capsys.readouterr().out
