"""Rules of categories: their scenarios, how these are labelled, and whether they are sound."""
