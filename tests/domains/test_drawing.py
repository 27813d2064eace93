"""What a domain draws in a browser is read from beside its own class."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from sts.domains import domain
from sts.domains.conformance import check
from sts.domains.drawing import drawing
from sts.errors import StsError
from sts.worlds.lambda_star.domain import LambdaStar


class Undrawn(LambdaStar):
    """A domain whose scenes nothing draws."""

    drawing = ""


def drawn_by(file: object, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A domain of a module in `folder` that declares `file` as its drawing."""
    (folder / "pond.py").write_text(
        f"class Pond:\n    name = 'pond'\n    drawing = {file!r}\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(str(folder))
    sys.modules.pop("pond", None)
    module: ModuleType = __import__("pond")
    return module.Pond()


def test_a_drawing_beside_a_file_of_ones_own_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pond.mjs").write_text("export const paint = () => null; // ≈≈≈", "utf-8")
    assert drawing(drawn_by("pond.mjs", tmp_path, monkeypatch)).endswith("// ≈≈≈")


@pytest.mark.parametrize(
    ("file", "what"),
    [("none.mjs", "none.mjs in the folder of"), ("../pond.mjs", "expected `drawing` as the"),
     ("pond.py", "expected `drawing` as the"), (7, "expected `drawing` as the"),
     ("/etc/x.mjs", "expected `drawing` as the"), ("latin.mjs", "is not UTF-8")],
)  # fmt: skip
def test_a_drawing_that_is_none_is_one_line_that_names_the_domain(
    file: object, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "latin.mjs").write_bytes(b"// \xe4")
    with pytest.raises(StsError, match=f"^domain 'pond': .*{re.escape(what)}"):
        drawing(drawn_by(file, tmp_path, monkeypatch))


def test_worlds_of_frames_have_none_and_what_is_drawn_comes_with_its_world() -> None:
    assert drawing(domain("tests.domains.worlds:Lanterns")) == ""
    assert "export function paint(" in drawing(domain("lambda-star"))


def test_a_domain_whose_scenes_nothing_draws_does_not_keep_its_promises() -> None:
    claims = {one.claim: one for one in check(f"{__name__}:Undrawn", seeds=2, steps=8)}
    assert claims["pictured"].how == "its scenes are drawn, but it has no drawing"
