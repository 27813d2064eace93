"""An environment that has NumPy and nothing of ours, and agents that are played in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

import numpy as np

BRAIN = '''
import os
import time

import numpy as np

from helper import SHARE

print("brain is imported")


class Mine:
    name, domain, draws = "mine", "lambda-star", 2
    wait = 1

    def __init__(self):
        self.weights = np.arange(3.0)
        self.kept = {"a": (1, [2.5, None]), "b": {"x"}}

    def begin(self, batch, roles):
        print("mine begins")
        return {"spoken": np.zeros((batch, roles), bool), "steps": np.zeros(batch, np.int16)}

    def act(self, observation, instructions, memory, draws):
        asked = np.array(["?" in text for text in instructions.texts])[instructions.ids]
        spoken = memory["spoken"] | (observation.last_said != 0)
        words = np.where(asked[:, None] & ~spoken, 1 + ~observation.evil.any(-1), 0)
        steps = memory["steps"] + 1
        near = SHARE * (observation.surroundings % 3) + draws[..., :1] + steps[:, None, None]
        moves = np.exp(observation.reward) * near + 0.01
        return self.chosen(moves, np.eye(22)[words]), {"spoken": spoken, "steps": steps}

    def chosen(self, moves, says):
        return {"moves": moves, "says": says}


class Drifts(Mine):
    name = "drifts"

    def chosen(self, moves, says):
        self.weights = self.weights + 1
        self.seen = moves
        return moves, says


class Knows(Mine):
    name, sees = "knows", "world"

    def act(self, observation, instructions, memory, draws):
        near = observation.surroundings == observation.good_next[:, None, None]
        return self.chosen(near + 0.01, None), memory


class Rehearses(Mine):
    name, sees = "rehearses", "rehearsal"

    def begin(self, batch, roles):
        return {"better": np.ones((batch, roles, 9))}

    def act(self, observation, instructions, memory, draws):
        return self.chosen(memory["better"], None), memory

    def finish(self, observation, memory):
        return {"better": memory["better"] + 1.0 * (observation.reward > 0)}


class Keeper:
    """Goes by what an environment of anybody's shows."""

    name = "keeper"

    def begin(self, batch, roles):
        return {}

    def act(self, observation, instructions, memory, draws):
        lit = observation.values["lit"].sum(-1)
        told = len(instructions.texts[-1])
        return self.chosen(np.arange(4) * (1 + lit[..., None]) + told, None), memory

    chosen = Mine.chosen


class Objects(Mine):
    name = "objects"

    def chosen(self, moves, says):
        class Choice:
            pass

        choice = Choice()
        choice.moves, choice.says = moves, says
        return choice


class Tuples(Mine):
    name = "tuples"

    def chosen(self, moves, says):
        return moves, says


class Bad(Mine):
    name = "bad"

    def __init__(self):
        pass

    def begin(self, batch, roles):
        return {}

    def act(self, observation, instructions, memory, draws):
        weights = np.ones((*draws.shape[:2], 9))
        if (observation.step < 2).all():
            return weights, memory
        return self.wrong(weights, memory)


class Begins(Bad):
    def begin(self, batch, roles):
        print("began", os.spawnlp(os.P_NOWAIT, "sleep", "sleep", "600"))
        return {}


class Dies(Bad):
    def wrong(self, weights, memory):
        os.kill(os.getpid(), 9)


class Exits(Bad):
    def wrong(self, weights, memory):
        os._exit(3)


class Leaves(Bad):
    def wrong(self, weights, memory):
        raise SystemExit(3)


class Hangs(Bad):
    def wrong(self, weights, memory):
        print("it hangs", flush=True)
        time.sleep(600)


class Computes(Bad):
    def wrong(self, weights, memory):
        print("it hangs", flush=True)
        sum(iter(int, 1))


class Raises(Bad):
    def wrong(self, weights, memory):
        raise ValueError("it is\\nworn out")


class Closes(Bad):
    def wrong(self, weights, memory):
        os.closerange(3, 64)
        time.sleep(600)


class Babbles(Bad):
    def wrong(self, weights, memory):
        for pipe in range(3, 64):
            try:
                os.write(pipe, b"babble" * 20)
            except OSError:
                pass
        return weights, memory


class Shapes(Bad):
    def wrong(self, weights, memory):
        return weights[..., :2], memory


class NaNs(Bad):
    def wrong(self, weights, memory):
        return weights * np.nan, memory


class Nothing(Bad):
    def wrong(self, weights, memory):
        return None


class Forgets(Bad):
    def wrong(self, weights, memory):
        return weights, [1, 2]


class Hoards(Bad):
    def wrong(self, weights, memory):
        return weights, {"all": object()}


class Looks(Bad):
    def act(self, observation, instructions, memory, draws):
        return observation.weather, memory


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
from sts.agents import Choice


class Here:
    def chosen(self, moves, says):
        return Choice(moves, says)

{classes}
"""
PLAIN = """
class Plain:
    name = "plain"

    def begin(self, batch, roles):
        return {}

    def act(self, observation, instructions, memory, draws):
        assert instructions.texts == ("", "Go.") and memory == {"texts": [1, (2.5, None)]}
        if observation.seen is None and draws == b"raise":
            raise ValueError(observation.far)
        return 0, {}

    def finish(self, observation, memory):
        return None
"""
"""An agent that needs no array."""
STAND_IN = """
__version__ = "0"
asarray = None


class generic:
    pass


class ndarray:
    pass
"""
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


def others() -> Iterator[str]:
    """Yield interpreters of other versions of Python: STS_OTHER_PYTHON, then those installed."""
    names = [f"python3.{minor}" for minor in range(8, 20)]
    siblings = sorted(map(str, Path(sys.base_prefix).parent.glob("3.*/bin/python")))  # as of pyenv
    for name in (os.environ.get("STS_OTHER_PYTHON", ""), *names, *siblings):
        python = shutil.which(name) if name else None
        if python is None:
            continue
        words = [
            python,
            "-c",
            "import sys; assert sys.version_info >= (3, 8); print(*sys.version_info[:2])",
        ]
        asked = subprocess.run(words, capture_output=True, text=True)
        if asked.returncode == 0 and asked.stdout.split() != _version():
            yield python


def _version() -> list[str]:
    return [str(part) for part in sys.version_info[:2]]


def has_numpy(python: str) -> bool:
    """Return True if an interpreter can import NumPy."""
    return subprocess.run([python, "-c", "import numpy"], capture_output=True).returncode == 0


def write(folder: Path) -> None:
    """Write the agents, and `twin`, which plays the same classes in a process that has ours."""
    (folder / "brain.py").write_text(BRAIN)
    (folder / "helper.py").write_text("SHARE = 0.25\n")
    classes = "\n\n".join(f"class {c}(Here, brain.{c}):\n    pass" for c in PLAYED)
    (folder / "twin.py").write_text(TWIN.format(classes=classes))
