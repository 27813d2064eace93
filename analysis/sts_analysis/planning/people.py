"""Annotators as a population: how often its people are right, and how they differ in that."""

from typing import NamedTuple

import numpy as np
import pandas as pd

ASSUMED = 0.95
"""Sensitivity and specificity of annotators of whom no reference answer tells."""
ANSWERS = 4.0
"""How many such answers an assumption is worth beside what was answered."""
MOST_ALIKE = 0.5


class People(NamedTuple):
    """A population of annotators.

    Attributes:
      sensitivity: mean share of successes that one calls so.
      specificity: mean share of the others that one does not.
      alike: intraclass correlation of one person's right answers, in [0, 1): 0 where all people
        are right equally often.
    """

    sensitivity: float
    specificity: float
    alike: float

    def draw(self, number: int, rng: np.random.Generator) -> np.ndarray:
        """float64[2, number], sensitivity and specificity of so many of them, beta-distributed."""
        mean = np.array([[self.sensitivity], [self.specificity]])
        drawn = np.repeat(mean, number, axis=1)
        if self.alike > 0:
            weight = (1 - self.alike) / self.alike
            inside = (mean[:, 0] > 0) & (mean[:, 0] < 1)
            shape = mean[inside] * weight, (1 - mean[inside]) * weight
            drawn[inside] = rng.beta(*shape, size=(int(inside.sum()), number))
        return drawn


FAULTLESS = People(1.0, 1.0, 0.0)


def people_of(references: pd.DataFrame) -> People:
    """The population that annotators seem to come from, by their reference answers.

    Shares are drawn towards `ASSUMED`; without answers of several people to tell how these differ,
    they are taken for alike.

    Args:
      references: rows of a checked ratings table that have a truth and a verdict that counts.

    Source: Fleiss and Cuzick 1979, Appl. Psychol. Meas. 3:537, for the correlation, over answers
      to both kinds of reference.
    """
    means, above, room = [], 0.0, 0.0
    for success in (True, False):
        own = references[(references["truth"] == "success") == success]
        right = ((own["verdict"] == "success") == success).to_numpy(np.float64)
        means.append((right.sum() + ANSWERS * ASSUMED) / (len(right) + ANSWERS))
        person = pd.factorize(own["annotator"])[0]
        number = np.bincount(person).astype(np.float64)
        share = right.mean() if len(right) else 1.0
        if len(number) < 2 or share in (0.0, 1.0):
            continue
        off = (np.bincount(person, weights=right) - number * share) ** 2 / number
        above += float(off.sum()) / (share * (1 - share)) - (len(number) - 1)
        room += float(number.sum() - (number**2).sum() / number.sum() - (len(number) - 1))
    alike = float(np.clip(above / room, 0.0, MOST_ALIKE)) if room > 0 else 0.0
    return People(float(means[0]), float(means[1]), alike)
