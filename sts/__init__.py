"""The core: world, agents, trajectories, suites, continuations, annotations, command line."""

__version__ = "0.1.0"
