"""Findings from the answers to a suite: exports, disagreements, review queues, counts and plans.

A new count of judgements belongs here.
"""
