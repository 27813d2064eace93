"""Tasks, the processes that they are worked off in, and how long somebody's code may take."""
