# ruff: isort: skip_file

# Metrics
from sts_analysis.measures.measurement import make_row as make_row
from sts_analysis.measures.spans import measure_runs as measure_runs
from sts_analysis.measures.measurement import Measurement as Measurement
from sts_analysis.metrics.protocol import Metric as Metric
from sts_analysis.measures.spans import Span as Span
from sts_analysis.measures.measurement import standard_error as standard_error
from sts_analysis.measures.measurement import Table as Table

# Sections of the report
from sts_analysis.report.core import find_interval as find_interval
from sts_analysis.report.markup import fold as fold
from sts_analysis.report.core import html as html
from sts_analysis.report.core import Interval as Interval
from sts_analysis.report.core import join as join
from sts_analysis.report.core import number as number
from sts_analysis.report.text import percent as percent
from sts_analysis.report.markup import render_records as render_records
from sts_analysis.report.markup import render_table as render_table
from sts_analysis.report.core import Report as Report
from sts_analysis.report.core import Study as Study

# Classes of environments
from sts_analysis.measures.calibration import CalibratedClass as CalibratedClass
from sts_analysis.measures.classes import Chosen as Chosen
from sts_analysis.measures.classes import EnvironmentClass as EnvironmentClass
from sts_analysis.measures.classes import LearningClass as LearningClass
from sts_analysis.measures.classes import load_agents as load_agents

HOMES: dict[str, str]
