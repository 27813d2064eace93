"""Does the task that is in a file, in the main thread of this process."""

import os
import pickle
import sys
from pathlib import Path

from sts.plugin import StsError

file = Path(sys.argv[1])
work, args = pickle.loads(file.read_bytes())
try:
    outcome = work(*args)
except StsError as error:
    outcome = error
file.with_suffix(f".{os.getpid()}").write_bytes(pickle.dumps(outcome))
