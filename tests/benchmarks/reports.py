"""Reports of many agents: what reading, analysing and writing take.

    python -m tests.benchmarks.reports

Writes docs/benchmarks_reports.md. The tables are synthetic: agents of different skill, scenarios of
different ease, one judgement of each continuation by one of eight people.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit

from tests.benchmarks.measure import Cost, Table, cost, machine, markdown

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks_reports.md"
SCENARIOS, CONTINUATIONS = 1600, 3
AGENTS = {20: ("3 CPU seconds", None), 100: (None, None), 500: ("60 seconds", 4000)}
"""Aims in time, of processor beyond imports or on the clock, and in megabytes, by agents."""
IMPORTS = (
    "import sts_analysis.report.build, sts_analysis.report.write, sts_analysis.report.figures, "
    "vl_convert"
)
DRAWN = "; vl_convert.vegalite_to_svg({'mark': 'point', 'data': {'values': [{'a': 1}]}})"
TIMES = 5
"""How often what takes seconds is done; the one in the middle is shown."""
BAD = "agent,scenario,verdit\na,b,success\n"


def table(agents: int) -> pd.DataFrame:
    """A ratings table of `agents` x `SCENARIOS` x `CONTINUATIONS` judgements."""
    rng = np.random.default_rng(0)
    shape = (agents, SCENARIOS, CONTINUATIONS)
    skill, ease = rng.normal(0, 1, (agents, 1)), rng.normal(0, 1.5, SCENARIOS)
    chance = expit(skill + ease + rng.normal(0, 0.8, shape[:2]))
    success = (rng.random(shape) < chance[..., None]).ravel()
    agent, scenario, index = (axis.ravel() for axis in np.indices(shape))
    other = np.where(rng.random(success.size) < 0.5, "failure", "not_done")
    verdict = np.where(success, "success", other)
    step = np.where(verdict == "not_done", np.nan, rng.integers(1, 20, success.size))

    def named(mark: str, number: np.ndarray) -> np.ndarray:
        return np.array([f"{mark}{i:04}" for i in range(number.max() + 1)])[number]

    return pd.DataFrame(
        {
            "agent": named("agent-", agent),
            "scenario": named("scenario-", scenario),
            "category": named("category-", scenario % 16),
            "continuation": index,
            "annotator": named("person-", rng.integers(0, 8, success.size)),
            "verdict": verdict,
            "step": step,
            "horizon": np.array([20, 30, 40])[scenario % 3],
            "seconds": rng.gamma(4, 3, success.size).round(1),
        }
    )


def usual(command: list[str], times: int = TIMES) -> Cost:
    """What a command costs that is run so many times, in the middle."""
    return sorted((cost(command) for _ in range(times)), key=lambda one: one.cpu)[times // 2]


def main(folder: Path) -> None:
    python, sts = [sys.executable, "-c"], [sys.executable, "-m", "sts.cli.main"]
    imported, begun = usual([*python, IMPORTS]), usual([*python, IMPORTS + DRAWN])
    begins = begun.cpu - imported.cpu, begun.wall - imported.wall
    rows: list[tuple[object, ...]] = [
        ("importing what a report needs", None, None, imported.cpu, imported.wall),
        ("starting the library that draws, part of each report", None, None, *begins),
    ]
    for agents, (aim, most) in AGENTS.items():
        path, out = folder / f"{agents}.parquet", folder / f"report-{agents}"
        table(agents).to_parquet(path, index=False)
        words = ["report", "--table", str(path), "--out", str(out)]
        whole = usual([*sts, *words], 1 if agents > 100 else TIMES)
        page = (out / "report.html").stat().st_size / 2**20
        what = f"{agents} agents, {agents * SCENARIOS * CONTINUATIONS:,} judgements"
        cpu = whole.cpu - imported.cpu
        rows.append((what, aim, most, cpu, whole.wall, whole.megabytes, round(page, 1)))
    bad = folder / "bad.csv"
    bad.write_text(BAD)
    refused = cost([*sts, "report", "--table", str(bad)], fails=True)
    rows.append(("a table with a bad header, refused", None, None, refused.cpu, refused.wall))
    shown = Table(
        "Reports of many agents",
        f"{SCENARIOS} scenarios, {CONTINUATIONS} continuations of each by every agent, each judged "
        "once: a table read, analysed with 10,000 draws over all pairs, and written with figures, "
        "tables and page. Seconds of processor are beyond imports, but for those of the import and "
        f"of what is refused. Of {TIMES} runs the one in the middle; 500 agents once.",
        (
            "what",
            "aim, time",
            "aim, megabytes",
            "CPU seconds",
            "seconds",
            "megabytes",
            "page, megabytes",
        ),
        [(*row, *(None,) * (7 - len(row))) for row in rows],
    )
    opening = f"Written by `make bench-reports`, on\n\n> {machine()}\n"
    PAGE.write_text(f"# Benchmarks of reports\n\n{opening}\n{markdown(shown)}")
    print(markdown(shown))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        main(Path(name))
