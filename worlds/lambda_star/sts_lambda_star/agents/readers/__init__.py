"""Agents that follow instructions word by word: a full agent and an ablation series.

They use observations only. They share no code with the mining and labelling of scenarios, so that a
reader passes by understanding the words and not by knowing the automatic label.
"""
