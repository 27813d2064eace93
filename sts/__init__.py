"""Core of the Standardised Test Suite: environments, agents, data, annotations, command line."""

__version__ = "0.1.0"
