"""Generation of environments in batches, with movement patterns of a given complexity."""
