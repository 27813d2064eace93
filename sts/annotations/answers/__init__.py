"""Answers of people: their validation, training and import, and those that count now.

A function that stores an answer, or that reads the current answers to one clip or of one person,
belongs here. What follows from the answers of a whole suite belongs to `findings`.
"""
