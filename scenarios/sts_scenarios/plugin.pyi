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
from sts_scenarios.rules.solvability import difficulty_by_steps as difficulty_by_steps
from sts_scenarios.rules.solvability import encode_proposals as encode_proposals
from sts_scenarios.rules.solvability import label_attempt as label_attempt
from sts_scenarios.rules.solvability import make_candidates as make_candidates
from sts_scenarios.rules.solvability import make_label as make_label
from sts_scenarios.rules.solvability import NOT_DONE as NOT_DONE
from sts_scenarios.rules.solvability import Proposal as Proposal
from sts_scenarios.rules.solvability import steps_needed as steps_needed
from sts_scenarios.rules.solvability import Task as Task
from sts_scenarios.rules.solvability import template_fields as template_fields
from sts_scenarios.rules.solvability import why_not_proposed as why_not_proposed

HOMES: dict[str, str]
