"""What holds for every test: Hypothesis looks for wrong answers, and not at how long they took."""

from hypothesis import HealthCheck, settings

settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
