"""A domain's drawing for the browser is read from the folder of its own class."""

import re
import sys
from typing import Any

import pytest

from sts.domains import load_domain
from sts.domains.conformance import check
from sts.domains.drawing import read_drawing
from sts.errors import StsError
from sts_lambda_star.domain import LambdaStar


class Undrawn(LambdaStar):
    """A domain whose scenes have no drawing."""

    drawing = ""


INVALID = "expected `drawing` as the"


@pytest.mark.parametrize(
    ("file", "what"),
    [
        ("pond.mjs", None),
        ("none.mjs", "none.mjs in the folder of"),
        ("../pond.mjs", INVALID),
        ("pond.py", INVALID),
        (7, INVALID),
        ("/etc/x.mjs", INVALID),
        ("latin.mjs", "is not UTF-8"),
    ],
)
def test_drawing_is_a_script_next_to_its_module(file, what, tmp_path, monkeypatch):
    (tmp_path / "pond.mjs").write_text("export const paint = () => null; // ≈≈≈", "utf-8")
    (tmp_path / "latin.mjs").write_bytes(b"// \xe4")
    text = f"class Pond:\n    name = 'pond'\n    drawing = {file!r}\n"
    (tmp_path / "pond.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("pond", None)
    module: Any = __import__("pond")
    if what is None:
        assert read_drawing(module.Pond()).endswith("// ≈≈≈")
    else:
        with pytest.raises(StsError, match=f"^domain 'pond': .*{re.escape(what)}"):
            read_drawing(module.Pond())


def test_worlds_without_frames_must_have_a_drawing():
    assert read_drawing(load_domain("tests.domains.worlds:Lanterns")) == ""
    assert "export function paint(" in read_drawing(load_domain("lambda-star"))
    claims = {one.claim: one for one in check(f"{__name__}:Undrawn", seeds=2, steps=8)}
    assert claims["pictured"].how == "its scenes are drawn, but it has no drawing"
