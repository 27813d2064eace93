"""A fingerprint says what an agent's code means: neither more nor less changes it."""

from __future__ import annotations

import ast
import importlib
import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sts.agents.identity.closure import Meaning, meaning
from sts.agents.identity.identity import PACKAGES, READ
from sts.agents.identity.modules import Modules
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
    def begin(self, batch, roles):
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


@pytest.fixture
def mark(tmp_path: Path) -> Callable[..., Meaning]:
    """Returns what reads an agent in a folder of its own, of these files."""
    numbers = itertools.count()

    def read(files: dict[str, str | bytes], module: str = "lab.agents.mine") -> Meaning:
        root = tmp_path / str(next(numbers))
        for name, text in files.items():
            file = root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text if isinstance(text, bytes) else text.encode())
        found = Modules(module, packages=PACKAGES, read=READ, roots=(str(root),))
        return meaning(found, module, "Mine")

    return read


def edited(file: str, old: str, new: str) -> dict[str, str]:
    assert old in LAB[file]
    return LAB | {file: LAB[file].replace(old, new)}


SAME = {
    "a comment": edited(DEEP, "FAR = 4", "FAR = 4  # far\n# and away"),
    "a docstring": edited(DEEP, "def reach(x):", 'def reach(x):\n    """Reaches."""'),
    "the module's docstring": LAB | {KERNELS: '"""Kernels."""\n' + LAB[KERNELS]},
    "formatting": edited(DEEP, "kernel(np.asarray(x)) + FAR", "(kernel(\n np.asarray( x )\n)+FAR)"),
    "pass": edited(DEEP, "patience = 2", "patience = 2\n    pass"),
    "quotes": edited(MINE, '"mine"', "'mi' 'ne'"),
    "a function's annotations": edited(DEEP, "def reach(x):", "def reach(x: Far) -> 'Far':"),
    "a constant's annotation": edited(DEEP, "FAR = 4", "FAR: int = 4"),
    "an unrelated function": edited(DEEP, "return UNUSED", "return UNUSED + 1"),
    "an unrelated kernel": edited(KERNELS, "x + 5", "x + 6"),
    "an unrelated constant": edited(LATE, "ALSO = 1", "ALSO = 2"),
    "an unrelated module": LAB | {"lab/tools/more.py": "print('never')\n"},
    "another order": LAB | {LATE: "ALSO = 1\nSCALE = 2.5\n"},
    "another way to import": edited(
        MINE, "from ..tools import Base, reach", "from lab.tools.far.deep import Base, reach"
    ),
    "an alias": LAB
    | {
        DEEP: LAB[DEEP]
        .replace("import numpy as np", "from numpy import asarray as made")
        .replace("np.asarray", "made")
    },
    "an import at the top": edited(MINE, "        from lab.tools import late\n", "")
    | {
        MINE: LAB[MINE]
        .replace("        from lab.tools import late\n", "")
        .replace("LIMIT = 3", "import lab.tools.late as other\nLIMIT = 3")
        .replace("late.SCALE", "other.SCALE")
    },
    "a star import": edited(MINE, "import Base, reach", "import *"),
    "types for a checker": LAB
    | {
        MINE: "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from lab import no\n"
        + LAB[MINE]
    },
    "a program": LAB | {KERNELS: LAB[KERNELS] + "if __name__ == '__main__':\n    print(1)\n"},
    "a moved module": {name: text for name, text in LAB.items() if name != KERNELS}
    | {
        "lab/swift/core.py": LAB[KERNELS],
        DEEP: LAB[DEEP].replace("lab.tools.kernels", "lab.swift.core"),
    },
}
OTHER = {
    "a constant": edited(MINE, "LIMIT = 3", "LIMIT = 4"),
    "the kind of a constant": edited(MINE, "LIMIT = 3", "LIMIT = 3.0"),
    "its name": edited(MINE, '"mine"', '"mine2"'),
    "its base class": edited(DEEP, "patience = 2", "patience = 3"),
    "a helper two folders away": edited(DEEP, "FAR = 4", "FAR = 5"),
    "a kernel": edited(KERNELS, "* 3", "* 4"),
    "a kernel's kernel": edited(KERNELS, "x + 1", "x + 2"),
    "how a kernel is compiled": edited(KERNELS, "cache=True", "fastmath=True"),
    "what is imported late": edited(LATE, "2.5", "2.25"),
    "the order of a tuple's fields": edited(
        MINE, "first: int\n    second: int", "second: int\n    first: int"
    ),
    "a default": edited(DEEP, "def reach(x):", "def reach(x=1):"),
    "what it takes from NumPy": edited(DEEP, "np.asarray", "np.array"),
    "a setting at import": LAB | {KERNELS: LAB[KERNELS] + "numba.config.OPT = 1\n"},
    "a setting of another module": LAB
    | {"lab/__init__.py": "import lab.tools.late\nlab.tools.late.SCALE = 3\n"},
    "a later binding": LAB | {LATE: LAB[LATE] + "for SCALE in range(3):\n    pass\n"},
}


