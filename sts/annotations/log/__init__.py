"""Append-only, hash-chained records: events about clips, decisions on drafts, changes to a study.

A new kind of record belongs here.
"""
