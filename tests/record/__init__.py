"""A record of what the software computes, kept in `record.json`, against which changes are held.

The record holds what a user sees: trajectories and their replay, hashes of packaged suites,
continuations, automatic labels, published episodes and scores, a report and a study. It holds no
fingerprint, no id that a fingerprint enters, no time and no layout of a database.

    pytest -m slow tests/record          compare with the record; about four minutes
    python -m tests.record --write       write the record again, all of it
    python -m tests.record --write NAME  write some of its claims again

Every call into an internal module is in `adapter.py`.
"""
