"""Build the wheel, install it in a clean environment and try it from another folder.

    python -m tests.wheel PYTHON

It is tried with this Python, and with the oldest and the newest supported one that is on the
machine, where they differ from it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.pythons import list_pythons

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build"
SUPPORTED = ((3, 11), (3, 12), (3, 13))
PART = "core@3+category:keep-beside"
TRIED = (
    "suite verify core@3",
    f"run {PART} --agent random --agent rule --continuations 1",
    f"label {PART}",
    f"report {PART}",
)


def find_pythons(chosen: str) -> list[str]:
    """Return the chosen interpreter, and the oldest and newest supported of other versions."""
    found = list_pythons(chosen)
    supported = [version for version in found if version in SUPPORTED]
    return [found[v] for v in dict.fromkeys((supported[0], min(supported), max(supported)))]


def build_wheel() -> Path:
    """Return the path of the wheel of this checkout."""
    folder = BUILD / "wheel"
    shutil.rmtree(folder, ignore_errors=True)
    words = ["pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run([sys.executable, "-m", *words], check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def try_wheel(python: str, wheel: Path) -> None:
    """Install a wheel for an interpreter, and run commands next to modules of the same names."""
    clean, elsewhere = BUILD / "clean", BUILD / "elsewhere"
    for folder in (clean, elsewhere):
        shutil.rmtree(folder, ignore_errors=True)
    (elsewhere / "analysis").mkdir(parents=True)
    for name in ("scenarios.py", "analysis/__init__.py"):
        (elsewhere / name).write_text('raise SystemExit("imported the folder of a user")\n')
    subprocess.run([python, "-m", "venv", "--without-pip", str(clean)], check=True)
    install = ["-m", "pip", "--python", str(clean / "bin/python"), "install", "--quiet"]
    install += ["--no-compile", "--constraint", str(ROOT / "constraints.lock")]
    quiet = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    subprocess.run([sys.executable, *install, str(wheel)], check=True, env=quiet)
    for words in TRIED:
        subprocess.run([str(clean / "bin/sts"), *words.split()], check=True, cwd=elsewhere)


if __name__ == "__main__":
    made = build_wheel()
    for interpreter in find_pythons(*sys.argv[1:]):
        print(f"trying {made.name} with {interpreter}", flush=True)
        try_wheel(interpreter, made)
