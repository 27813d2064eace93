"""The versions of Python on this machine."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ASKED = "import sys; print(*sys.version_info[:2])"


def list_pythons(*chosen: str) -> dict[tuple[int, ...], str]:
    """Return an interpreter of each version from 3.8 on: first the chosen, then those installed."""
    names = [f"python3.{minor}" for minor in range(8, 20)]
    siblings = sorted(map(str, Path(sys.base_prefix).parent.glob("3.*/bin/python3")))  # as of pyenv
    found: dict[tuple[int, ...], str] = {}
    for python in filter(None, (shutil.which(n) for n in (*chosen, *names, *siblings) if n)):
        asked = subprocess.run([python, "-c", ASKED], capture_output=True, text=True)
        version = tuple(map(int, asked.stdout.split()))
        if asked.returncode == 0 and version >= (3, 8):
            found.setdefault(version, python)
    return found
