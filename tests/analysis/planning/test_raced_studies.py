"""Studies that are judged in rounds through the real queue: claims, answers and looks on SQLite.

Agents of Λ* play, and scripts judge what the queue hands out in the place of people. By how
scripts judge, the six agents are three pairs of equals.
"""

import shutil
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from scipy.special import expit, logit, ndtri
from sqlalchemy import select

from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.database.schema import copies, items
from sts.annotations.people.people import list_people
from sts.continuations.run import run
from sts.storage.workspace import Workspace
from sts.suites import selections
from sts.suites import suite_store as suites
from sts_analysis.inputs.workspace import gather
from sts_analysis.planning.looks import make_due_look
from sts_analysis.report.core import Options
from sts_analysis.report.core import Study as ReportStudy
from sts_annotator_app.queueing import fill_queue
from sts_annotator_app.racing import LookMaker
from tests.annotations.examples import a_submission
from tests.annotator_app.serving import quiet
from tests.stores import add_person, ask, claim_items, submit

SUITE, CONTINUATIONS, PEOPLE, HELD = "third@1", 10, 4, 12
RATES = {
    "local-search": 0.4, "stigmergy": 0.4, "random": 0.6,
    "reader-noisy-60": 0.6, "blind": 0.8, "wisdom-of-the-crowd": 0.8,
}  # fmt: skip
"""Mean success by agent; of those chosen, hardly two of different rates share clips."""
SETTINGS = """
[annotation]
reference_rate = 0
overlap = 0
anchors = 0
min_gap = 0
instruction_alone = 0
"""
EASE, FIT, STRICTNESS = 1.0, 0.8, 0.5
"""Standard deviations, in logits, of scenarios, of agents by scenario, and of annotators."""
_QUANTILES = ndtri((np.arange(1000) + 0.5) / 1000)


class Race(NamedTuple):
    """Result of a study."""

    share: float  # of the full plan's clips that were judged
    found: set[tuple[str, str]]  # pairs that the report calls different, the better agent first
    covered: float  # share of agents whose interval in the report holds the true rate
    state: str  # of the report


@pytest.fixture(scope="module", name="queued")
def queue_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a workspace with the clips of six agents, all of which wait to be judged."""
    workspace = Workspace.open(tmp_path_factory.mktemp("raced")).create()
    core = suites.load(workspace, "core@3").scenarios
    kept = [one for one in core if not one.pair and not one.dialogue][::3]
    suites.freeze_scenarios(workspace, "third", kept)
    run(workspace, kept, [*RATES], count=CONTINUATIONS, seed=0, workers=1, progress=quiet)
    file = workspace.path("workspace.toml")
    file.write_text(file.read_text().partition("[annotation]")[0] + SETTINGS)
    workspace = Workspace.open(workspace.root)  # with these settings
    with AnnotationStore.open(workspace) as store:
        fill_queue(workspace, store, selections.load_selection(workspace, SUITE))
        for n in range(PEOPLE):
            add_person(store, f"script {n}")
    return workspace.root


def play(root: Path, seed: int) -> Race:
    """Judge a copy of the queue until the race is over."""
    rng, workspace = np.random.default_rng(seed), Workspace.open(root)
    strictness = STRICTNESS * rng.standard_normal(PEOPLE)
    with AnnotationStore.open(workspace) as store:
        log_odds = _draw_log_odds(store, rng)
        people = [person.id for person in ask(store, list_people)]
        maker, judged = LookMaker(workspace, SUITE, lambda: store), 0
        while True:
            before = judged
            for place, person in enumerate(people):
                held = claim_items(store, person, suite=SUITE, count=HELD)
                success = [
                    rng.random() < expit(log_odds[one.item] - strictness[place]) for one in held
                ]
                sent = [
                    a_submission(
                        one,
                        verdict="success" if passed else "not_done",
                        step=1 if passed else None,
                    )
                    for one, passed in zip(held, success, strict=True)
                ]
                submit(store, person, sent)
                judged += len(held)
            if (judged == before or maker.is_due()) and not make_due_look(store, workspace, SUITE):
                if judged == before:
                    break
    report = ReportStudy(gather(workspace, SUITE), Options(), {"sts": "1"})
    agents, claim, interval = report.outcomes.agents, report.claim, report.rates.interval
    pairs = np.stack([claim.comparisons.first, claim.comparisons.second], axis=1)[claim.significant]
    value = claim.comparisons.value[claim.significant]
    found = {
        (agents[a], agents[b]) if gap > 0 else (agents[b], agents[a])
        for (a, b), gap in zip(pairs, value, strict=True)
    }
    odds = np.array([_mean_odds(agent) for agent in agents])[:, None, None]
    # Intervals are about these annotators.
    truth = expit(odds + np.hypot(EASE, FIT) * _QUANTILES - strictness[:, None]).mean(axis=(1, 2))
    covered = float(((interval[:, 0] <= truth) & (truth <= interval[:, 1])).mean())
    return Race(judged / len(log_odds), found, covered, claim.state)


def _draw_log_odds(store: AnnotationStore, rng: np.random.Generator) -> dict[str, float]:
    """Draw how clearly each clip is a success, in logits: by agent, scenario, and both."""
    with store.read() as connection:
        columns = select(copies.c.item, copies.c.agent, items.c.scenario)
        rows = sorted(connection.execute(columns.join(items, items.c.id == copies.c.item)))
    ease = {name: EASE * rng.standard_normal() for name in sorted({row[2] for row in rows})}
    fit: dict[tuple[str, str], float] = {}
    log_odds = {}
    for item, agent, scenario in rows:
        if (agent, scenario) not in fit:
            fit[agent, scenario] = FIT * rng.standard_normal()
        log_odds[item] = _mean_odds(agent) + ease[scenario] + fit[agent, scenario]
    return log_odds


def _mean_odds(agent: str) -> float:
    """Return the log odds around which those of an agent's clips lie, so that its rate is right."""
    return float(logit(RATES[agent]) * np.sqrt(1 + 0.346 * (EASE**2 + FIT**2 + STRICTNESS**2)))


@pytest.mark.slow
def test_race_through_the_real_queue_saves_a_third_of_the_clips(
    queued: Path, tmp_path: Path
) -> None:
    """Bounds are three standard errors wide, as if the agents of a study were one."""
    studies, races = 40, []
    for seed in range(studies):
        root = shutil.copytree(queued, tmp_path / "study")
        races.append(play(root, seed))
        shutil.rmtree(root)

    def vary(share: float) -> float:
        return 3 * float(np.sqrt(share * (1 - share) / studies))

    wrong = [any(RATES[a] <= RATES[b] for a, b in race.found) for race in races]
    assert all(race.state == "final" for race in races)
    assert np.mean([race.share for race in races]) < 2 / 3
    assert np.mean([len(race.found) for race in races]) >= 10  # of 12 pairs of unequal agents
    assert np.mean(wrong) <= 0.075 + vary(0.075)
    assert np.mean([race.covered for race in races]) >= 0.93 - vary(0.93)
