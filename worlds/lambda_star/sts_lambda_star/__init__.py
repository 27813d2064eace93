"""Λ* (Lambda Star): a toroidal grid world in which Good and Evil travel and rewards follow them.

    import sts_lambda_star as lambda_star

    lambda_star.rollout("local-search", lambda_star.generate(100, team=3)).rewards.mean()

`generate` makes environments and `rollout` plays an agent in them. Both are imported lazily, as the
command line imports this module too.

Source: Chmait, Li, Dowe and Green 2016, "A dynamic intelligence test framework for evaluating AI
agents", section 4.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sts_lambda_star.generation.environments import Environments
    from sts_lambda_star.play.rollouts import Rollout, generate, rollout

__all__ = ["Environments", "Rollout", "generate", "rollout"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("sts_lambda_star.play.rollouts"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
