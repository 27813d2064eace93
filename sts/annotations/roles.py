"""What people do in a study; a person may do several things."""

DUTIES = {
    "annotator": "judges",
    "reviewer": "looks at judgements",
    "curator": "chooses scenarios",
    "lead": "sees results",
}
ROLES = tuple(DUTIES)
