"""An environment that has NumPy and nothing of ours, and agents that are played in it."""

from __future__ import annotations

import os
import sys
import venv
from pathlib import Path

import numpy as np

from tests.pythons import list_pythons

BRAIN = '''
import os
import time

import numpy as np

from helper import SHARE

print("brain is imported")

class Mine:
    name, domain, draws = "mine", "lambda-star", 2
    wordings = ("Go to Good.",)
    wait = 1

    def __init__(self):
        self.weights = np.arange(3.0)
        self.kept = {"a": (1, [2.5, None]), "b": {"x"}}

    def initial_state(self, batch, players):
        print("mine begins")
        return {"spoken": np.zeros((batch, players), bool), "steps": np.zeros(batch, np.int16)}

    def act(self, observation, instructions, memory, draws):
        asked = np.array(["?" in text for text in instructions.texts])[instructions.ids]
        spoken = memory["spoken"] | (observation.last_said != 0)
        words = np.where(asked[:, None] & ~spoken, 1 + ~observation.evil.any(-1), 0)
        steps = memory["steps"] + 1
        near = SHARE * (observation.surroundings % 3) + draws[..., :1] + steps[:, None, None]
        actions = np.exp(observation.reward) * near + 0.01
        return self.chosen(actions, np.eye(22)[words]), {"spoken": spoken, "steps": steps}

    def chosen(self, actions, utterances):
        return {"actions": actions, "utterances": utterances}

class Drifts(Mine):
    name = "drifts"

    def chosen(self, actions, utterances):
        self.weights = self.weights + 1
        self.seen = actions
        return actions, utterances

class Knows(Mine):
    name, sees = "knows", "world"

    def act(self, observation, instructions, memory, draws):
        near = observation.surroundings == observation.good_next[:, None, None]
        return self.chosen(near + 0.01, None), memory

class Rehearses(Mine):
    name, sees = "rehearses", "rehearsal"

    def initial_state(self, batch, players):
        return {"better": np.ones((batch, players, 9))}

    def act(self, observation, instructions, memory, draws):
        return self.chosen(memory["better"], None), memory

    def finish(self, observation, memory):
        return {"better": memory["better"] + 1.0 * (observation.reward > 0)}

class Keeper:
    """Goes by what an environment of anybody's shows."""

    name = "keeper"

    def initial_state(self, batch, players):
        return {}

    def act(self, observation, instructions, memory, draws):
        lit = observation.values["lit"].sum(-1)
        told = len(instructions.texts[-1])
        return self.chosen(np.arange(4) * (1 + lit[..., None]) + told, None), memory

    chosen = Mine.chosen

class Objects(Mine):
    name = "objects"

    def chosen(self, actions, utterances):
        class PolicyOutput:
            pass

        choice = PolicyOutput()
        choice.actions, choice.utterances = actions, utterances
        return choice

class Tuples(Mine):
    name = "tuples"

    def chosen(self, actions, utterances):
        return actions, utterances

class Bad(Mine):
    name = "bad"

    def __init__(self):
        pass

    def initial_state(self, batch, players):
        return {}

    def act(self, observation, instructions, memory, draws):
        weights = np.ones((*draws.shape[:2], 9))
        if (observation.step < 2).all():
            return weights, memory
        return self.wrong(observation, weights, memory)

class Begins(Bad):
    def initial_state(self, batch, players):
        print("began", os.spawnlp(os.P_NOWAIT, "sleep", "sleep", "600"))
        return {}
def babble():
    for pipe in range(3, 64):
        try:
            os.write(pipe, b"babble" * 20)
        except OSError:
            pass

def error(one):
    raise one

def hang(work):
    print("it hangs", flush=True)
    work()

class NoAgent:
    pass

class NeedsMore(Mine):
    def __init__(self, size):
        pass

class Unnamed(Mine):
    name = ""

class Unread(Mine):
    name = "unread"

    def __init__(self):
        self.model = print

class Stated(Unread):
    name, version = "stated", "7"

def made():
    class Inner(Mine):
        name = "inner"

    return Inner

Inner = made()
'''
TWIN = """
import brain
from sts.agents import PolicyOutput

class Here:
    def chosen(self, actions, utterances):
        return PolicyOutput(actions, utterances)

{classes}
"""
PLAIN = """
class Plain:
    name = "plain"

    def initial_state(self, batch, players):
        return {}

    def act(self, observation, instructions, memory, draws):
        assert instructions.texts == ("", "Go.") and memory == {"texts": [1, (2.5, None)]}
        assert observation.seen is None and draws == b"raise"
        raise ValueError(observation.far)

    def finish(self, observation, memory):
        return None
"""
STAND_IN = '__version__ = "0"\nasarray = None\nclass generic: pass\nclass ndarray: pass\n'
"""Enough of NumPy for an agent that is sent no array."""
WRONG = {
    "Dies": ("os.kill(os.getpid(), 9)", "its process died of SIGKILL"),
    "Exits": ("os._exit(3)", "its process ended with exit code 3"),
    "Leaves": ("error(SystemExit(3))", "SystemExit: 3"),
    "Raises": ("error(ValueError('it is\\nworn out'))", "ValueError: it is\nworn out"),
    "Closes": ("os.closerange(3, 64); time.sleep(600)", "its process closed its pipe"),
    "Babbles": ("babble(); return weights, memory", "its process sent an invalid answer"),
    "Shapes": ("return weights[..., :2], memory", r"expected weights .* found float64\[1, 2, 2\]"),
    "NaNs": ("return weights * np.nan, memory", "expected weights .* found weights .nan"),
    "Nothing": ("return None", r"act must return \(output, memory\), found NoneType"),
    "Forgets": ("return weights, [1, 2]", "memory must be a dict of arrays, found list"),
    "Hoards": (
        "return weights, {'all': object()}",
        "expected all as numbers or texts, found object",
    ),
    "Looks": ("return observation.weather, memory", "observation has no weather; .*last_reward"),
    "Hangs": ("hang(lambda: time.sleep(600))", "its process made no progress for 1.5 "),
    "Computes": ("hang(lambda: sum(iter(int, 1)))", "its process made no progress for 1.5 "),
}
"""Subclasses of `Bad`: what each does in its third step, and the error."""
WRONG_CLASS = "class {}(Bad):\n    def wrong(self, observation, weights, memory):\n        {}\n"
PLAYED = ("Mine", "Knows", "Rehearses", "Keeper")


