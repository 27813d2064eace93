"""Agents in an interpreter of their own: the same rows, one line for what goes wrong, none left."""

import ast
import contextlib
import inspect
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from sts import agents
from sts.agents import introspection
from sts.agents.external import child
from sts.agents.external.agent import ExternalAgent
from sts.agents.identity import declared_version
from sts.agents.info import load_info
from sts.cli.main import main
from sts.continuations import continuation_store as store
from sts.continuations.run import run
from sts.continuations.takeover import continue_all
from sts.domains import load_domain
from sts.engine.lockstep import play_episodes
from sts.engine.session import Team
from sts.errors import ArgumentError, StsError
from sts.numerics.streams import stream
from sts.storage.workspace import Workspace
from tests.agents import external, test_contract
from tests.agents.test_contract import assert_same, cases, play_cases
from tests.examples import instructed, scenarios
from tests.waiting import wait_until

pytestmark = pytest.mark.skipif(os.name != "posix", reason="environments are laid out otherwise")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Return a folder of agents, with the environment `apart` in which they are played."""
    folder = tmp_path_factory.mktemp("home")
    external.environment(folder / "apart")
    external.write(folder)
    return folder


@pytest.fixture
def name(home, monkeypatch):
    """Return what spells a class of `brain`; the folder is the current one."""
    monkeypatch.chdir(home)
    monkeypatch.syspath_prepend(str(home))
    return lambda kind: f"{home / 'apart/bin/python'}:brain:{kind}"


@pytest.fixture(scope="module", autouse=True)
def _none_left():
    yield
    child.end_all_processes()
    for module in ("brain", "helper", "twin"):
        sys.modules.pop(module, None)


def pid(agent: Any) -> int:
    found: int = agent.child._process.pid
    return found


def exists(pid: int) -> bool:
    """Return True if a process runs, and is not merely waiting to be reaped."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, 0)
            return not Path("/proc/self").exists()
        return False


def continued(folder: Path, who: str, several: list[Any], **more: Any) -> dict[Any, Any]:
    """Return everything of each continuation that another process may not change."""
    workspace = Workspace.open(str(folder))
    settings = {"count": 3, "seed": 0, "workers": 1} | more
    run(workspace, several, [who], progress=lambda done, total: None, **settings)
    return {
        (c.scenario_hash, c.identity.index): [
            *(a.tobytes() for a in (c.episode.actions, c.episode.utterances, c.episode.scene)),
            *(c.episode.rewards.tobytes(), c.log_probs.tobytes(), c.sees, c.together),
        ]
        for c in store.load(workspace, {s.hash for s in several})
    }


@pytest.mark.parametrize("kind", ["Mine", "Knows"])
def test_external_agent_makes_the_rows_of_the_same_class_in_process(kind, name, tmp_path):
    several = scenarios(3) + scenarios(3, text="Do you see Evil?", horizon=5)
    there = continued(tmp_path / "there", name(kind), several)
    assert there == continued(tmp_path / "here", f"twin:{kind}", several)
    assert len(there) == 18
    for folder, versions in (("there", {"python", "numpy"}), ("here", set())):
        for row in store.load(Workspace.open(str(tmp_path / folder)), {s.hash for s in several}):
            assert set(row.provenance.get("played_by", ())) == versions


def test_wordings_of_an_external_agent_are_read(name):
    assert [*load_info(name("Mine")).wordings] == ["Go to Good."]


def test_workers_and_interruptions_do_not_change_rows_of_external_agents(name, tmp_path):
    several = scenarios(4)
    whole = continued(tmp_path / "whole", name("Mine"), several)
    assert whole == continued(tmp_path / "two", name("Mine"), several, workers=2)
    continued(tmp_path / "parts", name("Mine"), several[:2], count=1)
    assert whole == continued(tmp_path / "parts", name("Mine"), several)


@pytest.mark.parametrize("kind", ["Objects", "Tuples"])
def test_external_agent_may_return_an_object_or_a_tuple(kind, name):
    assert_same(*(play_cases(agents.load(name(one)), cases()) for one in (kind, "Mine")))


CLAIMS = [
    claim
    for title, claim in inspect.getmembers(test_contract, inspect.isfunction)
    if title.startswith("test_") and "found_under_its_own_name" not in title
]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.__name__)
def test_external_agent_satisfies_the_contract(claim, name):
    team = {"players": 3} if "players" in inspect.signature(claim).parameters else {}
    claim(name("Mine"), **team)