@pytest.mark.parametrize("what", SAME)
def test_what_means_the_same_has_the_same_fingerprint(
    mark: Callable[..., Meaning], what: str
) -> None:
    assert mark(SAME[what]) == mark(LAB)
    assert mark(LAB).hidden == ()


@pytest.mark.parametrize("what", OTHER)
def test_what_means_something_else_has_another(mark: Callable[..., Meaning], what: str) -> None:
    assert mark(OTHER[what]).code != mark(LAB).code


def test_renaming_the_package_and_moving_it_change_nothing(mark: Callable[..., Meaning]) -> None:
    renamed = {
        name.replace("lab/", "institute/rooms/"): text.replace("lab.", "institute.rooms.")
        for name, text in LAB.items()
    }
    assert mark(renamed, "institute.rooms.agents.mine") == mark(LAB)


PINNED = "d57fea32dd6c6bef"


def test_every_python_reads_the_same_in_the_same_code(mark: Callable[..., Meaning]) -> None:
    """It stands here as a number, since it must never depend on who counts it."""
    assert content_hash(mark(ROOM | {"room/mine.py": GRAMMAR}, "room.mine").code)[:16] == PINNED


def test_every_number_counts_and_no_formatting_does(mark: Callable[..., Meaning]) -> None:
    def code(tree: ast.Module) -> bytes:
        return mark(ROOM | {"room/mine.py": ast.unparse(tree)}, "room.mine").code

    written = mark(ROOM | {"room/mine.py": GRAMMAR}, "room.mine").code
    assert code(ast.parse(GRAMMAR)) == written
    seen, numbers = {written}, 0
    for one in ast.walk(tree := ast.parse(GRAMMAR)):
        if isinstance(one, ast.Constant) and type(one.value) is int:
            one.value += 1
            numbers += 1
            seen.add(code(tree))
    assert len(seen) == 1 + numbers > 20


def test_a_module_of_ones_own_may_be_called_like_one_of_pythons(
    mark: Callable[..., Meaning],
) -> None:
    files = {
        "solo.py": "from statistics import mean\nclass Mine:\n" + ACT.format("mean"),
        "statistics.py": "mean = 1\n",
    }
    other = mark(files | {"statistics.py": "mean = 2\n"}, "solo")
    assert mark(files, "solo").code != other.code
    assert mark({"solo.py": files["solo.py"]}, "solo").distributions == ()


def test_what_others_wrote_counts_by_name_and_version(mark: Callable[..., Meaning]) -> None:
    import numba

    found = mark(LAB).distributions
    assert found == (f"numba=={numba.__version__}", f"numpy=={np.__version__}")


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
ROOM = {"room/__init__.py": "", "room/mine.py": "", "room/rules.py": "RULES = []\n"}
ACT = "    def act(self):\n        return {}\n"


