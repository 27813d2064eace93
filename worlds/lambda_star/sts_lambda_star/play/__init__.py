"""Playing whole episodes: the quickest way through them for each behaviour, and rehearsal."""
