"""Constants of every kitchen, usable without the game's package."""

MOVES = ("up", "down", "right", "left", "stay", "interact")
STAY, INTERACT = MOVES.index("stay"), MOVES.index("interact")
KEYS = {
    **{"ArrowUp": "up", "ArrowDown": "down", "ArrowRight": "right", "ArrowLeft": "left"},
    **{"w": "up", "s": "down", "d": "right", "a": "left", " ": "interact"},
}
"""The key of each action in a live session."""
SIDES = ((0, -1), (0, 1), (1, 0), (-1, 0))
"""Directions of the first four actions: (x, y), x to the right and y down."""
HATS = ("blue", "green")
FULL, COOKED = 3, 20
"""Ingredients that fill a pot, and steps that a soup cooks."""