def test_external_agent_observes_other_environments_as_in_process(name):
    world = load_domain("tests.domains.worlds:Lanterns")
    states = world.generate(4, seed=1)
    streams = np.array([stream("lanterns", i) for i in range(4)], np.uint64)
    told = instructed(["Keep the lanterns alight."] * 4, [2] * 4)
    teams = ([Team(agents.load(who), (0,), streams)] for who in (name("Keeper"), "twin:Keeper"))
    assert_same(
        *(
            play_episodes(world, world.restore(states), own, steps=6, instructions=told)
            for own in teams
        )
    )


def test_commands_accept_external_agents(name, tmp_path, capsys):
    size = ["--size", "5x5", "--steps", "10", "--episodes", "3", "--practice-episodes", "2"]
    means = []
    for who in (name("Rehearses"), "twin:Rehearses"):
        given = ["--agent", who, *size, "--json", "--workspace", str(tmp_path)]
        assert main(["lambda-star", "score", *given]) == 0, capsys.readouterr().err
        means.append(json.loads(capsys.readouterr().out)["agents"])
    assert means[0] == means[1] and means[0][0]["agent"] == "rehearses"
    line = ["record", "--agent", name("Mine"), "--episodes", "3", "--steps", "8", "--json"]
    assert main([*line, "--workspace", str(tmp_path)]) == 0, capsys.readouterr().err
    recorded = json.loads(capsys.readouterr().out)["trajectories"]
    assert main(["trajectories", "show", recorded[0], "--workspace", str(tmp_path)]) == 0
    assert "mine" in capsys.readouterr().out


def test_output_of_an_external_agent_goes_to_standard_error(name, capfd, monkeypatch):
    child.end_all_processes()
    monkeypatch.setenv("PYTHONHOME", "/nowhere")  # meant for this interpreter, not for another
    agent = agents.load(name("Mine"))
    play_cases(agent, cases().take([0]))
    out, err = capfd.readouterr()
    assert out == ""
    assert all(line in err for line in ("site is imported", "brain is imported", "mine begins"))
    again = agents.load(name("Mine"))  # its process is used again
    assert pid(agent) == pid(again) != os.getpid() and (again.name, again.draws) == ("mine", 2)


@pytest.fixture(scope="module")
def poor(tmp_path_factory):
    """Return a folder of interpreters that cannot play an agent."""
    folder = tmp_path_factory.mktemp("poor")
    external.environment(folder / "bare", numpy=False)
    for title, text in (("says", "#!/bin/sh\necho here is no frame\n"), ("odd", "\0")):
        (folder / title).write_text(text)
        (folder / title).chmod(0o755)
    return folder


