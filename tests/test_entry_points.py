"""What packages declare is read as `importlib.metadata` reads it."""

import importlib.metadata
import sys
from pathlib import Path

import pytest

from sts import entry_points
from sts.entry_points import EntryPoint
from tests.plugins.installing import declare


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder that is first on the path, read anew; another one follows it."""
    monkeypatch.setattr(sys, "path", [str(tmp_path / "first"), str(tmp_path / "second")])
    monkeypatch.setattr(entry_points, "_read_all", entry_points._read_all.__wrapped__)
    return tmp_path


def test_entry_points_equal_those_of_importlib():
    for group in importlib.metadata.entry_points().groups:
        expected = {(p.name, p.value) for p in importlib.metadata.entry_points(group=group)}
        assert {(p.name, p.value) for p in entry_points.list_group(group)} == expected
    assert entry_points.list_group("sts.commands")


def test_first_package_of_a_name_on_the_path_counts(site):
    declare(site / "second", "pond-world", "1.0", {"sts.domains": {"pond": "pond:Old"}})
    declare(site / "first", "Pond_World", "2.0", {"sts.domains": {"pond": "pond:New"}})
    declare(site / "second", "lake", "1.0", {"sts.domains": {"lake": "lake:Lake"}})
    points = entry_points.list_group("sts.domains")
    assert [(p.name, p.value, p.package) for p in points] == [
        ("lake", "lake:Lake", "lake"),
        ("pond", "pond:New", "Pond_World"),
    ]


def test_entry_point_names_exclude_comments_spaces_and_extras(site):
    declare(site / "first", "pond", "1.0", {})
    (file,) = (site / "first").glob("*/entry_points.txt")
    file.write_text("# a note\n\n[sts.domains]\n ; another\n path = os.path : join [extra]\n")
    (point,) = entry_points.list_group("sts.domains")
    assert point.name == "path"
    assert point.load()("a", "b") == str(Path("a", "b"))


def test_entry_point_may_be_a_module():
    assert EntryPoint("sys", "sys", "group", "nowhere").load() is sys
    assert EntryPoint("sys", "sys", "group", "nowhere").package == "a package"
