"""Measures reports of many agents for docs/benchmarks.md.

    python -m tests.benchmarks.reports

The tables are synthetic: agents of different skill, scenarios of different ease, one judgement of
each continuation by one of eight people.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit

from sts.storage.workspace import Workspace
from sts_analysis.planning.pilot import scenarios_needed, share_between
from sts_analysis.statistics.agreement import measure_alpha
from sts_analysis.statistics.rates import RateModel
from tests.analysis.outcomes import make_outcomes
from tests.analysis.planning.designs import draw_verdicts, lay_out
from tests.benchmarks import looks, measure, million
from tests.benchmarks.measure import STS, Cost, Rows, cost

SCENARIOS, CONTINUATIONS = 1600, 3
AGENTS = {20: ("3 CPU seconds", None), 100: (None, None), 500: ("40 seconds", 2000)}
"""Aims in time, of processor in addition to imports or on the clock, and in megabytes."""
WORKSPACE_AIM = "5 CPU seconds"
IMPORTS = (
    "from sts_analysis.report.document import define_report; define_report(); "
    "import sts_analysis.api, sts_analysis.report.write"
)
TIMES = 5
"""How often what takes seconds is done; the one in the middle is shown."""
MANY = 100
"""With more agents than these, a report is made once."""


def ratings(agents: int) -> pd.DataFrame:
    """Return a ratings table of `agents` x `SCENARIOS` x `CONTINUATIONS` judgements."""
    rng = np.random.default_rng(0)
    shape = (agents, SCENARIOS, CONTINUATIONS)
    skill, ease = rng.normal(0, 1, (agents, 1)), rng.normal(0, 1.5, SCENARIOS)
    chance = expit(skill + ease + rng.normal(0, 0.8, shape[:2]))
    success = (rng.random(shape) < chance[..., None]).ravel()
    agent, scenario, index = (axis.ravel() for axis in np.indices(shape))
    other = np.where(rng.random(success.size) < 0.5, "failure", "not_done")
    verdict = np.where(success, "success", other)

    def label(mark: str, number: np.ndarray) -> np.ndarray:
        return np.array([f"{mark}{i:04}" for i in range(number.max() + 1)])[number]

    return pd.DataFrame(
        {
            "agent": label("agent-", agent),
            "scenario": label("scenario-", scenario),
            "category": label("category-", scenario % 16),
            "continuation": index,
            "annotator": label("person-", rng.integers(0, 8, success.size)),
            "verdict": verdict,
            "step": np.where(verdict == "not_done", np.nan, rng.integers(1, 20, success.size)),
            "horizon": np.array([20, 30, 40])[scenario % 3],
            "seconds": rng.gamma(4, 3, success.size).round(1),
        }
    )


def middle(code: str, *words: str, times: int = TIMES) -> Cost:
    """Return what code costs that is run so many times, in the middle."""
    return sorted((cost(code, *words) for _ in range(times)), key=lambda one: one.cpu)[times // 2]


def judge_twice(clips: int = 1_500_000, judgements: int = 2_400_000) -> pd.DataFrame:
    """Return verdicts of clips of `SCENARIOS`, most of which have several, drawn with even odds."""
    rng = np.random.default_rng(9)
    clip = rng.integers(0, clips, judgements)
    make = pd.Categorical.from_codes
    return pd.DataFrame(
        {
            "clip": make(clip, pd.Index([f"k{c}" for c in range(clips)])),
            "scenario": make(clip % SCENARIOS, pd.Index([f"s{s:03}" for s in range(SCENARIOS)])),
            "verdict": make(rng.integers(0, 2, judgements), pd.Index(["failure", "success"])),
            "continuation": clip,
        }
    )


def rows_of_functions() -> Rows:
    """Time the statistics that a report computes for itself, without reading and writing."""
    table, outcomes = judge_twice(), make_outcomes(np.zeros((1, SCENARIOS, 1)))
    taken = measure.seconds(lambda: measure_alpha(table, outcomes), runs=TIMES)
    yield f"alpha of {len(table):,} judgements", "1 second", *(None,) * 3, taken, *(None,) * 3
    units = np.arange(80)
    verdicts = draw_verdicts([0.45, 0.5], unit=units, continuations=3, seed=2)[:, 0]
    plan = lay_out(verdicts, units % 4, units)
    model = RateModel(plan)

    def work() -> None:
        scenarios_needed(model, 0, 1, pairs=1)
        share_between(plan, 0, 1)

    taken = measure.seconds(work, runs=TIMES)
    yield "scenarios needed for a pair, of 80", "0.05 seconds", *(None,) * 3, taken, *(None,) * 3


def rows() -> Rows:
    none, unknown = (None, None), (None, None, None)
    imported = middle(IMPORTS)
    yield "importing what a report needs", *none, imported.cpu, None, imported.wall, *unknown
    with tempfile.TemporaryDirectory() as name:
        folder, fewer = Path(name), (0, 0.0)
        for agents, aims in AGENTS.items():
            path, out = folder / f"{agents}.parquet", folder / f"report-{agents}"
            ratings(agents).to_parquet(path, index=False)
            words = ["report", "--table", str(path), "--out", str(out)]
            whole = middle(STS, *words, times=1 if agents > MANY else TIMES)
            page = round((out / "report.html").stat().st_size / 1000)
            json = round((out / "report.json").stat().st_size / 2**20, 1)
            own = whole.cpu - imported.cpu
            growth = measure.exponent(fewer[0], agents, fewer[1], own) if all(fewer) else None
            fewer = agents, own
            what = f"{agents} agents, {agents * SCENARIOS * CONTINUATIONS:,} judgements"
            yield what, *aims, own, growth, whole.wall, whole.megabytes, page, json
        workspace = folder / "workspace"
        count = SCENARIOS * CONTINUATIONS * min(AGENTS) // len(million.AGENTS)
        million.fill(Workspace.open(workspace).create(), SCENARIOS, count // SCENARIOS)
        words = ["million@1", "--workspace", str(workspace)]
        cost(STS, "label", *words)
        whole = middle(STS, "report", *words)
        what = f"a workspace, {len(million.AGENTS)} agents, {count * len(million.AGENTS):,} labels"
        yield (
            what,
            WORKSPACE_AIM,
            None,
            whole.cpu - imported.cpu,
            None,
            whole.wall,
            whole.megabytes,
            *none,
        )
        bad = folder / "bad.csv"
        bad.write_text("agent,scenery,verdict\na,b,success\n")
        refused = cost(STS, "report", "--table", str(bad), fails=True)
        yield "a table with a bad header, refused", *none, refused.cpu, None, refused.wall, *unknown
    yield from rows_of_functions()


if __name__ == "__main__":
    measure.write("bench-reports", reports=sys.modules[__name__], looks=looks)