@pytest.mark.parametrize(
    ("mine", "more"),
    [
        pytest.param(  # a registry filled by decorators in modules that nothing names
            "from room import rules, basic\nclass Mine:\n" + ACT.format("rules.RULES"),
            {
                "room/rules.py": "RULES = []\ndef rule(f):\n    RULES.append(f)\n    return f\n",
                "room/basic.py": "from room.rules import rule\n@rule\ndef one():\n"
                "    return KIND\n",
            },
            id="a decorator that registers",
        ),
        pytest.param(
            "from room import rules, basic\nclass Mine:\n" + ACT.format("rules.Rule.every"),
            {
                "room/rules.py": "class Rule:\n    every = []\n"
                "    def __init_subclass__(cls):\n        cls.every.append(cls)\n",
                "room/basic.py": "from room.rules import Rule\nclass One(Rule):\n    size = KIND\n",
            },
            id="a base class that hears of it",
        ),
        pytest.param(
            "from room import rules\nfrom room import basic\nclass Mine:\n"
            + ACT.format("rules.RULES"),
            {"room/basic.py": "from room.rules import RULES\n_ = RULES.append(KIND)\n"},
            id="an assignment that calls what is its own",
        ),
        pytest.param(
            "from room import basic\nclass Mine:\n" + ACT.format("getattr(basic, self.which)"),
            {"room/basic.py": "def one():\n    return KIND\n"},
            id="a module as a value",
        ),
        pytest.param(
            "class Mine:\n" + ACT.format("globals()[self.which]") + "def one():\n    return KIND\n",
            {},
            id="globals",
        ),
        pytest.param(
            "from room.basic import *\nclass Mine:\n" + ACT.format("one()"),
            {"room/basic.py": "def one():\n    return KIND\n"},
            id="a star import",
        ),
        pytest.param(
            "from room import basic\nclass Mine:\n" + ACT.format("basic.made_up"),
            {"room/basic.py": "def __getattr__(name):\n    return KIND\n"},
            id="a module that makes its names up",
        ),
        pytest.param(
            "class Mine:\n" + ACT.format("[x for x in x]") + "x = KIND\n",
            {},
            id="a name that a comprehension only binds later",
        ),
        pytest.param(
            "x = KIND\nclass Mine:\n    x = x\n" + ACT.format("x"),
            {},
            id="a name that a class only binds later",
        ),
        pytest.param(
            "try:\n    from room.fast import one\nexcept ImportError:\n    one = None\n"
            "class Mine:\n" + ACT.format("one"),
            {"room/fast.py": "def one():\n    return KIND\n"},
            id="what may be imported or not",
        ),
        pytest.param(
            "from room.fast import one\nclass Mine:\n" + ACT.format("one.x"),
            {
                "room/fast.py": "import functools\n@functools.singledispatch\ndef one(x):\n"
                "    return 0\n@one.register\ndef _(x: KIND):\n    return 1\n"
            },
            id="an annotation that somebody goes by",
        ),
        pytest.param(
            "import room.shop\nclass Mine:\n" + ACT.format("room.shop.inner.one()"),
            {
                "room/shop/__init__.py": "",
                "room/shop/inner.py": "def one():\n    return KIND\n",
            },
            id="a dotted use",
        ),
        pytest.param(
            "class Mine:\n    def act(self):\n        def inner():\n            global COUNT\n"
            "            COUNT = 1\n        return COUNT\nCOUNT = KIND\n",
            {},
            id="a global",
        ),
    ],
)
def test_what_names_do_not_say_counts_as_a_whole(
    mark: Callable[..., Meaning], mine: str, more: dict[str, str]
) -> None:
    """KIND stands where no name of the agent leads to by itself."""
    files = ROOM | {"room/mine.py": mine} | more
    before, after = (
        mark({name: text.replace("KIND", one) for name, text in files.items()}, "room.mine")
        for one in ("int", "float")
    )
    assert before.code != after.code
    commented = {n: f"# {n}\n{t.replace('KIND', 'int')}" for n, t in files.items()}
    assert before == mark(commented, "room.mine")


def test_the_bytes_of_a_compiled_extension_count(mark: Callable[..., Meaning]) -> None:
    suffix = importlib.machinery.EXTENSION_SUFFIXES[0]
    mine = "from room import swift\nclass Mine:\n" + ACT.format("swift.go()")
    one, two = (
        mark(ROOM | {"room/mine.py": mine, f"room/swift{suffix}": raw}, "room.mine")
        for raw in (b"\x7fELF 1", b"\x7fELF 2")
    )
    assert one.code != two.code and one.hidden == ()


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("eval('1')", "it uses eval"),
        ("importlib.import_module(self.which)", "it uses importlib.import_module"),
        ("sys.modules['room'].one", "it uses sys.modules"),
        ("type(self).__subclasses__()", "it uses __subclasses__"),
        ("pickle.loads(b'')", "it uses pickle.loads"),
    ],
)
def test_code_that_no_name_leads_to_is_noticed(
    mark: Callable[..., Meaning], body: str, why: str
) -> None:
    text = "import importlib, pickle, sys\nclass Mine:\n" + ACT.format(body)
    assert why.startswith(mark(ROOM | {"room/mine.py": text}, "room.mine").hidden)


def test_a_module_that_is_no_python_is_noticed(mark: Callable[..., Meaning]) -> None:
    text = "from room.broken import one\nclass Mine:\n" + ACT.format("one")
    found = mark(ROOM | {"room/mine.py": text, "room/broken.py": "def"}, "room.mine")
    assert found.hidden == ("module room.broken cannot be read (SyntaxError)",)
