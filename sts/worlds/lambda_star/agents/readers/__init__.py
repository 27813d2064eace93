"""Agents that read instructions and questions word by word: a ladder from all that it takes down.

Everything here is from observations alone. Nothing is shared with what finds scenarios or labels
them: a reader that passes has understood the words and not the rule.
"""
