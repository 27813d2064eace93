"""The packaged recipe: a suite of people's recordings as decisions alone."""

import msgspec
import pytest

from sts.cli.main import main
from sts.errors import ArgumentError, DamagedData, UnknownName
from sts.storage.files import content_hash
from sts.storage.workspace import Workspace
from sts.suites import suite_store as suites
from sts.trajectories import trajectory_store as trajectories
from sts_overcooked import trials
from sts_scenarios.draft import recipes

HASHES = {
    45: "a331da00ea446671232d68e8038cc8ee3914c76b87aa6cc3d7fa5006166810e4",
    4: "a08c41a904f030cc482c2a32b3d3026f09552a1740cc4ca498c1f34dbd982a00",
}
"""Of the hashes of all scenarios, and of the first four; the same on every machine."""


def leave_scenarios(monkeypatch, count):
    """Leave the first scenarios in the recipe, and of the trials those that they are from."""
    recipe, files = recipes.load_recipe("kitchen"), trials.installed_files()[1:]
    items = recipe.scenario[:count]
    named = {item.trajectory.partition(" (")[0] for item in items}
    kept = [t for t in trials.read_trials(*files) if f"{trials.SOURCE_NAME} {t.name}" in named]
    small = msgspec.structs.replace(recipe, scenario=items)
    monkeypatch.setattr(recipes, "load_recipe", lambda name: small)
    monkeypatch.setattr(trials, "installed_files", lambda: files)
    monkeypatch.setattr(trials, "read_trials", lambda path: kept)
    monkeypatch.setattr(trials, "count_workers", lambda paths: (17, 16))


@pytest.mark.landing
@pytest.mark.parametrize("count", [4, pytest.param(45, marks=pytest.mark.slow)])
def test_recipe_makes_the_same_unreviewed_suite_everywhere(count, tmp_path, capsys, monkeypatch):
    if count < 45:
        leave_scenarios(monkeypatch, count)
    words = ("suite", "build", "kitchen", "--workspace", str(tmp_path))
    assert main([*words]) == 0
    assert "instructions not reviewed by a second person\n" in capsys.readouterr().out
    workspace = Workspace.open(tmp_path)
    suite = suites.load(workspace, "kitchen@1")
    assert content_hash(*(s.hash.encode() for s in suite.scenarios)) == HASHES[count]
    assert set(suite.unreviewed) == {s.id for s in suite.scenarios}
    assert len(suite.unreviewed) == count
    kinds = {p.kind for t in trajectories.load(workspace) for p in t.players}
    assert kinds == {"human"} and not workspace.path("annotations.sqlite3").exists()
    assert main([*words]) == 2
    assert "kitchen@1 is already frozen" in capsys.readouterr().err
    assert main(["suite", "verify", "kitchen@1", "--workspace", str(tmp_path)]) == 0


def test_recipe_has_decisions_only_from_many_trials():
    recipe = recipes.load_recipe("kitchen")
    fields = set(recipes.RecipeScenario.__struct_fields__)
    assert {"trajectory", "takeover", "player", "instruction", "criterion"} <= fields
    assert fields.isdisjoint({"actions", "state", "verdict", "vote", "label"})
    assert len({item.trajectory for item in recipe.scenario}) >= 15
    assert all(item.criterion and "test trial" in item.trajectory for item in recipe.scenario)
    texts = [item.instruction for item in recipe.scenario]
    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        (None, ArgumentError, "no recipe at .*; check the path"),
        ("suite = 1", DamagedData, "not a recipe: "),
        ("format = 'recipe/2'", DamagedData, "not a recipe"),
        ("[[", DamagedData, "not a recipe"),
    ],
)
def test_invalid_recipe_is_refused_in_one_sentence(tmp_path, text, error, words):
    path = tmp_path / "own.toml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(error, match=words):
        recipes.load_recipe(str(path))
    with pytest.raises(UnknownName, match="unknown recipe 'kitchn'; known: kitchen"):
        recipes.load_recipe("kitchn")
