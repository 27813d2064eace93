"""Roles of people in a study; a person may have several."""

DUTIES = {
    "annotator": "judges",
    "reviewer": "looks at judgements",
    "curator": "chooses scenarios",
    "lead": "sees results",
}
ROLES = tuple(DUTIES)
