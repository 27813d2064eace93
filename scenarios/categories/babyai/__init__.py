"""Categories of BabyAI, one for each kind of mission."""
