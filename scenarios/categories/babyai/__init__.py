"""Categories of BabyAI, one for each kind of mission; see `scenarios.babyai`."""
