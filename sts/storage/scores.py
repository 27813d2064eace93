"""The scores table: its columns, in one place for whoever writes or reads one.

One row is one metric of one agent; `docs/data_standard.md` says what each column means.
"""

from __future__ import annotations

import pyarrow as pa

SCORES = {
    "agent": pa.string(),
    "metric": pa.string(),
    "value": pa.float64(),
    "standard_error": pa.float64(),
    "n": pa.int64(),
    "parameters": pa.string(),
}
