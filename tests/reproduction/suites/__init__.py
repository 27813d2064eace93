"""Builders of the packaged suites, and the tables of what these measure.

python -m tests.reproduction.suites.build_core OUT     core@3
python -m tests.reproduction.suites.renew_babyai OUT   babyai@2
python -m tests.reproduction.suites.reword_babyai OUT  babyai@3
python -m tests.reproduction.suites.gate_table         the gates of Λ*'s categories
python -m tests.reproduction.suites.measured core@2    what a suite measures
python -m tests.reproduction.suites.middle babyai@3    its pass rates, and where no agent lies
python -m tests.reproduction.suites.spread core@3      how far it spreads agents
"""
