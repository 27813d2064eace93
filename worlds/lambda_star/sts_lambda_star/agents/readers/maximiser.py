"""Speaking reward maximiser: a baseline that ignores instructions and gives stock answers."""

import numpy as np
from numpy.typing import NDArray

from sts.plugin import Memory
from sts_lambda_star.agents.readers.forecasts import Forecast
from sts_lambda_star.agents.readers.grammar import ACTS, Act
from sts_lambda_star.agents.readers.intents import Intents
from sts_lambda_star.agents.readers.reader import Reader
from sts_lambda_star.domain import Observation
from sts_lambda_star.state import TOKENS

MAJORITY: dict[Act, str] = {
    "where": "stay",
    "was": "down",
    "seen": "no",
    "when": "0",
    "count": "1",
    "next": "stay",
    "last": "left",
}
_ANCHORED_ANSWER = "down"


class SpeakingMaximiser(Reader):
    """Reader that seeks reward whatever the instruction, and gives stock answers.

    It sees, remembers, forecasts and moves as a reader does without an instruction. To a question
    it says, once, the most frequent correct answer among recorded frames in which that kind of
    question makes sense. So what it passes takes no more than recognising the kind of question.

    A baseline of this project's own.
    """

    name = "speaking-maximiser"

    def _movement_intents(self, text: Intents) -> Intents:
        return Intents(*(np.zeros_like(field) for field in text))

    def _reply(
        self, text: Intents, seen: Observation, memory: Memory, known: Forecast
    ) -> NDArray[np.float64]:
        stock = np.zeros((len(ACTS), len(TOKENS)))
        for act, token in MAJORITY.items():
            stock[ACTS.index(act), TOKENS.index(token)] = 1.0
        out = stock[text.act]
        relative = (text.act == ACTS.index("where")) & (text.anchor > 0)
        out[relative] = np.arange(len(TOKENS)) == TOKENS.index(_ANCHORED_ANSWER)
        return out[:, None]
