"""A fingerprint of a user's agent: what changes it, and what does not."""

import ast
import importlib.machinery
import itertools
from collections.abc import Callable

import numba
import numpy as np
import pytest

import sts
from sts.agents.code import Code, read_code
from sts.agents.introspection import find_module as find_here
from sts.storage.files import content_hash

LAB = {
    "lab/__init__.py": "",
    "lab/tools/__init__.py": "from .far.deep import reach as reach, Base\n",
    "lab/tools/far/__init__.py": "",
    "lab/tools/far/deep.py": """
import numpy as np
from lab.tools.kernels import kernel

FAR = 4
UNUSED = 1

def reach(x):
    return kernel(np.asarray(x)) + FAR

def unrelated():
    return UNUSED

class Base:
    patience = 2
    def initial_state(self, batch, players):
        return {}
""",
    "lab/tools/kernels.py": """
import numba

@numba.njit(cache=True)
def kernel(x):
    return _inner(x) * 3

@numba.njit
def _inner(x):
    return x + 1

@numba.njit
def other(x):
    return x + 5
""",
    "lab/agents/__init__.py": "",
    "lab/agents/mine.py": """
from typing import NamedTuple
from ..tools import Base, reach

LIMIT = 3

class Pair(NamedTuple):
    first: int
    second: int

class Mine(Base):
    name = "mine"
    def act(self, observation, instructions, memory, draws):
        from lab.tools import late
        scale = late.SCALE
        return [reach(x) * scale for x in range(LIMIT)], Pair(1, 2)
""",
    "lab/tools/late.py": "SCALE = 2.5\nALSO = 1\n",
}
MINE = "lab/agents/mine.py"
DEEP, KERNELS, LATE = "lab/tools/far/deep.py", "lab/tools/kernels.py", "lab/tools/late.py"


Mark = Callable[..., Code]


@pytest.fixture
def mark(tmp_path):
    """Return what reads an agent in a folder of its own, of these files."""
    numbers = itertools.count()

    def mark_files(files, module="lab.agents.mine"):
        root = tmp_path / str(next(numbers))
        for name, text in files.items():
            file = root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text if isinstance(text, bytes) else text.encode())
        folders = str(root), str(root / "site-packages")

        def find(name, inside):
            found = find_here(name, inside or folders)
            return found if inside or any(found) else find_here(name)

        return read_code(module, find)

    return mark_files


def edited(file: str, old: str, new: str) -> dict[str, str]:
    assert old in LAB[file]
    return LAB | {file: LAB[file].replace(old, new)}


SAME = {
    "a comment": edited(DEEP, "FAR = 4", "FAR = 4  # far\n# and away"),
    "a docstring": edited(DEEP, "def reach(x):", 'def reach(x):\n    """Reaches."""'),
    "the module's docstring": LAB | {KERNELS: '"""Kernels."""\n' + LAB[KERNELS]},
    "formatting": edited(DEEP, "kernel(np.asarray(x)) + FAR", "(kernel(\n np.asarray( x )\n)+FAR)"),
    "quotes": edited(MINE, '"mine"', "'mi' 'ne'"),
    "a module that is not imported": LAB | {"lab/tools/more.py": "print('never')\n"},
    "an absolute import": edited(MINE, "from ..tools import", "from lab.tools import"),
}
OTHER = {
    "a constant": edited(MINE, "LIMIT = 3", "LIMIT = 4"),
    "the kind of a constant": edited(MINE, "LIMIT = 3", "LIMIT = 3.0"),
    "its name": edited(MINE, '"mine"', '"mine2"'),
    "its base class": edited(DEEP, "patience = 2", "patience = 3"),
    "a constant in a helper two folders away": edited(DEEP, "FAR = 4", "FAR = 5"),
    "a kernel": edited(KERNELS, "* 3", "* 4"),
    "how a kernel is compiled": edited(KERNELS, "cache=True", "fastmath=True"),
    "what is imported late": edited(LATE, "2.5", "2.25"),
    "the order of a tuple's fields": edited(
        MINE, "first: int\n    second: int", "second: int\n    first: int"
    ),
    "a default": edited(DEEP, "def reach(x):", "def reach(x=1):"),
    "what it takes from NumPy": edited(DEEP, "np.asarray", "np.array"),
    "a setting at import": LAB | {KERNELS: LAB[KERNELS] + "numba.config.OPT = 1\n"},
    "a setting of its package": LAB
    | {"lab/__init__.py": "import lab.tools.late\nlab.tools.late.SCALE = 3\n"},
    "a later binding": LAB | {LATE: LAB[LATE] + "for SCALE in range(3):\n    pass\n"},
    "which module a name is from": LAB
    | {
        "lab/tools/far/late.py": LAB[LATE],
        MINE: LAB[MINE].replace("from lab.tools import late", "from lab.tools.far import late"),
    },
}


