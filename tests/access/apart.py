"""`sts` in a process of its own that may take so much memory to read a file, and no more."""

from __future__ import annotations

import os
import subprocess
import sys

_CODE = """
import sys
from sts.storage import memory

memory.allowance = lambda: int(sys.argv[1])
from sts.cli.main import main

sys.exit(main(sys.argv[2:]))
"""


def refusal(allowance: int, *words: str) -> str:
    """Return the one line with which it ends, with exit code 1.

    In this process what earlier tests have taken and given back would be there to be read into.
    """
    # Arrow's usual pool begins with a gigabyte of addresses, used or not.
    environment = os.environ | {"ARROW_DEFAULT_MEMORY_POOL": "system"}
    command = [sys.executable, "-c", _CODE, str(allowance), *words]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 1, done.stderr
    (line,) = done.stderr.strip().splitlines()
    return line
