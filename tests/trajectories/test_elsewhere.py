"""What was made where there is a world is kept, listed and reported where there is none."""

import contextlib
import importlib
import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sts.cli.main import main
from sts.domains import domain, registry
from sts.domains.envelope import wrap
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
Told = Callable[..., tuple[int, str, str]]


def put(source: str | None) -> None:
    """Put the garden's module into the current folder as if by somebody else, or takes it away."""
    Path(f"{NAME}.py").unlink(missing_ok=True)
    if source is not None:
        Path(f"{NAME}.py").write_text(source)
    sys.modules.pop(NAME, None)
    importlib.invalidate_caches()
    registry.domain.cache_clear()


@contextlib.contextmanager
def at(folder: Path) -> Iterator[None]:
    """Make a folder the current one, whose modules are found."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(sys, "path", [str(folder), *sys.path])
        patch.setattr(sys, "dont_write_bytecode", True)
        yield
    sys.modules.pop(NAME, None)
    registry.domain.cache_clear()


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with recordings of Λ* and a suite of the garden, as long as that is there."""
    folder = tmp_path_factory.mktemp("kept")
    keeper = ("--agent", "tests.domains.keepers:Keeper")
    made = ("--episodes", "20", "--steps", "30", *keeper)
    with at(folder), pytest.MonkeyPatch.context() as patch:
        in_this_process(patch)
        put(SOURCE)
        for words in (
            ("record", "--episodes", "20", "--steps", "60", "--agent", "rule"),
            ("record", "--domain", f"{NAME}:Garden", *made),
            ("mine", "g", "--category", f"{NAME}:LIGHT_ONE"),
            ("draft", "accept", "g", "--all"),
            ("suite", "freeze", "g", "--category", f"{NAME}:LIGHT_ONE"),
            ("run", "g@1", "--continuations", "2", *keeper),
            ("label", "g@1", "--category", f"{NAME}:LIGHT_ONE"),
        ):
            assert main([*words, "--workspace", "w"]) == 0, words
    return folder / "w"


@pytest.fixture
def told(kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Told]:
    """Return what `sts` says in a copy of that workspace."""
    shutil.copytree(kept, tmp_path / "w")

    def told(*words: str) -> tuple[int, str, str]:
        code = main([*words, "--workspace", "w"])
        return code, *capsys.readouterr()

    with at(tmp_path):
        put(SOURCE)
        yield told


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (None, f"cannot import {NAME}: ModuleNotFoundError"),
        (
            SOURCE.replace('"1"', '"2"'),
            f"the state was made by version '1' of {NAME}:Garden, but '2' is installed; install "
            "the former, or record or import again",
        ),
    ],
)
def test_a_world_that_is_not_here_closes_nothing_else(
    told: Told, source: str | None, why: str
) -> None:
    put(source)
    for words in (
        ("trajectories", "ls"),
        ("suite", "ls"),
        ("suite", "show", "g@1"),
        ("report", "g@1"),
        ("mine", "stars", "--category", "where-is-good"),
    ):
        code, out, error = told(*words)
        assert code == 0, (words, error)
        assert "CANNOT BE USED" not in out

    code, out, _ = told("trajectories", "verify", "--json")
    value = json.loads(out)
    assert (code, value["exact"], value["trajectories"]) == (1, 20, 40)
    (reason,) = value["elsewhere"]
    assert why in reason["why"] and len(reason["ids"]) == 20

    one = reason["ids"][0]
    code, out, _ = told("trajectories", "show", one)
    assert code == 0 and f"its world cannot be shown here: {reason['why']}" in out
    if source is not None:
        own = ("--category", f"{NAME}:LIGHT_ONE")
        code, _, error = told("mine", "more", *own)
        gone = rf"\d+ trajectories of {NAME}:Garden"
        assert code != 0 and why in error
        assert re.match(f"sts: {gone} cannot be mined: ", error) and error.count("\n") == 1
        code, out, error = told("mine", "more", *own, "--category", "where-is-good", "--json")
        assert code == 0 and why in error
        assert re.match(f"sts: warning: {gone} are left out: ", error)
        assert list(json.loads(out)["absent"]) == [f"{NAME}:Garden"]
    there = ("--domain", f"{NAME}:Garden")
    code, _, error = told("trajectories", "export", "o", "--format", "rlds", *there)
    assert code != 0 and error.startswith(f"sts: trajectory {one}: ") and why in error
    for words in (
        ("run", "g@1", "--agent", "tests.domains.keepers:Resting"),
        ("suite", "verify", "g@1"),
    ):
        code, _, error = told(*words)
        assert code != 0 and "light-one-" in error and why in error
        assert error.count("\n") == 1


def test_a_world_that_fails_to_draw_itself_closes_nothing(told: Told) -> None:
    put(
        f"{SOURCE}\ndef broken(self):\n    raise RuntimeError('no paint')\nGarden.render = broken\n"
    )
    for words in (("trajectories", "verify"), ("suite", "show", "g@1"), ("report", "g@1")):
        code, _, error = told(*words)
        assert code == 0, (words, error)


def test_a_missing_library_or_another_version_is_a_reason_and_damage_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lanterns = domain("tests.domains.worlds:Lanterns")
    (state,) = lanterns.generate(1, seed=0)
    episode = replace(recorded(count=1)[0].episode, domain=lanterns.name, state=state)
    assert registry.why_unavailable(episode) is None
    older = wrap(lanterns.name, "0", b"")
    assert isinstance(registry.why_unavailable(replace(episode, state=older)), OtherVersion)
    later = state[:4] + b"\x63" + state[5:]
    assert isinstance(registry.why_unavailable(replace(episode, state=later)), NewerFormat)
    for damaged in (state[:-1], state[:-9] + b"x" + state[-8:], b""):
        with pytest.raises(DamagedState, match="^file: row: "):
            registry.checked([replace(episode, state=damaged)], ["file: row"])

    def missing(name: str) -> None:
        raise MissingExtra("it needs a library: pip install it")

    monkeypatch.setattr(registry, "domain", missing)
    assert registry.checked([episode], ["file: row"]) == [episode]
    with pytest.raises(MissingExtra, match="^scenario x: it needs a library: pip install it$"):
        registry.need(episode, "scenario x")