@pytest.mark.parametrize("what", SAME)
def test_fingerprint_stays_after_an_edit_without_meaning(mark, what):
    assert mark(SAME[what]) == mark(LAB)
    assert mark(LAB).hidden_reason == "" and not mark(LAB).reads_outside


@pytest.mark.parametrize("what", OTHER)
def test_fingerprint_changes_with_the_code(mark, what):
    assert mark(OTHER[what]).trees != mark(LAB).trees


def test_moving_and_renaming_the_package_keep_the_fingerprint(mark):
    old, new = "lab", "institute/rooms"
    dots = (f"{old}.", "institute.rooms.")
    renamed = {name.replace(old, new, 1): text.replace(*dots) for name, text in LAB.items()}
    assert mark(renamed, "institute.rooms.agents.mine") == mark(LAB)


def test_sibling_module_shadowing_the_standard_library_counts(mark):
    files = {"solo.py": "from statistics import mean\n", "statistics.py": "mean = 1\n"}
    commented = mark(files | {"statistics.py": "# of the way\nmean = 1\n"}, "solo")
    assert mark(files, "solo") == commented
    assert mark(files | {"statistics.py": "mean = 2\n"}, "solo").trees != commented.trees
    assert mark({"solo.py": files["solo.py"]}, "solo").distributions == ()


def distribution(constant: int, version: str, record: str | None) -> dict[str, str]:
    """Return an agent that imports `tides`, and what is installed of that."""
    info = f"site-packages/tides-{version}.dist-info"
    files = {
        "solo.py": "import tides\nclass Mine:\n    height = tides.HEIGHT\n",
        "site-packages/tides/__init__.py": "from tides.moon import HEIGHT\n",
        "site-packages/tides/moon.py": f"HEIGHT = {constant}\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: Tides\nVersion: {version}\n",
    }
    return files | ({f"{info}/RECORD": record} if record is not None else {})


@pytest.mark.parametrize(
    ("record", "installed"),
    [
        ("tides/__init__.py,,\ntides/moon.py,,\n", True),
        ("__editable__.tides.pth,,\n", False),
        (None, False),
    ],
)
def test_only_a_recorded_distribution_counts_by_name_and_version(mark, record, installed):
    one = mark(distribution(1, "1.0", record), "solo")
    assert one.distributions == (("tides==1.0",) if installed else ())
    newer, edited = (mark(distribution(*how, record), "solo") for how in ((1, "1.1"), (2, "1.0")))
    assert (newer == one, edited == one) == (not installed, installed)
    assert (edited.trees == one.trees) == installed


def test_numpy_and_numba_count_by_name_and_version(mark):
    found = mark(LAB).distributions
    assert found == (f"numba=={numba.__version__}", f"numpy=={np.__version__}")


OURS = f"standardised-test-suite=={sts.__version__}"


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("import sts\nfrom sts.agents import Agent, PolicyOutput\n", ()),
        ("from sts.plugin import Agent, PolicyOutput, build_agent\n", ()),
        ("from sts.plugin import Agent, stream\n", (OURS,)),
        ("from sts import plugin\n", (OURS,)),
        ("from sts_lambda_star.state import MOVES\n", (OURS,)),
    ],
)
def test_internal_modules_of_sts_count_by_version(mark, line, found):
    assert mark({"solo.py": line}, "solo").distributions == found


