"""A world that comes in a separate package, `tests/data/pond`, used by every command."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.plugins.installing import ROOT, Said, environment, install, session
from tests.programs import require_program

POND = ROOT / "tests" / "data" / "pond"
AGENTS = "--agent ferryman --agent drifter"
DEMO = "demo --domain pond --no-app --continuations 1 --workers 1 --workspace demo --json"
BEFORE = (
    "--help",
    "record --help",
    "domain ls --json",
    "domain check pond --seeds 2 --steps 12 --team 2 --json",
    "pond --jetties 9 --seed 3 --json",
    f"trajectories import {POND / 'village.log'} --format ferry-log --json",
    f"record {AGENTS} --episodes 40 --steps 30 --jetties 6 --team 2 --seed 1 --json",
    "record --agent drifter --episodes 20 --steps 30 --env-option passengers=4 --json",
    "record --agent drifter --episodes 1 --size 10x10",
    "record --agent oracle --episodes 1 --jetties 6",
    "record --agent drifter --agent oracle --episodes 1",
    "trajectories verify --json",
    "trajectories ls --json",
    "mine pond --per-category 4 --json",
    "draft accept pond --all",
    "suite freeze pond",
    "suite verify pond@1",
    "suite show pond@1 --json",
    f"run pond@1 {AGENTS} --continuations 2",
    "label pond@1 --json",
    f"measure passengers {AGENTS} --json",
    "show pond@1/fetch-a-passenger-01 --agent ferryman --agent drifter",
    "report pond@1 --out report",
    "demo --domain lagoon",
)


class Pond(NamedTuple):
    """A pond that was recorded, mined and judged.

    Attributes:
      site: the folder in which it is installed.
      folder: the folder of the workspace.
      said: what each command printed.
    """

    site: Path
    folder: Path
    said: dict[str, Said]


@pytest.fixture(scope="module")
def pond(tmp_path_factory: pytest.TempPathFactory) -> Pond:
    folder = tmp_path_factory.mktemp("pond")
    site = tmp_path_factory.mktemp("site")
    install(POND, site, "sts_pond")
    return Pond(site, folder, dict(zip(BEFORE, session(site, folder, *BEFORE), strict=True)))


def test_command_flags_and_domain_of_the_package_are_listed(pond):
    assert "  pond          show how a new pond looks" in pond.said["--help"].out
    said = " ".join(pond.said["record --help"].out.split())
    assert "--jetties N pond: side by side (default: 7)" in said
    team = "--team P lambda-star: number of players (default: 1); pond: ferries (default: 2)"
    assert team in said
    domains = pond.said["domain ls --json"].json["domains"]
    assert {"domain": "pond", "actions": "wait, left, right, load, land"} in domains
    assert pond.said["pond --jetties 9 --seed 3 --json"].json["jetties"] == 9
    found = pond.said["domain check pond --seeds 2 --steps 12 --team 2 --json"].json
    assert {one["claim"]: one["verdict"] for one in found["claims"]}["pictured"] == "ok"
    assert found["failed"] == 0


def test_flags_of_a_world_are_used_by_it_and_refused_by_others(pond):
    first, other = (pond.said[line].json["trajectories"][0] for line in BEFORE[6:8])
    lines = (f"trajectories show {id} --json" for id in (first, other))
    states = [one.json["state"] for one in session(pond.site, pond.folder, *lines)]
    assert [len(state["ferries"]) for state in states] == [2, 2]
    assert [state["jetties"] for state in states] == [6, 7]
    assert [len(state["passengers"]) for state in states] == [3, 4]
    foreign = [pond.said[line] for line in BEFORE[8:11]]
    assert [one.code for one in foreign] == [2, 2, 2]
    assert [one.err for one in foreign] == [
        "sts: --size is for lambda-star; for pond expected --jetties, --team, --env-option "
        "KEY=VALUE\n",
        "sts: --jetties is for pond; for lambda-star expected --size, --team, --patterns, "
        "--env-option KEY=VALUE\n",
        "sts: expected agents made for the same environments, found: drifter plays in pond, "
        "oracle plays in lambda-star\n",
    ]


def test_recorded_and_imported_episodes_of_the_world_replay(pond):
    assert pond.said[BEFORE[5]].json["files"][0]["trajectories"] == 4
    found = pond.said["trajectories verify --json"].json
    assert found["exact"] == found["trajectories"] == 4 + 2 * 40 + 20
    sources = {one["source"] for one in pond.said["trajectories ls --json"].json}
    assert sources == {"sts", "ferry-log"}


def test_categories_of_the_world_are_mined_frozen_labelled_and_reported(pond):
    mined = pond.said["mine pond --per-category 4 --json"].json["categories"]
    chosen = {one["category"]: one["chosen"] for one in mined}
    assert chosen == {"bring-them-home": 4, "fetch-a-passenger": 4}
    assert "8 scenarios" in pond.said["suite verify pond@1"].out
    shown = pond.said["suite show pond@1 --json"].json["scenarios"]
    assert len({one["instruction"]["text"] for one in shown}) == 6
    labels = {one["agent"]: one for one in pond.said["label pond@1 --json"].json["agents"]}
    assert labels["ferryman"]["pass_rate"] > 0.8 > 0.5 > labels["drifter"]["pass_rate"]
    strip = pond.said["show pond@1/fetch-a-passenger-01 --agent ferryman --agent drifter"]
    assert "~  ~" in strip.out and strip.out.count("┃") > 3
    assert pond.said["report pond@1 --out report"].code == 0
    report = json.loads((pond.folder / "report" / "report.json").read_text())
    assert [row["agent"] for row in report["ranking"]["rows"]] == ["ferryman", "drifter"]
    scores = pond.said[f"measure passengers {AGENTS} --json"].json["scores"]
    counts = {(row["agent"], row["metric"], row["n"]) for row in scores}
    assert counts == {("ferryman", "passengers", 40), ("drifter", "passengers", 60)}
    (row,) = report["correlations"]["rows"]
    assert (row["first"], row["second"]) == ("pass_rate", "passengers")
    measured = [
        {row["agent"]: row["value"] for row in rows}
        for rows in (report["correlations"]["scores"], scores)
    ]
    assert measured[0] == measured[1]


def test_demo_of_the_world_is_known(pond):
    assert "overcooked, pond" in pond.said["demo --domain lagoon"].err


@pytest.mark.slow
def test_demo_of_the_world_runs_the_whole_pipeline(pond):
    (said,) = session(pond.site, pond.folder, DEMO)
    made = [one["command"][0] for one in said.json]
    assert made == "record mine draft suite suite run show label report".split()


def test_packaged_suite_of_the_world_is_in_every_workspace(pond, tmp_path):
    frozen = pond.folder / "sts-workspace" / "suites" / "pond"
    packaged = pond.site / "sts_pond" / "suites" / "pond"
    shutil.copytree(frozen, packaged)
    try:
        listed, verified = session(pond.site, tmp_path, "suite ls --json", "suite verify pond@1")
    finally:
        shutil.rmtree(packaged)
    (found,) = (one for one in listed.json if one["suite"] == "pond@1")
    assert (found["where"], found["scenarios"], verified.code) == ("packaged", 8, 0)


PAGE = """
import json, sys
from sts_annotator_app.components import load_component as component
from sts.viewer.payload import continuation_payload
from sts.continuations import continuation_store as store
from sts.domains import load_domain
from sts.domains.drawing import read_drawing
from sts.storage.workspace import Workspace
from sts.suites import suite_store as suites

