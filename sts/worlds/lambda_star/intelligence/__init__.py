"""The intelligence test: scores, what they depend on, and what the environments promise."""
