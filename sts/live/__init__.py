"""Live sessions: people and agents in one world, in real time."""
