"""Agents in an interpreter of their own: the same rows, one line for what goes wrong, none left."""

from __future__ import annotations

import ast
import contextlib
import inspect
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from sts import agents
from sts.agents import described
from sts.agents.elsewhere import child
from sts.agents.elsewhere.agent import ExternalAgent
from sts.agents.identity import stated
from sts.cli.main import main
from sts.continuations import store
from sts.continuations.run import run
from sts.continuations.takeover import continue_all
from sts.domains import domain
from sts.engine.lockstep import play
from sts.engine.session import Team
from sts.errors import ArgumentError, StsError
from sts.numerics.streams import stream
from sts.storage.workspace import Workspace
from tests.agents import apart, test_contract
from tests.agents.test_contract import assert_same, cases, played
from tests.examples import instructed, scenarios

pytestmark = pytest.mark.skipif(os.name != "posix", reason="environments are laid out otherwise")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of agents, with the environment `apart` in which they are played."""
    folder = tmp_path_factory.mktemp("home")
    apart.environment(folder / "apart")
    apart.write(folder)
    return folder


@pytest.fixture
def name(home: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Return what spells a class of `brain`; the folder is the current one."""
    monkeypatch.chdir(home)
    monkeypatch.syspath_prepend(str(home))
    return lambda kind: f"{home / 'apart/bin/python'}:brain:{kind}"


@pytest.fixture(scope="module", autouse=True)
def _none_left():
    yield
    child.end_all()
    for module in ("brain", "helper", "twin"):
        sys.modules.pop(module, None)


def pid(agent: Any) -> int:
    found: int = agent.child.pid
    return found


def exists(pid: int) -> bool:
    """Whether there is such a process, and nobody has only to take notice of its end."""
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
            *(a.tobytes() for a in (c.episode.moves, c.episode.says, c.episode.scene)),
            *(c.episode.rewards.tobytes(), c.log_probs.tobytes(), c.sees, c.batch_sensitive),
        ]
        for c in store.load(workspace, {s.hash for s in several})
    }


@pytest.mark.parametrize("kind", ["Mine", "Knows"])
def test_rows_are_those_of_the_same_class_in_process(kind, name, tmp_path) -> None:
    several = scenarios(3) + scenarios(3, text="Do you see Evil?", horizon=5)
    there = continued(tmp_path / "there", name(kind), several)
    assert there == continued(tmp_path / "here", f"twin:{kind}", several)
    assert len(there) == 18


def test_a_row_says_which_versions_played_it(name, tmp_path) -> None:
    several = scenarios(1)
    continued(tmp_path, name("Mine"), several)
    continued(tmp_path, "twin:Mine", several)
    rows = store.load(Workspace.open(str(tmp_path)), {s.hash for s in several})
    there, *_, here = sorted(rows, key=lambda c: "played_by" not in c.provenance)
    assert set(there.provenance["played_by"]) == {"python", "numpy"}
    assert "played_by" not in here.provenance


def test_workers_and_interruptions_change_no_row(name, tmp_path) -> None:
    several = scenarios(4)
    whole = continued(tmp_path / "whole", name("Mine"), several)
    assert whole == continued(tmp_path / "two", name("Mine"), several, workers=2)
    continued(tmp_path / "parts", name("Mine"), several[:2], count=1)
    assert whole == continued(tmp_path / "parts", name("Mine"), several)


@pytest.mark.parametrize("kind", ["Objects", "Tuples"])
def test_a_choice_may_be_an_object_or_a_tuple(kind, name) -> None:
    assert_same(
        played(agents.load(name(kind)), cases()), played(agents.load(name("Mine")), cases())
    )


CLAIMS = [
    claim
    for title, claim in inspect.getmembers(test_contract, inspect.isfunction)
    if title.startswith("test_") and "found_under_its_own_name" not in title
]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.__name__)
def test_the_contract_of_every_agent_holds(claim, name) -> None:
    team = {"roles": 3} if "roles" in inspect.signature(claim).parameters else {}
    claim(name("Mine"), **team)


def test_environments_of_others_are_seen_as_in_process(name) -> None:
    world = domain("tests.domains.worlds:Lanterns")
    states = world.generate(4, seed=1)
    streams = np.array([stream("lanterns", i) for i in range(4)], np.uint64)
    told = instructed(["Keep the lanterns alight."] * 4, [2] * 4)
    assert_same(
        *(
            play(
                world,
                world.restore(states),
                [Team(agents.load(who), (0,), streams)],
                steps=6,
                told=told,
            )
            for who in (name("Keeper"), "twin:Keeper")
        )
    )


