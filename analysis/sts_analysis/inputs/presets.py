"""How tables are read that other programs export: names of columns, words, and rows left out.

A column of our own name in the export, such as a field `agent` of the tasks, goes first.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple


class Preset(NamedTuple):
    """A program's export."""

    # the names that a column of ours may have there; one that ends in * stands for any single
    # column that starts so
    columns: Mapping[str, tuple[str, ...]]
    # what verdicts mean there; {} for the words of the study
    meanings: Mapping[str, str] = MappingProxyType({})
    # by column the values, in any letter case, of rows that are no answer
    left_out: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    repeats_header: bool = False  # whether two further rows describe the columns
    # number of the first frame in `step`, which shows the takeover; None for steps
    first_frame: int | None = None
    source: str = "human"  # of the labels

    def find(self, header: Sequence[str]) -> dict[str, str]:
        """Return the columns that an export has, as {our name: its name}."""
        found = {}
        for column, names in self.columns.items():
            for name in names:
                start = name.removesuffix("*")
                is_pattern = start != name
                known = [h for h in header if h == name or (is_pattern and h.startswith(start))]
                if len(known) == 1:
                    found[column] = known[0]
                    break
        return found


NO_PRESET = Preset({})
"""The export of a program that is not known."""


_UNFINISHED = ("RETURNED", "TIMED-OUT", "REJECTED", "SCREENED OUT", "ACTIVE")

PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        # One row per annotation; `id` is the task's, and so the clip's.
        "label-studio": Preset(
            {
                "verdict": ("choice", "choices"),
                "annotator": ("annotator", "completed_by"),
                "continuation": ("id",),
                "seconds": ("lead_time",),
            },
            left_out={"was_cancelled": ("true",)},
        ),
        # Answers joined with the export of submissions.
        "prolific": Preset(
            {"annotator": ("Participant id", "participant_id", "PROLIFIC_PID")},
            left_out={"Status": _UNFINISHED, "status": _UNFINISHED},
        ),
        # Results of a batch: inputs are `Input.NAME`, answers `Answer.NAME`.
        "mturk": Preset(
            {
                "agent": ("Input.agent",),
                "scenario": ("Input.scenario",),
                "category": ("Input.category",),
                "verdict": ("Answer.verdict", "Answer.*"),
                "annotator": ("WorkerId",),
                "continuation": ("HITId",),
                "seconds": ("WorkTimeInSeconds",),
            },
            left_out={"AssignmentStatus": ("Rejected",)},
        ),
        # One row per response; the second and the third row describe the questions.
        "qualtrics": Preset(
            {"annotator": ("PROLIFIC_PID", "workerId", "ResponseId")},
            left_out={
                "Status": ("Survey Preview", "Survey Test", "Spam", "1", "2", "8"),
                "DistributionChannel": ("preview", "test"),
                "Finished": ("False", "0"),
            },
            repeats_header=True,
        ),
        # The data frame of samples, with the model; scorers are programs.
        "inspect": Preset(
            {
                "agent": ("model",),
                "scenario": ("id",),
                "category": ("task_name",),
                "continuation": ("epoch",),
                "verdict": ("score_*",),
            },
            meanings=MappingProxyType(
                {"c": "success", "i": "failure", "n": "not_done", "1": "success", "0": "failure"}
            ),
            source="automatic",
        ),
        # Tabular or aggregated events: an observation is a clip, a behaviour a verdict. Agent and
        # scenario are independent variables, or the agent is the subject.
        "boris": Preset(
            {
                "agent": ("Subject",),
                "continuation": ("Observation id",),
                "verdict": ("Behavior",),
                "step": ("Image index", "Image index start"),
            },
            left_out={"Behavior type": ("STOP",)},
            first_frame=1,
        ),
    }
)
"""By the value of `--format`."""
