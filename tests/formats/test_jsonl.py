"""The importer `jsonl`: episodes of other programs, a line each."""

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sts.cli.main import main
from sts.domains import load_domain
from sts.domains.envelope import remove_envelope
from sts.domains.gymnasium import GymnasiumEnvironment
from sts.errors import DamagedData
from sts.formats import jsonl
from sts.storage.workspace import Workspace
from sts.trajectories import trajectory_store as store
from tests.trajectories.bell import NAME as BELL
from tests.trajectories.bell import Bell

ANA = {"kind": "human", "name": "ana"}
BOTH = [ANA, {"kind": "agent", "name": "walker-2"}]
CART: dict[str, Any] = {
    "domain": "gymnasium:CartPole-v1",
    "seed": 5,
    "actions": [0, 1, 1],
    "who": [ANA],
}
RING: dict[str, Any] = {"seed": 0, "actions": [[1, "stay"], ["on", 1]], "who": BOTH}


class Shaken(GymnasiumEnvironment):
    id, action_names = "CartPole-v1", ("left", "right")


def write(folder: Path, *lines: Any) -> Path:
    path = folder / "log.jsonl"
    path.write_text("".join(f"{x if isinstance(x, str) else json.dumps(x)}\n" for x in lines))
    return path


def test_line_with_a_seed_is_replayed_like_the_environment(tmp_path):
    environment = Shaken()
    environment.reset(5)
    rewards = [environment.step([move])[0] for move in CART["actions"]]
    (found,) = jsonl.read(write(tmp_path, CART | {"rewards": rewards, "split": "test", "id": "a7"}))
    world: Any = load_domain(CART["domain"])
    assert json.loads(remove_envelope(world.name, world.version, found.episode.state))["seed"] == 5
    assert found.episode.actions.tolist() == [[0], [1], [1]]
    assert found.episode.scene[-1].tobytes() == environment.digest()
    assert (found.split, found.provenance["id"], found.players[0].name) == ("test", "a7", "ana")


def test_names_of_moves_options_and_instructions_are_read(tmp_path):
    told = [{"text": "Go on.", "given_at": 1, "player": 1}]
    every = [RING | {"options": {"cells": 9}}, RING | {"instructions": told}]
    plain, asked = jsonl.read(write(tmp_path, *every), domain=BELL)
    assert plain.episode.actions.tolist() == [[1, 0], [1, 1]]
    assert [i.text for i in plain.instructions] == ["Ring the bell."]
    (own,) = asked.instructions
    assert (own.text, own.given_at, own.player, own.source) == ("Go on.", 1, 1, "setter")
    assert plain.world != asked.world and plain.players[1].kind == "agent"


def test_line_with_a_state_starts_from_it(tmp_path):
    bell = Bell()
    bell.reset(4)
    bell.step([1, 1])
    line = {"state": base64.b64encode(bell.state()).decode(), "actions": [[1, 0]], "who": BOTH}
    (found,) = jsonl.read(write(tmp_path, line), domain=BELL)
    bell.step([1, 0])
    world = load_domain(BELL)
    last = world.restore([found.episode.state])
    last.step(found.episode.actions[0][None], np.zeros((1, 2), np.int8))
    assert json.loads(remove_envelope(BELL, "1", last.states()[0])) == [bell.at, bell.cells]


def test_actions_that_are_arrays_are_read(tmp_path):
    line = {"domain": "gymnasium:Pendulum-v1", "seed": 1, "actions": [[0.5], [-2]], "who": [ANA]}
    (found,) = jsonl.read(write(tmp_path, line))
    assert found.episode.actions.tolist() == [[[0.5]], [[-2.0]]]
    assert found.episode.actions.dtype == np.float32


def test_imported_file_is_stored_and_replays(tmp_path, capsys):
    line = {"domain": "lambda-star", "seed": 3, "actions": ["up"] * 6, "who": [ANA]}
    file = write(tmp_path, line)
    words = ["--format", "jsonl", "--workspace", str(tmp_path / "w")]
    assert main(["trajectories", "import", str(file), *words]) == 0
    assert "1 trajectory, every step replayed exactly" in capsys.readouterr().out
    (found,) = store.load(Workspace.open(tmp_path / "w"))
    assert found.source == "jsonl log.jsonl line 1" and found.episode.steps == 6


BAD = [
    ("[]", "expected a JSON object, found list"),
    ("{", "expected a JSON object in UTF-8"),
    (CART | {"speed": 1}, "unknown field 'speed'; expected domain, seed"),
    (CART | {"seed": "1"}, "seed: expected int, found '1'"),
    (CART | {"seed": True}, "seed: expected int, found True"),
    (CART | {"seed": -1}, "seed: expected 0 to 2147483647, found -1"),
    (CART | {"state": "AA=="}, "expected a seed, with options if there are any, or else a state"),
    ({**CART, "seed": 1, "options": {"nope": 1}}, "cannot make 'CartPole-v1'"),
    (CART | {"actions": []}, "expected actions of 1 step or more, and who played"),
    (CART | {"actions": [0, 2]}, "actions: expected for each step one of 0, 1 or their numbers"),
    (CART | {"actions": [0, True]}, "actions: expected for each step one of 0, 1"),
    (CART | {"actions": [0, [1]]}, "actions: expected for each step one of 0, 1"),
    (CART | {"actions": [0] * 50}, "the episode ends with step"),
    (CART | {"rewards": [1, 1, 0.9]}, "step 2: player 0 receives 1, recorded 0.9"),
    (CART | {"rewards": [1, 1]}, "rewards: expected a number, or one for each player, for 3 steps"),
    (CART | {"who": BOTH}, "who: expected 1 player, found 2"),
    (CART | {"who": ["ana"]}, "who: expected a kind (human, agent, script) and a name"),
    (CART | {"split": "dev"}, "split: expected train or test, found 'dev'"),
    (CART | {"instructions": [{"text": "x", "given_at": 4}]}, "steps from 0 to 3 and a player"),
    (CART | {"instructions": [{"text": " "}]}, "instructions: expected a text"),
    (CART | {"instructions": [{"words": "x"}]}, "instructions: expected text, given_at, player"),
    (CART | {"domain": "cart"}, "unknown domain 'cart'"),
    (RING, "expected a field domain, or --domain"),
    (RING | {"domain": BELL}, "would run the code of a module: allow it by --domain"),
    (RING | {"domain": "gymnasium:os:Cart-v0"}, "would run the code of a module"),
]


@pytest.mark.parametrize(("line", "reason"), BAD)
def test_bad_line_is_refused_with_its_number_and_the_reason(tmp_path, line, reason):
    with pytest.raises(DamagedData) as error:
        jsonl.read(write(tmp_path, CART, "", line))
    assert "1 of 2 lines refused, so nothing was added: line 3: " in str(error.value)
    assert reason in str(error.value)


def test_reasons_of_many_lines_are_grouped(tmp_path):
    lines = [RING] * 12 + [CART | {"seed": -number} for number in range(1, 13)]
    with pytest.raises(DamagedData) as error:
        jsonl.read(write(tmp_path, *lines))
    assert "24 of 24 lines refused" in str(error.value)
    assert "lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, and 2 more: expected a field" in str(error.value)
    assert str(error.value).endswith("; and 3 more")
