"""Behaviours compared, move by move, with episodes that the published program of Λ* recorded.

python -m tests.reproduction.published_program tests/data/lambdastar_2016_traces.jsonl.xz
"""
