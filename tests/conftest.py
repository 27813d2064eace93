"""Test tiers, Hypothesis profiles, and the CPU time printed at the end of a run.

Tests without a tier's marker are the quick tier (`make test`). `landing` marks what else a change
must pass before it lands (`make test-landing`), and `slow` what runs at night (`make test-all`).
"""

import contextlib
import functools
import gc
import importlib
import os
from collections.abc import Iterator
from multiprocessing import forkserver
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.browser import start_chromium
from tests.programs import NEEDS, PROGRAMS, count_skipped, require_program

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # set before NumPy is imported
gc.disable()  # until all is collected: it would search what is imported, again and again

TESTS = Path(__file__).parent

LANDING = (
    "agents/test_external.py",
    "analysis/planning/test_selfcheck.py",
    "analysis/report/paper/test_paper.py",
    "annotations/test_processes.py",
    "annotator_app/live/test_page.py",
    "annotator_app/served/test_live_page.py",
    "annotator_app/served/test_lost_connection.py",
    "annotator_app/served/test_prefix.py",
    "annotator_app/served/test_team_work.py",
    "annotator_app/test_connections.py",
    "annotator_app/test_exchange.py",
    "annotator_app/test_reviewing.py",
    "cli/test_shadows.py",
    "commands/test_show.py",
    "continuations/test_users_agents.py",
    "domains/test_action_spaces.py",
    "domains/test_adapted.py",
    "domains/test_conformance.py",
    "formats/minari/test_exported.py",
    "formats/minari/test_hostile.py",
    "formats/minari/test_imported.py",
    "jobs/test_tasks.py",
    "live/test_designs.py",
    "live/test_forgetting.py",
    "analysis/measures/test_anytime.py",
    "analysis/measures/test_calibration.py",
    "analysis/measures/test_skill.py",
    "plugins/test_broken_package.py",
    "plugins/test_executor.py",
    "plugins/test_missing_world.py",
    "plugins/test_packaged_world.py",
    "scenarios/test_demonstrations.py",
    "scenarios/test_draft_refusals.py",
    "scenarios/test_effect.py",
    "scenarios/test_fitting.py",
    "scenarios/test_linking.py",
    "scenarios/test_mining_failures.py",
    "scenarios/test_mining_training.py",
    "scenarios/test_screens.py",
    "worlds/babyai/test_agents.py",
    "worlds/babyai/test_environment.py",
    "worlds/babyai/test_golden.py",
    "worlds/babyai/test_hindsight.py",
    "worlds/babyai/test_suite.py",
    "worlds/lambda_star/intelligence/test_episode_measures.py",
    "worlds/lambda_star/intelligence/test_properties.py",
    "worlds/lambda_star/intelligence/test_score.py",
    "worlds/lambda_star/play/test_learning.py",
    "worlds/lambda_star/published/test_moves.py",
    "worlds/lambda_star/test_gym.py",
    "worlds/lambda_star/test_uncompiled.py",
    "worlds/overcooked/test_agents.py",
    "worlds/overcooked/test_categories.py",
    "worlds/overcooked/test_golden.py",
    "worlds/overcooked/test_partner_categories.py",
    "worlds/overcooked/test_trials.py",
    "analysis/measures/symbols/test_classes.py",
    "analysis/measures/symbols/test_playground.py",
)
"""Files whose tests are all of the landing tier; single tests are marked where they stand."""

LANDING_FILES = {TESTS / name for name in LANDING}

LONGEST = (
    "test_docs.py",
    "annotator_app/served/test_curate_page.py",
    "annotator_app/test_demo.py",
    "annotator_app/served/test_lost_connection.py",
    "annotator_app/served/test_live_recovery.py",
    "analysis/coverage/test_coverage.py",
    "worlds/babyai/test_suite.py",
    "annotator_app/served/test_pages.py",
    "analysis/measures/test_calibration.py",
    "plugins/test_missing_world.py",
    "live/test_forgetting.py",
)
"""Files that take longest start first: a run that ends with one waits for it on one core."""

SLOW_LIMIT_S = 3600
"""How long a test of the slow tier may take: its simulations draw many studies."""

REPEAT = os.environ.get("STS_REPEAT") == "1"
"""True on a landing, where a test of a page or server may be repeated once, and is listed then."""

STARTED = {"chromium": "browser", "cluster": "postgresql", "zygote": "served"}
"""The mark of tests that have a fixture."""

