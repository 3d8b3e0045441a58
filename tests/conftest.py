"""Property tests draw the same examples in every run; `--hypothesis-profile=thorough` draws new and many more."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

_HEALTH = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile("repeatable", derandomize=True, deadline=None, database=None, suppress_health_check=_HEALTH)
settings.register_profile("thorough", max_examples=1000, deadline=None, database=None, suppress_health_check=_HEALTH)
settings.load_profile("repeatable")