def test_commands_take_it_and_call_it_by_its_name(name, tmp_path, capsys) -> None:
    size = ["--size", "5x5", "--steps", "10", "--episodes", "3", "--rehearsals", "2"]
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


def test_what_it_prints_goes_to_standard_error(name, capfd) -> None:
    child.end_all()
    played(agents.load(name("Mine")), cases().take([0]))
    out, err = capfd.readouterr()
    assert out == ""
    assert all(line in err for line in ("site is imported", "brain is imported", "mine begins"))


def test_what_is_meant_for_our_interpreter_does_not_mislead_another(name, monkeypatch) -> None:
    child.end_all()
    monkeypatch.setenv("PYTHONHOME", "/nowhere")
    assert agents.load(name("Mine")).name == "mine"


def test_one_that_does_not_come_to_its_start_is_ended(name, home, monkeypatch) -> None:
    (home / "sleeps.py").write_text("import time; time.sleep(600)")
    monkeypatch.setenv("STS_PATIENCE", "1.5")
    who = name("Mine").replace("brain", "sleeps")
    with pytest.raises(StsError, match="^agent '.*sleeps:Mine': .*python: its process made no"):
        agents.load(who)


def test_what_it_has_begun_ends_with_it(name, capfd) -> None:
    agent = cast(ExternalAgent, agents.load(name("Begins")))
    agent.begin(1, 1)
    own = int(capfd.readouterr().err.rpartition("began ")[2].split()[0])
    assert exists(own)
    agent.child.end()
    while exists(own):
        time.sleep(0.01)


def test_one_process_is_begun_for_a_class_and_used_again(name) -> None:
    agent = agents.load(name("Mine"))
    again = agents.load(name("Mine"))
    assert pid(agent) == pid(again) != os.getpid()
    assert again.name == "mine" and again.draws == 2


NONE = {
    "no such file": (
        "{folder}/nowhere/python:brain:Mine",
        ": no such program",
    ),
    "a folder": ("{folder}:brain:Mine", ": no such program"),
    "another program": ("{folder}/says:brain:Mine", "it cannot run the agent server"),
    "no program at all": (
        "{folder}/odd:brain:Mine",
        ": Exec format error",
    ),
    "no NumPy": ("{folder}/bare/bin/python:brain:Mine", "NumPy cannot be imported"),
    "no module": ("{python}:no_brain:Mine", "cannot import no_brain: ModuleNotFoundError"),
    "no class": ("{python}:brain:Yours", "module brain has no Yours"),
    "no agent": ("{python}:brain:NoAgent", "expected a class with a name, begin and act"),
    "no name": ("{python}:brain:Unnamed", "needs a name"),
    "arguments": ("{python}:brain:NeedsMore", "cannot be constructed without arguments"),
    "no interpreter": (":brain:Mine", "expected agent as PYTHON:module:Class"),
    "no path": ("{python}:../brain:Mine", "expected agent as PYTHON:module:Class"),
}


