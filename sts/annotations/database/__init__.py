"""Database of a study: tables, connections, and the store that all other rooms use.

Each table is in `schema`, whichever room writes it.
"""
