"""Study planning: minimum detectable differences, and simulated coverage of a design."""
