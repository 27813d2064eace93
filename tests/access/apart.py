"""`sts` in a separate process whose memory for reading a file is limited."""

import os
import subprocess
import sys

_CODE = """
import sys
from sts.storage import memory

memory.memory_limit = lambda: int(sys.argv[1])
from sts.cli.main import main

sys.exit(main(sys.argv[2:]))
"""


def refusal(allowance: int, *words: str) -> str:
    """Run a command that must fail; return its one-line error.

    A separate process cannot reuse memory that earlier tests have freed.
    """
    # Arrow's default pool reserves a gigabyte of addresses.
    environment = os.environ | {"ARROW_DEFAULT_MEMORY_POOL": "system"}
    command = [sys.executable, "-c", _CODE, str(allowance), *words]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 1, done.stderr
    (line,) = done.stderr.strip().splitlines()
    return line
