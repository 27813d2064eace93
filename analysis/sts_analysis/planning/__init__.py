"""Studies before they are made: what would separate two agents, and what intervals will cover."""