def test_bytes_of_a_compiled_extension_count(mark):
    suffix = importlib.machinery.EXTENSION_SUFFIXES[0]
    mine = {"room/__init__.py": "", "room/mine.py": "from room import swift\n"}
    one, two = (
        mark(mine | {f"room/swift{suffix}": raw}, "room.mine") for raw in (b"ELF 1", b"ELF 2")
    )
    assert one.trees != two.trees and one.hidden_reason == ""


def test_code_hash_is_the_same_in_every_python_version(mark):
    # a literal, so that it cannot depend on which Python computes it
    assert content_hash(mark({"mine.py": GRAMMAR}, "mine").trees)[:16] == "7ddfdd29d1bee9ce"


def test_code_hash_depends_on_every_number_and_on_no_formatting(mark):
    def trees(tree):
        return mark({"mine.py": ast.unparse(tree)}, "mine").trees

    written = mark({"mine.py": GRAMMAR}, "mine").trees
    assert trees(ast.parse(GRAMMAR)) == written
    seen, numbers = {written}, 0
    for one in ast.walk(tree := ast.parse(GRAMMAR)):
        if isinstance(one, ast.Constant) and type(one.value) is int:
            one.value += 1
            numbers += 1
            seen.add(trees(tree))
    assert len(seen) == 1 + numbers > 20


GRAMMAR = '''
"""A little of everything."""
from __future__ import annotations
import functools as f, os.path
from dataclasses import dataclass, field

A, *B = (1, 2.5, 1e400, 3j, -0.0, True, None, ..., b"\\x00", 0x10, 10**9, "\\ud800\\n\\u00e9")

@dataclass(frozen=True)
class Pair:
    """Two."""
    first: int = 0
    second: dict[str, int] = field(default_factory=dict)

@f.lru_cache(maxsize=None)
def text(x, /, y=A, *rest, z: int = 3, **named) -> str:
    width, "not a docstring"
    return f"{x!r:>{width}}" f"{y=} {{}}" "tail" f"" f"{rest:}" f"{named['a']:%H:%M}"

async def later(stream):
    async with stream as (a, b), stream:
        async for x in stream:
            yield [i async for i in x if await i]

class Mine(Pair):
    kept = [a for a in B for b in (a, A) if (c := b)]
    pick = lambda self, *a, k=kept, **n: (yield)
    def act(self, what):
        """Acts."""
        global COUNT
        COUNT = text(1) or later
        def inner():
            nonlocal what
            what += 1; del what
        try:
            with open(os.path.join("a", "b")) as file, file: pass
        except (ValueError, OSError) as error:
            raise RuntimeError from error
        else:
            assert what, "never"
        finally:
            print({**named}, {*B}, {1: 2}, what[1:2, ::3], not -what, 1 < what <= 3)
        match what:
            case [1, Pair(first=0, second=s), *others] if s: return others
            case {"k": v, **rest} | {"v": v, **rest}: return v, rest
            case str() as t: return t
            case None | -1 | 1 + 2j: ...
            case _: pass
        for i in range(3):
            if i: continue
            elif what: break
        else:
            while True: return await_ if (await_ := 3) else {k: v for k, v in rest}
named = {}
'''


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("eval('1')", "it uses eval"),
        ("importlib.import_module(which)", "it uses importlib.import_module"),
        ("from broken import one", "module broken cannot be read (SyntaxError)"),
    ],
)
def test_dynamic_code_is_reported(mark, body, why):
    text = f"import importlib\ndef act(which):\n    {body}\n"
    found = mark({"mine.py": text, "broken.py": "def"}, "mine").hidden_reason
    assert found.startswith(why)


@pytest.mark.parametrize(
    ("text", "outside"),
    [
        ("import numpy as np\nW = np.load('w.npz')\n", True),
        ("from numpy import load as get\nW = get('w.npz')\n", True),
        ("W = open('w.npz')\n", True),
        ("import os\nS = os.environ['S']\n", True),
        ("import helper\nW = helper.load()\n", False),
        ("class Mine:\n    def load(self):\n        return self.load()\n", False),
    ],
)
def test_reading_files_or_the_environment_is_reported(mark, text, outside):
    files = {"mine.py": text, "helper.py": "def load():\n    return 1\n"}
    assert mark(files, "mine").reads_outside == outside
