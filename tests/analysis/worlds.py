"""Seeded worlds: category -> scenario -> agent interaction -> continuation -> annotator."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.special import expit


def beta_world(
    *,
    rows: int,
    categories: int,
    scenarios: int,
    continuations: int,
    rate: float,
    icc: float,
    seed: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Outcomes of `rows` independent suites, beta-distributed scenario rates.

    Returns:
      values float64[rows, S, N], true rates float64[rows, S] and category int64[S].
    """
    rng = np.random.default_rng(seed)
    shape = (rows, categories * scenarios)
    if icc:
        weight = (1 - icc) / icc
        chance = rng.beta(rate * weight, (1 - rate) * weight, size=shape)
    else:
        chance = np.full(shape, rate)
    values = (rng.random((*shape, continuations)) < chance[..., None]).astype(np.float64)
    return values, chance, np.repeat(np.arange(categories), scenarios)


def logistic_world(
    *,
    skills: Sequence[float],
    categories: int,
    scenarios: int,
    continuations: int,
    seed: int,
    scenario_spread: float = 1.5,
    interaction_spread: float = 0.8,
) -> tuple[np.ndarray, np.ndarray]:
    """Outcomes of agents that meet the same scenarios.

    Returns:
      values float64[A, S, N] and category int64[S].
    """
    rng = np.random.default_rng(seed)
    total = categories * scenarios
    ease = rng.normal(0, scenario_spread, (1, total))
    own = rng.normal(0, interaction_spread, (len(skills), total))
    chance = expit(np.array(skills)[:, None] + ease + own)
    values = (rng.random((len(skills), total, continuations)) < chance[..., None]).astype(float)
    return values, np.repeat(np.arange(categories), scenarios)


def ratings_table(
    *,
    skills: dict[str, float],
    categories: Sequence[str],
    seed: int,
    scenarios: int = 10,
    continuations: int = 10,
    horizon: int = 60,
    annotators: dict[str, tuple[float, float]] | None = None,
    each: int = 1,
    references: int = 0,
    automatic: bool = False,
    judged: float = 1.0,
    baselines: Sequence[str] = (),
) -> pd.DataFrame:
    """A ratings table as people would have made it.

    Args:
      skills: logit skill of each agent.
      categories: names; the last quarter are questions.
      annotators: (sensitivity, specificity) of each.
      each: judgements per continuation.
      references: reference episodes, answered by every annotator.
      automatic: also automatic labels, 95% right.
      judged: share of the continuations that people have judged.
      baselines: agents that see the world.
    """
    rng = np.random.default_rng(seed)
    people = annotators or {"ann": (0.97, 0.95)}
    names = list(people)
    rows: list[dict[str, object]] = []

    def verdict(success: bool, step: int, person: str | None) -> tuple[str, int | None]:
        if person is not None:
            sensitivity, specificity = people[person]
            right = rng.random() < (sensitivity if success else specificity)
            if rng.random() < 0.01:
                return "cannot_judge", None
            if not right:
                success = not success
            step = int(np.clip(step + rng.integers(-2, 3), 1, horizon))
        if success:
            return "success", step
        return ("failure", step) if step % 3 == 0 else ("not_done", None)

    questions = len(categories) // 4
    for c, category in enumerate(categories):
        kind = "question" if c >= len(categories) - questions else "instruction"
        for s in range(scenarios):
            ease = rng.normal(0, 1.4) + (0.4 if kind == "question" else 0)
            for agent, skill in skills.items():
                chance = expit(skill + ease + rng.normal(0, 0.7))
                for n in range(continuations):
                    success = bool(rng.random() < chance)
                    step = int(np.clip(rng.gamma(3, 7 - 2 * np.tanh(skill)) + 2, 1, horizon))
                    name = f"{category}-{s:02d}/{agent}/{n}"
                    base = {
                        "agent": agent,
                        "scenario": f"{category}-{s:02d}",
                        "category": category,
                        "continuation": name,
                        "horizon": horizon,
                        "kind": kind,
                        "truth": "",
                        "truth_step": None,
                        "source": "human",
                        "sees": "world" if agent in baselines else "observation",
                    }
                    if rng.random() < judged:
                        for person in rng.permutation(names)[:each]:
                            word, at = verdict(success, step, str(person))
                            seconds = round(float(rng.gamma(4, 3)), 1)
                            rows.append(
                                base
                                | {
                                    "annotator": str(person),
                                    "verdict": word,
                                    "step": at,
                                    "seconds": seconds,
                                }
                            )
                    else:
                        rows.append(base | {"annotator": "", "verdict": "", "step": None})
                    if automatic:
                        word, at = verdict(
                            success if rng.random() < 0.95 else not success, step, None
                        )
                        rows.append(
                            base
                            | {
                                "annotator": "rule",
                                "verdict": word,
                                "step": at,
                                "source": "automatic",
                            }
                        )
    for r in range(references):
        success, step = r % 2 == 0, int(rng.integers(2, horizon))
        for person in names:
            word, at = verdict(success, step, person)
            rows.append(
                {
                    "agent": "reference",
                    "scenario": f"reference-{r}",
                    "category": categories[r % len(categories)],
                    "continuation": f"reference/{r}",
                    "horizon": horizon,
                    "annotator": person,
                    "verdict": word,
                    "step": at,
                    "truth": "success" if success else "failure",
                    "truth_step": step,
                    "source": "human",
                    "sees": "observation",
                    "kind": "",
                }
            )
    return pd.DataFrame(rows)
