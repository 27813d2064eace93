"""What docs/reliability.md promises, held against faults: `make chaos SECONDS=600 SEED=1`.

Each part is a module that makes one kind of trial. The slow tier runs a few of each, and `make
chaos` as many as the time allows; a seed repeats a run, and a trial's number repeats that trial.
"""
