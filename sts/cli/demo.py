"""Demos, one of each world: the agents and the scenario that `sts demo` and help show."""

import contextlib
from collections.abc import Sequence
from typing import NamedTuple

from sts import registry
from sts.errors import StsError

GROUP = "sts.demos"
Words = tuple[str, ...]


class Demo(NamedTuple):
    """A demonstration of one domain, from the entry-point group `sts.demos`.

    Attributes:
      suite: `NAME@VERSION`, packaged or made here.
      agents: the agents that continue its scenarios.
      example: the scenario that is shown, and two of the agents.
      setup: the commands that make a suite that is not packaged, without the word `sts`.
      measurements: the commands that compute other scores before the report.
      requirements: time and disk space for ten continuations, such as "2 minutes and 10 MB".
      is_default: True for the demo of `sts demo` without `--domain`.
    """

    suite: str
    agents: tuple[str, ...]
    example: tuple[str, str, str]
    setup: tuple[Words, ...] = ()
    measurements: tuple[Words, ...] = ()
    requirements: str = ""
    is_default: bool = False


def agent_arguments(agents: Sequence[str]) -> Words:
    """Return the arguments that name these agents: --agent A --agent B."""
    return tuple(word for agent in agents for word in ("--agent", agent))


def load_demo(domain: str) -> Demo:
    """Return the demo of a domain; raise StsError if it has none that can be loaded."""
    demo = registry.load_entry_point(GROUP, "demo", domain)
    if not isinstance(demo, Demo):
        raise StsError(f"entry point {GROUP}:{domain} is not a Demo")
    return demo


def find_first_demo() -> Demo | None:
    """Return the demo that says that it is the first, or None where none does."""
    for domain in registry.list_entry_points(GROUP):
        with contextlib.suppress(StsError):  # of a demo that nobody asked for
            if (demo := load_demo(domain)).is_default:
                return demo
    return None


def fill_example(text: str) -> str:
    """Return an example of a command with the names of the first demo, if there is one, in it."""
    demo = find_first_demo()
    suite = demo.suite if demo else "NAME@1"
    scenario, agent, other = demo.example if demo else ("SCENARIO", "AGENT", "OTHER")
    return text.format(suite=suite, scenario=scenario, agent=agent, other=other)