@pytest.fixture(scope="module")
def poor(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of interpreters that are none."""
    folder = tmp_path_factory.mktemp("poor")
    apart.environment(folder / "bare", numpy=False)
    for title, text in (("says", "#!/bin/sh\necho here is no frame\n"), ("odd", "\0")):
        (folder / title).write_text(text)
        (folder / title).chmod(0o755)
    return folder


@pytest.mark.parametrize("what", NONE)
def test_what_is_no_agent_elsewhere_is_one_line(what, name, poor, capsys) -> None:
    spelling, said = NONE[what]
    python = name("").partition(":")[0]
    who = spelling.format(folder=poor, python=python)
    before = set(child._processes)
    assert main(["lambda-star", "score", "--agent", who, "--episodes", "2"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("sts: ") and err.count("\n") == 1 and said in err
    assert "Mine" not in who or set(child._processes) == before


WRONG = {
    "Dies": "its process died of SIGKILL",
    "Exits": "its process ended with exit code 3",
    "Leaves": "SystemExit: 3",
    "Raises": "ValueError: it is\nworn out",
    "Closes": "its process closed its pipe",
    "Babbles": "its process sent an invalid answer",
    "Shapes": r"expected weights .* found float64\[1, 2, 2\]",
    "NaNs": "expected weights .* found weights .nan",
    "Nothing": r"act must return \(choice, memory\), found NoneType",
    "Forgets": "memory must be a dict of arrays, found list",
    "Hoards": "expected all as numbers or texts, found object",
    "Looks": "the observation has no weather; it has .*last_reward",
}


@pytest.mark.parametrize("kind", WRONG)
def test_what_goes_wrong_there_is_an_error_of_its_step(kind, name, monkeypatch) -> None:
    monkeypatch.setattr("sts.jobs.processes.EXIT_TIMEOUT_S", 0.2)
    agent = agents.load(name(kind))
    step = 0 if kind == "Looks" else 2
    with pytest.raises(StsError, match=f"agent 'bad' (failed )?at step {step}: .*{WRONG[kind]}"):
        played(agent, cases().take([0]))
    other = agents.load(name(kind))
    with pytest.raises(StsError, match=WRONG[kind]):  # it, or another in its place, plays on
        played(other, cases().take([0]))
    ended = kind in ("Dies", "Exits", "Closes", "Babbles")
    assert ended == (pid(agent) != pid(other)) == (not exists(pid(agent)))


@pytest.mark.parametrize("kind", ["Hangs", "Computes"])
def test_one_that_hangs_is_ended_in_its_time(kind, name, monkeypatch) -> None:
    agent = agents.load(name(kind))
    monkeypatch.setenv("STS_PATIENCE", "1.5")
    with pytest.raises(StsError, match="step 2: .*python: its process made no progress for 1.5 "):
        played(agent, cases().take([0]))
    assert not exists(pid(agent))


def test_nothing_wrong_is_kept_and_others_go_on(name, tmp_path, capfd) -> None:
    several = scenarios(4)
    workspace = Workspace.open(str(tmp_path))
    with pytest.raises(StsError, match="SIGKILL") as caught:
        run(
            workspace,
            several,
            [name("Dies"), name("Mine")],
            count=1,
            seed=0,
            workers=1,
            progress=lambda done, total: None,
        )
    assert "\n" not in str(caught.value)
    kept = store.load(workspace, {s.hash for s in several})
    assert sorted(c.agent for c in kept) == ["mine"] * 4


PARENT = """
import sys, time, types
import numpy as np
from sts import agents

agent = agents.load(sys.argv[1])
print(agent.child.pid, flush=True)
if "Mine" not in sys.argv[1]:
    seen = types.SimpleNamespace(step=np.array([9]))
    agent.act(seen, agents.Instructions(("",), np.zeros(1, np.int32)), {}, np.zeros((1, 1, 2)))
elif sys.argv[2]:
    time.sleep(600)
"""
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="no thread runs, and no system helps")


@pytest.mark.parametrize(
    ("kind", "ends"),
    [
        ("Mine", "by itself"),
        ("Mine", "killed"),
        ("Hangs", "killed"),
        pytest.param("Computes", "killed", marks=on_linux),
    ],
)
def test_it_ends_with_its_parent(kind, ends, name) -> None:
    killed = "wait" if ends == "killed" else ""
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
        if kind != "Mine":
            assert any("it hangs" in line for line in process.stderr)
        assert exists(theirs)
        process.kill()
    try:
        process.communicate(timeout=300)  # it has its standard error open
    except subprocess.TimeoutExpired:
        os.kill(theirs, signal.SIGKILL)
        raise
    while exists(theirs):  # it has closed what it had open, and is about to go
        time.sleep(0.01)
    assert process.returncode == (-signal.SIGKILL if killed else 0)


def test_where_it_is_played_is_no_part_of_its_identity(name) -> None:
    assert agents.fingerprint(agents.load(name("Mine"))) == agents.fingerprint(
        agents.load("brain:Mine")
    )


EDITS = {
    "a comment": ("helper.py", "SHARE = 0.25", "SHARE = 0.25  # of the way", True),
    "a number in a helper": ("helper.py", "SHARE = 0.25", "SHARE = 0.5", False),
    "what it was made with": ("brain.py", "np.arange(3.0)", "np.arange(4.0)", False),
    "formatting": ("helper.py", "SHARE = 0.25", "SHARE=(0.25)", True),
    "something of another agent of the file": ("brain.py", '"keeper"', '"porter"', False),
    "a version of NumPy": ("METADATA", "\nVersion: ", "\nVersion: 9", False),
}


@pytest.mark.parametrize("what", EDITS)
def test_its_code_is_read_where_it_is_played(what, name, home, tmp_path, monkeypatch) -> None:
    before = agents.fingerprint(agents.load(name("Mine")))
    shutil.copytree(home, tmp_path / "copy", symlinks=True)
    monkeypatch.chdir(tmp_path / "copy")
    python = tmp_path / "copy" / "apart" / "bin" / "python"
    file, old, new, same = EDITS[what]
    target = tmp_path / "copy" / file
    if file == "METADATA":
        (info,) = (tmp_path / "copy").glob("apart/lib/*/site-packages/numpy-*.dist-info")
        own = info.resolve()
        info.unlink()
        shutil.copytree(own, info)
        target = info / file
    text = target.read_text()
    assert old in text
    target.write_text(text.replace(old, new, 1))
    after = agents.fingerprint(agents.load(f"{python}:brain:Mine"))
    assert (after == before) == same


def test_one_that_cannot_be_read_needs_a_version(name) -> None:
    for kind, why in (
        ("Unread", "its model .* cannot be read"),
        ("Inner", "Inner cannot be imported by its name"),
    ):
        with pytest.raises(ArgumentError, match=f"{why}.*declare .*version"):
            agents.fingerprint(agents.load(name(kind)))
    assert stated(agents.fingerprint(agents.load(name("Stated")))) == "7"


def test_one_that_changes_a_parameter_while_it_plays_is_refused(name) -> None:
    agent = agents.load(name("Drifts"))
    with pytest.raises(StsError, match="agent 'drifts' changed its weights while it played"):
        continue_all(scenarios(2), agent, seed=0, indices=(0,))


def test_one_that_comes_again_as_another_is_refused(name, home, tmp_path, monkeypatch) -> None:
    shutil.copytree(home, tmp_path / "copy", symlinks=True)
    monkeypatch.chdir(tmp_path / "copy")
    who = f"{tmp_path / 'copy' / 'apart' / 'bin' / 'python'}:brain:Mine"
    agent = cast(ExternalAgent, agents.load(who))
    mark = agents.fingerprint(agent)
    (tmp_path / "copy" / "helper.py").write_text("SHARE = 0.75\n")
    assert agents.planned(who, mark).name == "mine"  # what it loaded is what it plays
    agent.child.end()
    with pytest.raises(ArgumentError, match="has changed since the run was planned"):
        agents.planned(who, mark)


@pytest.mark.parametrize("file", [child.SHIM, Path(described.__file__)], ids=lambda one: one.name)
def test_the_files_that_play_it_need_an_old_python_alone(file: Path) -> None:
    tree = ast.parse(file.read_text(), feature_version=(3, 8))
    imported = [one for one in ast.walk(tree) if isinstance(one, ast.Import | ast.ImportFrom)]
    names = {getattr(one, "module", None) or alias.name for one in imported for alias in one.names}
    assert {name.partition(".")[0] for name in names} <= set(sys.stdlib_module_names)


def test_the_file_that_plays_it_is_never_imported_here() -> None:
    words = "import sys; from sts import agents; agents.load('random'); import sts.agents.elsewhere"
    code = f"{words}; assert not [name for name in sys.modules if name.endswith('.shim')]"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_another_version_of_python_plays_the_same_rows(home, tmp_path, monkeypatch) -> None:
    python = next((one for one in apart.others() if apart.has_numpy(one)), None)
    if python is None:
        pytest.skip("no other version of Python with a NumPy is here; see STS_OTHER_PYTHON")
    monkeypatch.chdir(home)
    monkeypatch.syspath_prepend(str(home))
    several = scenarios(3) + scenarios(3, text="Do you see Evil?", horizon=5)
    there = continued(tmp_path / "there", f"{python}:brain:Mine", several)
    assert there == continued(tmp_path / "here", "twin:Mine", several)
    rows = store.load(Workspace.open(str(tmp_path / "there")), {s.hash for s in several})
    version = rows[0].provenance["played_by"]["python"]
    assert version.split(".")[:2] != sys.version.split(".")[:2] and len(there) == 18


def test_another_version_of_python_speaks_as_this_one_does(tmp_path, monkeypatch) -> None:
    """A module that stands in for NumPy will do, as nothing that is sent is an array."""
    python = next(apart.others(), None)
    if python is None:
        pytest.skip("no other version of Python is here")
    venv = [python, "-m", "venv", "--without-pip", str(tmp_path / "other")]
    assert subprocess.run(venv).returncode == 0
    (site,) = tmp_path.glob("other/lib/python3*/site-packages")
    (site / "numpy.py").write_text(apart.STAND_IN)
    (tmp_path / "plain.py").write_text(apart.PLAIN)
    monkeypatch.chdir(tmp_path)
    one = child.AgentProcess(str(tmp_path / "other/bin/python"), "plain", "Plain")
    asked = {"seen": None, "far": "far"}, ("", "Go."), None, {"texts": [1, (2.5, None)]}
    try:
        assert one.description["played_by"]["python"].split(".")[:2] != sys.version.split(".")[:2]
        assert one.request("begin", 2, 3) == {}
        with pytest.raises(child.AgentRaised, match="memory must be a dict"):
            one.request("finish", {}, {})
        with pytest.raises(child.AgentRaised, match="far") as caught:
            one.request("act", *asked, b"raise")
        assert type(caught.value).__name__ == "ValueError"
    finally:
        one.end()
