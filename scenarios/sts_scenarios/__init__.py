"""Categories of behaviour, mining of scenarios from trajectories, and the packaged suites."""
