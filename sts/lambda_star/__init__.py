"""Λ* (Lambda Star): a toroidal grid world in which Good and Evil travel and rewards follow them.

Source: Chmait, Li, Dowe and Green 2016, "A dynamic intelligence test framework for evaluating AI
agents", section 4.
"""
