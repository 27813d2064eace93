"""What packages declare is read as `importlib.metadata` reads it."""

import importlib.metadata
import re
import sys
from pathlib import Path

import pytest

from sts import entry_points
from sts.entry_points import EntryPoint
from sts.errors import StsWarning
from tests.plugins.installing import declare


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder that is first on the path, read anew; another one follows it."""
    monkeypatch.setattr(sys, "path", [str(tmp_path / "first"), str(tmp_path / "second")])
    monkeypatch.setattr(entry_points, "_read_all", entry_points._read_all.__wrapped__)
    return tmp_path


def test_entry_points_are_those_of_importlib_and_of_plug_in_modules():
    registered = [
        (group, name, value)
        for plugin in importlib.metadata.entry_points(group=entry_points.PLUGINS)
        for group, values in plugin.load().ENTRY_POINTS.items()
        for name, value in values.items()
    ]
    assert len(registered) > 50
    for group in importlib.metadata.entry_points().groups | {group for group, *_ in registered}:
        expected = {(p.name, p.value) for p in importlib.metadata.entry_points(group=group)}
        expected |= {(name, value) for own, name, value in registered if own == group}
        assert {(p.name, p.value) for p in entry_points.list_group(group)} == expected
    assert entry_points.list_group("sts.commands")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("ENTRY_POINTS = {'sts.domains': 3}", "AttributeError: 'int' object has no attribute"),
        ("POINTS = {}", "AttributeError: module 'broken_plugin' has no attribute"),
        ("raise RuntimeError('no sea\\nhere')", "RuntimeError: no sea here"),
    ],
)
def test_unusable_plug_in_module_registers_nothing_and_is_named(site, monkeypatch, text, reason):
    (site / "first").mkdir()
    (site / "first" / "broken_plugin.py").write_text(text)
    monkeypatch.delitem(sys.modules, "broken_plugin", raising=False)
    declare(site / "first", "sea", "1.0", {"sts.plugins": {"sea": "broken_plugin"}})
    declare(site / "second", "lake", "1.0", {"sts.domains": {"lake": "lake:Lake"}})
    message = f"plug-in broken_plugin of sea registers nothing: {reason}"
    with pytest.warns(StsWarning, match=re.escape(message)):
        points = entry_points.list_group("sts.domains")
    assert [point.name for point in points] == ["lake"]


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
