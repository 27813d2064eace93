"""Made studies, one for each state that a report can have; the verdicts are drawn, not people's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from sts_analysis.inputs.gather import Gathered, gather_table
from sts_analysis.inputs.scores import check_scores
from sts_analysis.inputs.tables import from_frame
from sts_analysis.report.core import Options, Study

CATEGORIES = ("avoid", "count", "fetch", "follow", "guard", "point", "sort", "stack")
PEOPLE = ("ana", "ben", "chi")
PROVENANCE = {"sts": "0.1.0", "python": "3.12.0", "commit": None, "dirty": None}


def draw_study(
    agents: Mapping[str, float],
    *,
    scenarios: int = 96,
    continuations: int = 4,
    categories: Sequence[str] = CATEGORIES,
    people: Sequence[str] = PEOPLE,
    twice: float = 0.3,
    judges: Callable[[str], Sequence[str]] | None = None,
    judged: float = 1.0,
    missing: Mapping[str, int] | None = None,
    per_trajectory: int = 0,
    seed: int = 0,
) -> pd.DataFrame:
    """Draw the verdicts of a study.

    Args:
      agents: ability of each, on the logit scale.
      scenarios: number of them.
      continuations: of each agent in each scenario.
      categories: in turn.
      people: annotators.
      twice: share of clips that two people judged.
      judges: which people judge an agent; None for all.
      judged: share of clips that anybody has judged.
      missing: how many scenarios an agent lacks.
      per_trajectory: scenarios of one trajectory; 0 for a table without trajectories.
      seed: of the draws.
    """
    rng = np.random.default_rng(seed)
    ease = rng.normal(0, 1.2, scenarios)
    strictness = defaultdict(float, zip(people, rng.normal(0, 0.4, len(people)), strict=True))
    rows = []
    for agent, ability in agents.items():
        own = rng.normal(0, 0.8, scenarios)
        allowed = list(judges(agent) if judges else people)
        for s in range((missing or {}).get(agent, 0), scenarios):
            row = {
                "agent": agent,
                "scenario": f"{categories[s % len(categories)]}-{s // len(categories):02}",
                "category": categories[s % len(categories)],
                "horizon": 30,
            }
            if per_trajectory:
                row["trajectory"] = f"recording-{s // per_trajectory}"
            for c in range(continuations):
                outcome = rng.normal(0, 0.7)
                who = rng.permutation(allowed)[: 1 + int(rng.random() < twice)]
                clip = {"continuation": str(c), "clip": f"{agent}-{s}-{c}"}
                if rng.random() >= judged:
                    rows.append(row | clip)
                    continue
                for person in who:
                    chance = expit(ability + ease[s] + own[s] + outcome - strictness[person])
                    success = rng.random() < chance
                    verdict = "success" if success else "not_done"
                    step = int(rng.integers(2, 30)) if success else None
                    rows.append(
                        row | clip | {"annotator": person, "verdict": verdict, "step": step}
                    )
    return pd.DataFrame(rows)


FOUR = {"bc-large": 0.9, "rl-tuned": 0.85, "bc-small": -0.4, "random": -1.8}


def _draw_rule() -> pd.DataFrame:
    frame = draw_study({"reader": 4, "half": -0.5, "rule": -3, "random": -3.1}, twice=0)
    frame = frame.assign(annotator="rule", source="automatic")
    return pd.concat([frame, frame[frame["agent"] == "rule"].assign(agent="oracle", sees="world")])


VARIANTS: dict[str, Callable[[], Gathered]] = {
    "rule": lambda: _gather(_draw_rule()),
    "best": lambda: _gather(draw_study({"dreamer": 1.9, "ppo": 0.4, "bc": -0.6, "random": -1.8})),
    "tied": lambda: _gather(draw_study(FOUR, per_trajectory=4), interactive=True),
    "none differs": lambda: _gather(draw_study({"a": 0.1, "b": 0.1, "c": 0.12}, scenarios=24)),
    "hundred agents": lambda: _gather(
        draw_study(
            {f"run-{i:03}": 1.5 - i / 30 for i in range(100)},
            scenarios=48,
            continuations=1,
            twice=0.1,
        )
    ),
    "interim": lambda: _gather(draw_study(FOUR, judged=0.3)),
    "one agent": lambda: _gather(draw_study({"bc-large": 0.5})),
    "confounded": lambda: _gather(
        draw_study(
            {"ours": 0.2, "prior": -0.5, "random": -1.5},
            judges=lambda agent: [PEOPLE["opr".index(agent[0])]],
            twice=0,
        )
    ),
    "table only": lambda: _gather(
        draw_study(
            {"dreamer": 1.6, "ppo": 0.5, "ppo-lang": 0.45, "bc": -0.8},
            scenarios=32,
            categories=("drawer", "push", "stack"),
            people=("lea", "max", "tom"),
        )[["agent", "scenario", "category", "continuation", "annotator", "verdict"]]
    ),
    "below the table": lambda: _gather(draw_study(FOUR, missing={"bc-small": 40})),
    "few units": lambda: _gather(draw_study(FOUR, per_trajectory=12)),
    "two annotators": lambda: _gather(draw_study(FOUR, people=("ana", "ben"))),
    "long names": lambda: _gather(
        draw_study(
            {f"{name} of the second run, preview of November": FOUR[name] for name in FOUR}
            | {"x" * 60: 0.0},
            categories=("bring what the other one asked for and come back", "y" * 50),
            people=("an annotator with a long pseudonym", "z" * 40, "chi"),
        ),
        interactive=True,
    ),
}
"""Each study by the state or the sentence that it leads to."""


def _gather(frame: pd.DataFrame, *, interactive: bool = False) -> Gathered:
    gathered = gather_table(frame)
    if not interactive:
        return gathered
    agents = sorted(set(frame["agent"]))
    scores = pd.DataFrame(
        {
            "agent": agents,
            "metric": "interactive",
            "value": np.linspace(0.8, 0.2, len(agents)),
            "standard_error": 0.05,
        }
    )
    return gathered._replace(scores=check_scores(from_frame("scores", scores)))


def mark_slow_but(kept: str, names: Iterable[str]) -> list[Any]:
    """Mark all names as slow but these, whose reports differ most."""
    fast = kept.split(", ")
    return [x if x in fast else pytest.param(x, marks=pytest.mark.slow) for x in names]


def make_study(name: str, **options: object) -> Study:
    """Return the study of a variant."""
    return Study(VARIANTS[name](), Options(**options), PROVENANCE)  # type: ignore[arg-type]