@pytest.mark.parametrize(
    ("spelling", "message"),
    [
        ("{folder}/nowhere/python:brain:Mine", ": no such program"),
        ("{folder}:brain:Mine", ": no such program"),
        ("{folder}/says:brain:Mine", "it cannot run the agent server"),
        ("{folder}/odd:brain:Mine", ": Exec format error"),
        ("{folder}/bare/bin/python:brain:Mine", "NumPy cannot be imported"),
        ("{python}:no_brain:Mine", "cannot import no_brain: ModuleNotFoundError"),
        ("{python}:brain:Yours", "module brain has no Yours"),
        ("{python}:brain:NoAgent", "expected a class with a name, initial_state and act"),
        ("{python}:brain:Unnamed", "needs a name"),
        ("{python}:brain:NeedsMore", "cannot be constructed without arguments"),
        (":brain:Mine", "expected agent as PYTHON:module:Class"),
        ("{python}:../brain:Mine", "expected agent as PYTHON:module:Class"),
    ],
)
def test_invalid_external_agent_prints_one_line_error(spelling, message, name, poor, capsys):
    who = spelling.format(folder=poor, python=name("").partition(":")[0])
    before = set(child._processes)
    assert main(["lambda-star", "score", "--agent", who, "--episodes", "2"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("sts: ") and err.count("\n") == 1 and message in err
    assert "Mine" not in who or set(child._processes) == before


@pytest.mark.parametrize("kind", external.WRONG)
def test_error_of_an_external_agent_names_its_step(kind, name, monkeypatch):
    monkeypatch.setattr("sts.jobs.processes.EXIT_TIMEOUT_S", 0.2)
    hangs, message = kind in ("Hangs", "Computes"), external.WRONG[kind][1]
    agent = agents.load(name(kind))
    if hangs:
        monkeypatch.setenv("STS_PATIENCE", "1.5")
    with pytest.raises(StsError, match=f"agent 'bad' (failed )?at step 2: .*{message}"):
        play_cases(agent, cases().take([0]))
    ended = hangs or kind in ("Dies", "Exits", "Closes", "Babbles")
    if not hangs:
        other = agents.load(name(kind))  # the same process, or another in its place, plays on
        with pytest.raises(StsError, match=message):
            play_cases(other, cases().take([0]))
        assert ended == (pid(agent) != pid(other))
    assert ended == (not exists(pid(agent)))


def test_failing_external_agent_costs_other_agents_nothing(name, tmp_path):
    several, workspace = scenarios(4), Workspace.open(str(tmp_path))
    names = [name("Dies"), name("Mine")]
    with pytest.raises(StsError, match="SIGKILL") as caught:
        run(workspace, several, names, count=1, seed=0, workers=1, progress=lambda *_: None)
    assert "\n" not in str(caught.value)
    kept = store.load(workspace, {s.hash for s in several})
    assert sorted(c.agent for c in kept) == ["mine"] * 4


def test_external_agent_that_never_starts_is_ended(name, home, monkeypatch):
    (home / "sleeps.py").write_text("import time; time.sleep(600)")
    monkeypatch.setenv("STS_PATIENCE", "1.5")
    who = name("Mine").replace("brain", "sleeps")
    with pytest.raises(StsError, match="^agent '.*sleeps:Mine': .*python: its process made no"):
        agents.load(who)


PARENT = """
import sys, time, types
import numpy as np
from sts import agents

agent = agents.load(sys.argv[1])
print(agent.child._process.pid, flush=True)
if "Mine" not in sys.argv[1]:
    seen = types.SimpleNamespace(step=np.array([9]))
    agent.act(seen, agents.Instructions(("",), np.zeros(1, np.int32)), {}, np.zeros((1, 1, 2)))
elif sys.argv[2]:
    time.sleep(600)
"""


@pytest.mark.parametrize(
    ("kind", "killed"),
    [
        ("Mine", ""),
        ("Mine", "killed"),
        ("Hangs", "killed"),
        pytest.param(
            *("Computes", "killed"),
            marks=pytest.mark.skipif(sys.platform != "linux", reason="no system call helps"),
        ),
    ],
)
def test_external_process_ends_with_its_parent(kind, killed, name):
    roots = os.pathsep.join([str(Path(__file__).parents[2]), *sys.path])
    process = subprocess.Popen(
        [sys.executable, "-c", PARENT, name(kind), killed],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": roots},
    )
    assert process.stdout is not None and process.stderr is not None
    theirs = int(process.stdout.readline())
    if killed:
        assert kind == "Mine" or any("it hangs" in line for line in process.stderr)
        assert exists(theirs)
        process.kill()
    try:
        process.communicate(timeout=300)  # it has its standard error open
    except subprocess.TimeoutExpired:
        os.kill(theirs, signal.SIGKILL)
        raise
    wait_until(lambda: not exists(theirs))  # it has closed what it had open, and is about to go
    assert process.returncode == (-signal.SIGKILL if killed else 0)


def test_children_of_an_external_process_end_with_it(name, capfd):
    agent = cast(ExternalAgent, agents.load(name("Begins")))
    agent.initial_state(1, 1)
    own = int(capfd.readouterr().err.rpartition("began ")[2].split()[0])
    assert exists(own)
    agent.child.end()
    wait_until(lambda: not exists(own))


@pytest.fixture
def copy(home, tmp_path, monkeypatch):
    """Return a copy of the home folder, which is the current one, and what spells its agent."""
    folder = tmp_path / "copy"
    shutil.copytree(home, folder, symlinks=True)
    monkeypatch.chdir(folder)
    return folder, f"{folder / 'apart' / 'bin' / 'python'}:brain:Mine"


@pytest.mark.parametrize(
    ("file", "old", "new", "same"),
    [
        ("helper.py", "SHARE = 0.25", "SHARE=(0.25)  # of the way", True),
        ("helper.py", "SHARE = 0.25", "SHARE = 0.5", False),
        ("brain.py", "np.arange(3.0)", "np.arange(4.0)", False),
        ("brain.py", '"keeper"', '"porter"', False),
        ("METADATA", "\nVersion: ", "\nVersion: 9", False),
    ],
)
def test_fingerprint_is_that_of_the_code_in_the_other_environment(file, old, new, same, copy, name):
    before = agents.fingerprint(agents.load(name("Mine")))
    assert before == agents.fingerprint(agents.load("brain:Mine"))
    folder, who = copy
    os.chdir(folder)
    if file == "METADATA":
        (info,) = folder.glob("apart/lib/*/site-packages/numpy-*.dist-info")
        own = info.resolve()
        info.unlink()
        shutil.copytree(own, info)
        folder = info
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1))
    assert (agents.fingerprint(agents.load(who)) == before) == same


