"""Hard cases of every quantity: how often 95% intervals hold, made naively and as a report does.

Each module has one quantity, and a list `CASES`. `tests.analysis.hard_cases.table` puts them
together for the method's page.
"""
