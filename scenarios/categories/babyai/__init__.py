"""Categories of BabyAI, one for each kind of mission; see the module `missions` beside them."""