def test_external_agent_that_changed_since_planning_is_rejected(copy):
    folder, who = copy
    agent = cast(ExternalAgent, agents.load(who))
    mark = agents.fingerprint(agent)
    (folder / "helper.py").write_text("SHARE = 0.75\n")
    assert agents.load_planned(who, mark).name == "mine"  # what it loaded is what it plays
    agent.child.end()
    with pytest.raises(ArgumentError, match="has changed since the run was planned"):
        agents.load_planned(who, mark)


def test_unreadable_external_agent_needs_a_version(name):
    for kind, why in (
        ("Unread", "its model .* cannot be read"),
        ("Inner", "Inner cannot be imported by its name"),
    ):
        with pytest.raises(ArgumentError, match=f"{why}.*declare .*version"):
            agents.fingerprint(agents.load(name(kind)))
    assert declared_version(agents.fingerprint(agents.load(name("Stated")))) == "7"


def test_external_agent_that_changes_its_parameters_is_rejected(name):
    agent = agents.load(name("Drifts"))
    with pytest.raises(StsError, match="agent 'drifts' changed its weights while it played"):
        continue_all(scenarios(2), agent, seed=0, indices=(0,))


@pytest.mark.parametrize(
    "file", [child.SERVER_FILE, Path(introspection.__file__)], ids=lambda one: one.name
)
def test_files_of_the_external_process_need_only_python_3_8(file):
    tree = ast.parse(file.read_text(), feature_version=(3, 8))
    imported = [one for one in ast.walk(tree) if isinstance(one, ast.Import | ast.ImportFrom)]
    names = {getattr(one, "module", None) or alias.name for one in imported for alias in one.names}
    assert {name.partition(".")[0] for name in names} <= set(sys.stdlib_module_names)


def test_agent_server_is_never_imported_in_the_main_process():
    words = "import sys; from sts import agents; agents.load('random'); import sts.agents.external"
    code = f"{words}; assert not [name for name in sys.modules if name.endswith('.shim')]"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_other_python_version_exchanges_the_same_messages(tmp_path, monkeypatch):
    """Check the frames alone: nothing sent is an array, so a stub is enough for NumPy."""
    python = external.find_other_python()
    if python is None:
        pytest.skip("needs another version of Python: set STS_OTHER_PYTHON to its path")
    venv = [python, "-m", "venv", "--without-pip", str(tmp_path / "other")]
    assert subprocess.run(venv).returncode == 0
    (site,) = tmp_path.glob("other/lib/python3*/site-packages")
    (site / "numpy.py").write_text(external.STAND_IN)
    (tmp_path / "plain.py").write_text(external.PLAIN)
    monkeypatch.chdir(tmp_path)
    one = child.AgentProcess(str(tmp_path / "other/bin/python"), "plain", "Plain")
    asked = {"seen": None, "far": "far"}, ("", "Go."), None, {"texts": [1, (2.5, None)]}
    try:
        assert one.description["played_by"]["python"].split(".")[:2] != sys.version.split(".")[:2]
        assert one.request("initial_state", 2, 3) == {}
        with pytest.raises(child.AgentRaised, match="memory must be a dict"):
            one.request("finish", {}, {})
        with pytest.raises(child.AgentRaised, match="far") as caught:
            one.request("act", *asked, b"raise")
        assert type(caught.value).__name__ == "ValueError"
    finally:
        one.end()
