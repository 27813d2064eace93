"""Judgements of continuations: who judges what, what they said, and what became of it.

`store.Store` is the one way in. Only this package knows SQL; nothing here knows the browser.
"""
