"""Overcooked: two cooks in a small kitchen, and trials recorded with people in 2019.

Needs the extra `overcooked`, which installs the game and its recordings. They are read from the
installed package and never copied.

Source: Carroll et al., "On the Utility of Learning about Humans for Human-AI Coordination", 2019;
the package `overcooked-ai`.
"""