def environment(folder: Path, *, numpy: bool = True) -> Path:
    """Make an environment without our packages; return its interpreter, which prints."""
    venv.EnvBuilder(with_pip=False, symlinks=True).create(folder)
    (site,) = folder.glob("lib/python3*/site-packages")
    (site / "prints.pth").write_text("import sys; print('site is imported', flush=True)\n")
    if numpy:
        for part in Path(np.__file__).parents[1].glob("numpy*"):
            if part.name.split("-")[0] in ("numpy", "numpy.libs"):
                (site / part.name).symlink_to(part)
    return folder / "bin" / "python"


def find_other_python() -> str | None:
    """Return an interpreter of another version of Python: STS_OTHER_PYTHON, or one installed."""
    found = list_pythons(os.environ.get("STS_OTHER_PYTHON", ""))
    return next((path for version, path in found.items() if version != sys.version_info[:2]), None)


def write(folder: Path) -> None:
    """Write the agents, and `twin`, which plays the same classes in a process that has ours."""
    bad = "".join(WRONG_CLASS.format(name, code) for name, (code, _) in WRONG.items())
    (folder / "brain.py").write_text(BRAIN + bad)
    (folder / "helper.py").write_text("SHARE = 0.25\n")
    classes = "\n\n".join(f"class {c}(Here, brain.{c}):\n    pass" for c in PLAYED)
    (folder / "twin.py").write_text(TWIN.format(classes=classes))
