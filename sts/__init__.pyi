from sts.agents.protocol import Agent as Agent
from sts.api import load_suite as load_suite
from sts.api import record as record
from sts.api import run as run
from sts.domains.protocol import Domain as Domain
from sts.errors import StsError as StsError
from sts.storage.workspace import Workspace as Workspace
from sts_analysis.api import build_report as build_report
from sts_analysis.api import load_ratings as load_ratings
from sts_analysis.api import load_report as load_report
from sts_analysis.metrics.protocol import Metric as Metric
from sts_scenarios.api import freeze as freeze
from sts_scenarios.api import label as label
from sts_scenarios.api import mine as mine
from sts_scenarios.rules.category import Category as Category

__version__: str
__all__: list[str]
