"""Provenance of results: versions and commit."""

import functools
import platform
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

import sts


def _git(*words: str) -> str | None:
    home = Path(sts.__file__).resolve().parent.parent
    if not (home / ".git").exists():
        return None
    try:
        process = subprocess.run(
            ["git", "-C", str(home), *words], capture_output=True, text=True, timeout=10
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return process.stdout.strip() if process.returncode == 0 else None


@functools.cache
def collect_provenance() -> dict[str, Any]:
    """Return the versions of Python and packages, the commit, and whether the checkout is dirty.

    `commit` and `dirty` are None for an installed package.
    """
    status = _git("status", "--porcelain", "--untracked-files=no")
    return {
        "sts": sts.__version__,
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in ("numpy", "numba", "pandas", "pyarrow")},
        "commit": _git("rev-parse", "HEAD") or None,
        "dirty": None if status is None else bool(status),
    }
