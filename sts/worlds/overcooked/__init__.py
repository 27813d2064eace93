"""Overcooked: two people in a small kitchen, and the trials that were recorded of them in 2019.

Needs the extra `overcooked`, which installs the game and, with it, the recordings. They are read
from where they are installed and never copied.

Source: Carroll et al., "On the Utility of Learning about Humans for Human-AI Coordination", 2019;
the package `overcooked-ai`.
"""