workspace = Workspace.open("sts-workspace")
(first, *_) = store.load(workspace, [s.hash for s in suites.load(workspace, "pond@1").scenarios])
text = read_drawing(load_domain("pond"))
script = component("player", {"pond": text}).js
payload = continuation_payload(workspace, first)
print(json.dumps({"payload": payload, "text": text, "script": script}))
"""

PAINT = """
const { payload, text } = JSON.parse(require("fs").readFileSync(0, "utf8"));
const words = new Uint16Array(new Uint8Array(Buffer.from(payload.scene, "base64")).buffer);
const count = payload.names.length;
const episode = { ...payload, scene: (frame) => words.slice(frame * count, (frame + 1) * count) };
const letters = [];
const brush = new Proxy({}, {
  get: (_, name) => (...given) => name === "fillText" && letters.push(given[0]),
  set: () => true,
});
const canvas = { width: 700, height: 300, getContext: () => brush };
const options = { background: "#fff", text: "#222", grid: "#ccc", edge: "#222", scale: 1 };
import(`data:text/javascript,${encodeURIComponent(text)}`).then((drawing) => {
  const places = drawing.paint(canvas, episode, episode.takeover, options);
  const words = drawing.describe(episode, 0);
  console.log(JSON.stringify({ places: places.length, letters, words }));
});
"""


@pytest.mark.node
def test_player_draws_the_world_with_its_own_script(pond):
    page = subprocess.run(
        [sys.executable, "-c", PAGE],
        cwd=pond.folder,
        env=environment(pond.site),
        capture_output=True,
        text=True,
    )
    assert page.returncode == 0, page.stderr
    sent = json.loads(page.stdout)
    assert sent["payload"]["drawing"] == "pond"
    assert "How a pond looks in a browser" in sent["script"]
    words = [require_program("node"), "-e", PAINT]
    painted = subprocess.run(words, input=page.stdout, capture_output=True, text=True)
    assert painted.returncode == 0, painted.stderr
    found = json.loads(painted.stdout)
    assert found["places"] == 5
    assert found["letters"] == ["A", "B", "1", "2", "3"]
    assert found["words"].startswith("ferry A afloat at jetty ")
