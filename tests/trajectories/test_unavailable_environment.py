"""What was made where there is a world is kept, listed and reported where there is none."""

import contextlib
import importlib
import json
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sts.cli.main import main
from sts.domains import load_domain, registry
from sts.domains.envelope import add_envelope
from sts.errors import DamagedState, MissingExtra, NewerFormat, OtherVersion
from tests.examples import in_this_process, recorded

NAME = "garden_of_ones_own"
SOURCE = """
from tests.domains.keepers import category
from tests.domains.worlds import Lanterns

class Garden(Lanterns):
    version = "1"

LIGHT_ONE = category("garden_of_ones_own:Garden")
"""


def put(source: str | None) -> None:
    """Replace the garden's module in the current folder, or remove it."""
    file = Path(f"{NAME}.py")
    file.unlink(missing_ok=True) if source is None else file.write_text(source)
    sys.modules.pop(NAME, None)
    importlib.invalidate_caches()
    registry.load_domain.cache_clear()


@contextlib.contextmanager
def enter_garden(folder: Path) -> Iterator[None]:
    """Make a folder the current one, whose modules are found."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(sys, "path", [str(folder), *sys.path])
        patch.setattr(sys, "dont_write_bytecode", True)
        put(SOURCE)
        yield
    sys.modules.pop(NAME, None)
    registry.load_domain.cache_clear()


@pytest.fixture(scope="module")
def garden_workspace(tmp_path_factory):
    """Return a workspace with recordings of Λ* and of the garden, and a suite of the garden."""
    folder, garden = tmp_path_factory.mktemp("kept"), f"--domain {NAME}:Garden"
    keeper, category = "--agent tests.domains.keepers:Keeper", f"--category {NAME}:LIGHT_ONE"
    with enter_garden(folder), pytest.MonkeyPatch.context() as patch:
        in_this_process(patch)
        for line in (
            "record --episodes 20 --steps 60 --agent rule",
            f"record {garden} --episodes 20 --steps 30 {keeper}",
            f"mine g {category}",
            "draft accept g --all",
            f"suite freeze g {category}",
            f"run g@1 --continuations 2 {keeper}",
            f"label g@1 {category}",
        ):
            assert main([*line.split(), "--workspace", "w"]) == 0, line
    return folder / "w"


@pytest.fixture
def run_sts(garden_workspace, tmp_path, capsys):
    """Return a function that runs `sts` in a copy of that workspace: its code and its output."""
    shutil.copytree(garden_workspace, tmp_path / "w")
    with enter_garden(tmp_path):
        yield lambda line: (main([*line.split(), "--workspace", "w"]), *capsys.readouterr())


OTHER = (
    f"the state was made by version '1' of {NAME}:Garden, but '2' is installed; install the "
    "former, or record or import again"
)


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (None, f"cannot import {NAME}: ModuleNotFoundError"),
        (SOURCE.replace('"1"', '"2"'), OTHER),
    ],
)
def test_unavailable_environment_blocks_nothing_else(run_sts, source, why):
    put(source)
    for line in (
        *("trajectories ls", "suite ls", "suite show g@1", "report g@1"),
        "mine stars --category where-is-good",
    ):
        code, out, error = run_sts(line)
        assert code == 0 and "CANNOT BE USED" not in out, (line, error)
    code, out, _ = run_sts("trajectories verify --json")
    value = json.loads(out)
    assert (code, value["exact"], value["trajectories"]) == (1, 20, 40)
    (reason,) = value["elsewhere"]
    assert why in reason["why"] and len(reason["ids"]) == 20
    one = reason["ids"][0]
    code, out, _ = run_sts(f"trajectories show {one}")
    assert code == 0 and f"its world cannot be shown here: {reason['why']}" in out
    if source is not None:
        own = f"mine more --category {NAME}:LIGHT_ONE"
        code, _, error = run_sts(own)
        gone = rf"\d+ trajectories of {NAME}:Garden"
        assert code != 0 and why in error
        assert re.match(f"sts: {gone} cannot be mined: ", error) and error.count("\n") == 1
        code, out, error = run_sts(f"{own} --category where-is-good --json")
        assert code == 0 and why in error
        assert re.match(f"sts: warning: {gone} are left out: ", error)
        assert list(json.loads(out)["absent"]) == [f"{NAME}:Garden"]
    code, _, error = run_sts(f"trajectories export o --format rlds --domain {NAME}:Garden")
    assert code != 0 and error.startswith(f"sts: trajectory {one}: ") and why in error
    for line in ("run g@1 --agent tests.domains.keepers:Resting", "suite verify g@1"):
        code, _, error = run_sts(line)
        assert code != 0 and "light-one-" in error and why in error
        assert error.count("\n") == 1


def test_failing_render_blocks_nothing(run_sts):
    put(f"{SOURCE}\ndef broken(self):\n    raise RuntimeError('ink')\nGarden.render = broken\n")
    for line in ("trajectories verify", "suite show g@1", "report g@1"):
        code, _, error = run_sts(line)
        assert code == 0, (line, error)


def test_missing_library_or_other_version_is_not_reported_as_damage(monkeypatch):
    lanterns = load_domain("tests.domains.worlds:Lanterns")
    (state,) = lanterns.generate(1, seed=0)
    episode = replace(recorded(count=1)[0].episode, domain=lanterns.name, state=state)
    assert registry.why_unavailable(episode) is None
    older = add_envelope(lanterns.name, "0", b"")
    assert isinstance(registry.why_unavailable(replace(episode, state=older)), OtherVersion)
    later = state[:4] + b"\x63" + state[5:]
    assert isinstance(registry.why_unavailable(replace(episode, state=later)), NewerFormat)
    for damaged in (state[:-1], state[:-9] + b"x" + state[-8:], b""):
        with pytest.raises(DamagedState, match="^file: row: "):
            registry.validate_episodes([replace(episode, state=damaged)], ["file: row"])

    def missing(name):
        raise MissingExtra("it needs a library: pip install it")

    monkeypatch.setattr(registry, "load_domain", missing)
    assert registry.validate_episodes([episode], ["file: row"]) == [episode]
    with pytest.raises(MissingExtra, match="^scenario x: it needs a library: pip install it$"):
        registry.require_domain(episode, "scenario x")
