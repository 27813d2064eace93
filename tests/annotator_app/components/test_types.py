"""The types that the scripts are checked against name what the server sends."""

from __future__ import annotations

import re

import pytest

from sts.annotations.types import Annotator
from sts.viewer import scripts
from sts_annotator_app.components import HERE
from tests.annotator_app.served.test_viewer import string
from tests.annotator_app.test_plays import Table, ann, table

__all__ = ["ann", "table"]  # fixtures


def declared(name: str) -> dict[str, bool]:
    """Return the fields of a type, and whether each may be missing."""
    files = [folder / "types.d.ts" for folder in (HERE, scripts.HERE)]
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    found = re.search(rf"^type {name} = \{{\n(.*?)^\}};", text, re.MULTILINE | re.DOTALL)
    assert found, f"there is no type {name}"
    return {
        field: bool(mark) for field, mark in re.findall(r"^  (\w+)(\??):", found[1], re.MULTILINE)
    }


@pytest.mark.parametrize("name", ["Payload", "Shown"])
def test_the_types_name_what_the_server_sends(name: str, table: Table, ann: Annotator) -> None:
    sent = string() if name == "Payload" else table.sends(ann, None)
    sent.pop("author", None)
    fields = declared(name)
    assert sent.keys() <= fields.keys()
    assert {field for field, optional in fields.items() if not optional} <= sent.keys()
