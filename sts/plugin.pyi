# ruff: isort: skip_file

# Agents
from sts.agents.protocol import Agent as Agent
from sts.agents.registry import build_agent as build_agent
from sts.agents import check_unchanged as check_unchanged
from sts.agents.protocol import Draws as Draws
from sts.agents import fingerprint as fingerprint
from sts.agents.protocol import Instructions as Instructions
from sts.agents.info import isolation_key as isolation_key
from sts.agents import load as _load_agent
from sts.agents import load_planned as load_planned
from sts.agents.protocol import Memory as Memory
from sts.agents.protocol import PolicyOutput as PolicyOutput

# Environments
from sts.domains.envelope import add_envelope as add_envelope
from sts.domains.sketch import Area as Area
from sts.domains import FilmAnnotations as FilmAnnotations
from sts.domains.gymnasium import GymnasiumEnvironment as GymnasiumEnvironment
from sts.domains import index_players as index_players
from sts.domains.sketch import Line as Line
from sts.domains import LiveControls as LiveControls
from sts.domains import load_domain as load_domain
from sts.domains.sketch import Mark as Mark
from sts.domains.adapter import Observation as Observation
from sts.domains.envelope import remove_envelope as remove_envelope
from sts.domains import SceneFormat as SceneFormat
from sts.domains import SceneLayout as SceneLayout
from sts.domains.sketch import Sketch as Sketch
from sts.domains.sketch import Tone as Tone
from sts.domains import Worlds as Worlds

# Play
from sts.engine.session import Actions as Actions
from sts.engine.replay import Mismatch as Mismatch
from sts.engine.session import open_session as open_session
from sts.engine.lockstep import play_episodes as play_episodes
from sts.engine.replay import replay_worlds as replay_worlds
from sts.engine.lockstep import Rollouts as Rollouts
from sts.engine.lockstep import Script as Script
from sts.engine.session import Session as Session
from sts.engine.session import Team as Team

# Recordings, scenarios and continuations
from sts.provenance import collect_provenance as collect_provenance
from sts.suites.suite import DIFFICULTIES as DIFFICULTIES
from sts.episodes import Episode as Episode
from sts.trajectories.batches import EpisodeBatch as EpisodeBatch
from sts.trajectories.trajectory import get_split as get_split
from sts.continuations.continuation_store import load as _load_continuations
from sts.trajectories.trajectory_store import load as _load_trajectories
from sts.trajectories.trajectory import make_trajectory as make_trajectory
from sts.trajectories.trajectory import Player as Player
from sts.suites.suite import Scenario as Scenario
from sts.suites.suite import Suite as Suite
from sts.trajectories.trajectory import Trajectory as Trajectory

# Errors
from sts.errors import ArgumentError as ArgumentError
from sts.errors import DamagedData as DamagedData
from sts.errors import DamagedState as DamagedState
from sts.errors import MissingExtra as MissingExtra
from sts.errors import NewerFormat as NewerFormat
from sts.errors import ReplayMismatch as ReplayMismatch
from sts.errors import StsError as StsError

# Random numbers and compiled code
from sts.numerics.compiled import callable_from_jit as callable_from_jit
from sts.numerics.compiled import jit as jit
from sts.numerics.compiled import jit_inlined as jit_inlined
from sts.numerics.compiled import jit_internal as jit_internal
from sts.numerics.draws import random_integer as random_integer
from sts.numerics.draws import random_uniform as random_uniform
from sts.numerics.draws import random_word as random_word
from sts.numerics.streams import stream as stream
from sts.numerics.streams import streams as streams

# Commands
from sts.cli import command as command
from sts.cli.demo import Demo as Demo
from sts.cli.settings import Flag as Flag
from sts.cli.arguments import format_table as format_table
from sts import plotting as plotting
from sts.cli.arguments import print_result as print_result
from sts.cli.settings import read_whole_flag as read_whole_flag
from sts.cli.files import resolve_target as resolve_target
from sts.storage.scores import save_scores as save_scores
from sts.cli.arguments import show_progress as show_progress
from sts.commands import terminal as terminal
from sts.cli.settings import WORLD_SETTINGS as WORLD_SETTINGS
from sts.cli.settings import WorldSettings as WorldSettings
from sts.cli.files import write as _write_target

# Files
from sts.storage.files import canonical_json as canonical_json
from sts.storage.files import content_hash as content_hash
from sts.storage.csv_tables import format_csv as format_csv
from sts.storage.files import open_regular as open_regular
from sts.storage.csv_tables import read_csv as read_csv
from sts.storage.files import read_bytes as read_bytes
from sts.storage.workspace import Workspace as Workspace
from sts.storage.files import write_atomically as write_atomically

# Work in other processes
from sts.jobs.pool import create_pool as create_pool
from sts.storage.memory import memory_limit as memory_limit
from sts.jobs.executors import OwnedTask as OwnedTask
from sts.jobs.pool import WorkerDied as WorkerDied

# Live sessions
from sts.live.game import Game as Game
from sts.live.records import get_journal_path as get_journal_path
from sts.live.plans import load_plan as load_plan
from sts.live.openings import open_evaluation as open_evaluation
from sts.live.records import store_live_trajectory as store_live_trajectory

load_agent = _load_agent
load_continuations = _load_continuations
load_trajectories = _load_trajectories
write_target = _write_target
HOMES: dict[str, str]
