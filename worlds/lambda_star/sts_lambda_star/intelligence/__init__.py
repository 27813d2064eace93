"""Intelligence test: scores, their breakdown by factors, and properties of the environments."""
