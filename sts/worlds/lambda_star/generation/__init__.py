"""New environments: patterns of a wished complexity, made many at a time."""
