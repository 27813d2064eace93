"""A pond with jetties in a row, ferries, and people who go to and fro between two of them."""
