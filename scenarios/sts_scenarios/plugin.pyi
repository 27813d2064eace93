# ruff: isort: skip_file

# Categories
from sts_scenarios.rules.category import Candidate as Candidate
from sts_scenarios.rules.category import CandidateColumns as CandidateColumns
from sts_scenarios.rules.category import Category as Category
from sts_scenarios.rules.category import ControlPolicies as ControlPolicies
from sts_scenarios.rules.category import Criterion as Criterion
from sts_scenarios.rules.environments import iter_environments as iter_environments
from sts_scenarios.rules.category import Label as Label
from sts_scenarios.rules.categories import load_category as load_category
from sts_scenarios.rules.category import Overlay as Overlay
from sts_scenarios.rules.category import Prefilter as Prefilter
from sts_scenarios.rules.category import Rubric as Rubric

# Categories whose instructions name a task
from sts_scenarios.rules.solvability import Attempt as Attempt
from sts_scenarios.rules.solvability import difficulty_by_steps as difficulty_by_steps
from sts_scenarios.rules.solvability import make_label as make_label
from sts_scenarios.rules.solvability import NOT_DONE as NOT_DONE
from sts_scenarios.rules.solvability import Proposal as Proposal
from sts_scenarios.rules.solvability import TaskCategory as TaskCategory

HOMES: dict[str, str]
