"""What holds for every test: Hypothesis looks for wrong answers, and not at how long they took.

How much CPU time they took is seen to by `tests.budget`. Where a property does not say how many
examples it is tried on, the quick tier tries 40 and all else 100.
"""

import gc
from collections.abc import Iterator
from multiprocessing import forkserver

import pytest
from hypothesis import HealthCheck, settings

from tests import scheduling
from tests.budget import Meter

settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", settings.get_profile("untimed"), max_examples=40)
settings.load_profile("untimed")


def pytest_collection(session: pytest.Session) -> None:
    scheduling.import_in_turn(session.config)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    scheduling.longest_first(items)


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> scheduling.Scheduling:
    return scheduling.Scheduling(config, log)


def pytest_collection_finish() -> None:
    """What was collected stays until the end: nothing looks through it for garbage again."""
    gc.collect()
    gc.freeze()


def pytest_configure(config: pytest.Config) -> None:
    quick = config.option.markexpr == "not slow"
    if quick:
        settings.load_profile("quick")
    config.pluginmanager.register(Meter() if quick else Meter(budget=None), "cpu-time")


@pytest.fixture(scope="session", autouse=True)
def _workers_end() -> Iterator[None]:
    """What worker processes have cost is known when that ends of which they are copies."""
    yield
    forkserver._forkserver._stop()  # type: ignore[attr-defined]
