"""What holds for every test: Hypothesis looks for wrong answers, and not at how long they took.

How much CPU time they took is seen to by `tests.budget`.
"""

import pytest
from hypothesis import HealthCheck, settings

from tests.budget import Meter

settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


def pytest_configure(config: pytest.Config) -> None:
    quick = config.option.markexpr == "not slow"
    config.pluginmanager.register(Meter() if quick else Meter(budget=None), "cpu-time")