settings.register_profile("all", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fewer", settings.get_profile("all"), max_examples=40)


def pytest_configure(config: pytest.Config) -> None:
    for mark, program in PROGRAMS.items():
        config.addinivalue_line("markers", f"{mark}: needs {program.title}")
    settings.load_profile("fewer" if "not slow" in config.option.markexpr else "all")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Import a share of all test files, so that no worker compiles what another has compiled."""
    config = session.config
    worker = getattr(config, "workerinput", None)
    if not worker or config.args != config.getini("testpaths"):
        return
    files = [path for path in sorted(TESTS.rglob("test_*.py")) if not _is_left_out(path, config)]
    for path in files[int(worker["workerid"][2:]) :: worker["workercount"]]:
        name = ".".join(path.relative_to(TESTS.parent).with_suffix("").parts)
        with contextlib.suppress(Exception):  # which the collection reports
            importlib.import_module(name)


def _is_left_out(path: Path, config: pytest.Config) -> bool:
    return path in LANDING_FILES and config.option.markexpr.startswith("not landing")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave files of the landing tier unread in a run of the quick tier, unless they are named."""
    whole = config.args == config.getini("testpaths")
    return (whole and _is_left_out(collection_path, config)) or None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path in LANDING_FILES:
            item.add_marker(pytest.mark.landing)
        for fixture, mark in STARTED.items():
            if fixture in getattr(item, "fixturenames", ()):
                item.add_marker(mark)
        if any(item.get_closest_marker(mark) for mark in PROGRAMS):
            item.add_marker(NEEDS)
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.timeout(SLOW_LIMIT_S))
        if REPEAT and any(item.get_closest_marker(mark) for mark in ("browser", "served")):
            item.add_marker(pytest.mark.flaky(reruns=1))
    turn = {TESTS / name: n for n, name in enumerate(LONGEST)}
    items.sort(key=lambda item: turn.get(item.path, len(turn)))


def pytest_collection_finish() -> None:
    """Let the garbage collector search only what tests make."""
    gc.freeze()
    gc.enable()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print each cause of skips, and the CPU time of all processes that ended, such as workers."""
    for line in count_skipped(terminalreporter.stats.get("skipped", [])):
        terminalreporter.write_line(line)
    if REPEAT:
        repeated = terminalreporter.stats.get("rerun", [])
        terminalreporter.write_line(f"repeated tests: {len(repeated) or 'none'}")
        for report in repeated:
            terminalreporter.write_line(f"{report.nodeid}\n{report.longreprtext[-3000:]}")
    seconds = sum(os.times()[:4])
    terminalreporter.write_line(f"{seconds:.0f} CPU-seconds in all processes")


@pytest.fixture(scope="session", autouse=True)
def _stop_fork_server() -> Iterator[None]:
    """End the fork server with the session, so that the CPU time of pool workers is counted."""
    yield
    forkserver._forkserver._stop()  # type: ignore[attr-defined]


@pytest.fixture(scope="session", autouse=True)
def _read_packaged_suites_once() -> Iterator[None]:
    """Keep each packaged suite that was read: to read one and check its hashes takes 0.2 s."""
    from sts.suites import frozen

    read, root = frozen.read, Path(__file__).parents[1]
    kept = functools.cache(read)

    def find(folder: Path, *check: Any) -> Any:
        return (kept if folder.is_relative_to(root) else read)(folder, *check)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frozen, "read", find)
        patch.setattr(frozen.load, "__defaults__", (find,))
        yield


@pytest.fixture(scope="session", autouse=True)
def _compile_statements_once() -> Iterator[None]:
    """Let SQLite databases share the statements that SQLAlchemy compiles, and those of tables."""
    from sqlalchemy import create_engine

    from sts.annotations.database import schema, sqlite

    first, create_all = create_engine("sqlite://"), schema.metadata.create_all
    with first.connect() as connection:
        create_all(connection)
        named = "SELECT sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"
        definitions = connection.exec_driver_sql(named).scalars().all()

    def share(*given: Any, **more: Any) -> Any:
        engine: Any = create_engine(*given, **more)
        engine.dialect, engine._compiled_cache = first.dialect, first._compiled_cache
        return engine

    def define(bind: Any, **more: Any) -> None:
        if bind.dialect is not first.dialect:
            create_all(bind, **more)
            return
        for statement in definitions:
            bind.exec_driver_sql(statement)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite, "create_engine", share)
        patch.setattr(schema.metadata, "create_all", define)
        yield
    first.dispose()


@pytest.fixture(scope="module", autouse=True)
def replaying() -> Iterator[None]:
    """Let a fork play users' agents again: a new interpreter first imports for two seconds."""
    from sts.continuations import replay
    from sts.jobs.pool import Pool

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(replay, "Pool", lambda width, **_: Pool(width, limited=True))
        yield


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test that needs a missing program before any of its fixtures is made."""
    for mark in PROGRAMS:
        if item.get_closest_marker(mark):
            require_program(mark)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A browser, which ends with the file, so that other files may run an event loop."""
    with start_chromium() as browser:
        yield browser
