from sts import plotting as plotting
from sts.agents import check_unchanged as check_unchanged
from sts.agents import fingerprint as fingerprint
from sts.agents import load as load_agent
from sts.agents import load_planned as load_planned
from sts.agents.info import isolation_key as isolation_key
from sts.agents.protocol import Agent as Agent
from sts.agents.protocol import Draws as Draws
from sts.agents.protocol import Instructions as Instructions
from sts.agents.protocol import Memory as Memory
from sts.agents.protocol import PolicyOutput as PolicyOutput
from sts.agents.protocol import Sees as Sees
from sts.agents.registry import build_agent as build_agent
from sts.cli import command as command
from sts.cli.arguments import format_table as format_table
from sts.cli.arguments import print_result as print_result
from sts.cli.arguments import show_progress as show_progress
from sts.cli.demo import Demo as Demo
from sts.cli.demo import agent_arguments as agent_arguments
from sts.cli.files import resolve_target as resolve_target
from sts.cli.files import write as write_target
from sts.cli.parser import check_bounds as check_bounds
from sts.cli.settings import Flag as Flag
from sts.cli.settings import add_settings as add_settings
from sts.cli.settings import read_settings as read_settings
from sts.cli.settings import read_whole_flag as read_whole_flag
from sts.commands import terminal as terminal
from sts.continuations.continuation import Continuation as Continuation
from sts.continuations.continuation_store import load as load_continuations
from sts.domains import FilmAnnotations as FilmAnnotations
from sts.domains import LiveControls as LiveControls
from sts.domains import SceneFormat as SceneFormat
from sts.domains import SceneLayout as SceneLayout
from sts.domains import Worlds as Worlds
from sts.domains import index_players as index_players
from sts.domains import load_domain as load_domain
from sts.domains.adapter import Observation as Observation
from sts.domains.envelope import add_envelope as add_envelope
from sts.domains.envelope import remove_envelope as remove_envelope
from sts.domains.gymnasium import GymnasiumEnvironment as GymnasiumEnvironment
from sts.domains.protocol import Domain as Domain
from sts.domains.sketch import Area as Area
from sts.domains.sketch import Line as Line
from sts.domains.sketch import Mark as Mark
from sts.domains.sketch import Point as Point
from sts.domains.sketch import Sketch as Sketch
from sts.domains.sketch import Tone as Tone
from sts.engine.lockstep import Rollouts as Rollouts
from sts.engine.lockstep import Script as Script
from sts.engine.lockstep import play_episodes as play_episodes
from sts.engine.replay import Mismatch as Mismatch
from sts.engine.replay import replay_worlds as replay_worlds
from sts.engine.session import Actions as Actions
from sts.engine.session import Session as Session
from sts.engine.session import Team as Team
from sts.engine.session import open_session as open_session
from sts.episodes import Episode as Episode
from sts.errors import ArgumentError as ArgumentError
from sts.errors import DamagedData as DamagedData
from sts.errors import DamagedState as DamagedState
from sts.errors import MissingExtra as MissingExtra
from sts.errors import NewerFormat as NewerFormat
from sts.errors import ReplayMismatch as ReplayMismatch
from sts.errors import StsError as StsError
from sts.jobs.executors import OwnedTask as OwnedTask
from sts.jobs.pool import Pool as Pool
from sts.jobs.pool import WorkerDied as WorkerDied
from sts.jobs.pool import create_pool as create_pool
from sts.live.game import Game as Game
from sts.live.openings import open_evaluation as open_evaluation
from sts.live.plans import load_plan as load_plan
from sts.live.records import get_journal_path as get_journal_path
from sts.live.records import store_live_trajectory as store_live_trajectory
from sts.numerics.compiled import callable_from_jit as callable_from_jit
from sts.numerics.compiled import jit as jit
from sts.numerics.compiled import jit_inlined as jit_inlined
from sts.numerics.draws import random_integer as random_integer
from sts.numerics.draws import random_uniform as random_uniform
from sts.numerics.draws import random_word as random_word
from sts.numerics.streams import stream as stream
from sts.numerics.streams import streams as streams
from sts.provenance import collect_provenance as collect_provenance
from sts.storage.checks import CheckResult as CheckResult
from sts.storage.csv_tables import MAX_BYTES as MAX_TABLE_BYTES
from sts.storage.csv_tables import format_csv as format_csv
from sts.storage.csv_tables import parse_csv as parse_csv
from sts.storage.files import canonical_json as canonical_json
from sts.storage.files import content_hash as content_hash
from sts.storage.files import open_regular as open_regular
from sts.storage.files import read_bytes as read_bytes
from sts.storage.files import write_atomically as write_atomically
from sts.storage.memory import memory_limit as memory_limit
from sts.storage.scores import save_scores as save_scores
from sts.storage.workspace import Workspace as Workspace
from sts.suites.suite import DIFFICULTIES as DIFFICULTIES
from sts.suites.suite import Scenario as Scenario
from sts.suites.suite import Suite as Suite
from sts.trajectories.batches import EpisodeBatch as EpisodeBatch
from sts.trajectories.trajectory import Player as Player
from sts.trajectories.trajectory import Trajectory as Trajectory
from sts.trajectories.trajectory import get_split as get_split
from sts.trajectories.trajectory import make_trajectory as make_trajectory
from sts.trajectories.trajectory_store import load as load_trajectories

__all__ = [
    "Actions",
    "Agent",
    "Area",
    "ArgumentError",
    "CheckResult",
    "Continuation",
    "DIFFICULTIES",
    "DamagedData",
    "DamagedState",
    "Demo",
    "Domain",
    "Draws",
    "Episode",
    "EpisodeBatch",
    "FilmAnnotations",
    "Flag",
    "Game",
    "GymnasiumEnvironment",
    "Instructions",
    "Line",
    "LiveControls",
    "MAX_TABLE_BYTES",
    "Mark",
    "Memory",
    "Mismatch",
    "MissingExtra",
    "NewerFormat",
    "Observation",
    "OwnedTask",
    "Player",
    "Point",
    "PolicyOutput",
    "Pool",
    "ReplayMismatch",
    "Rollouts",
    "Scenario",
    "SceneFormat",
    "SceneLayout",
    "Script",
    "Sees",
    "Session",
    "Sketch",
    "StsError",
    "Suite",
    "Team",
    "Tone",
    "Trajectory",
    "WorkerDied",
    "Workspace",
    "Worlds",
    "add_envelope",
    "add_settings",
    "agent_arguments",
    "build_agent",
    "callable_from_jit",
    "canonical_json",
    "check_bounds",
    "check_unchanged",
    "collect_provenance",
    "command",
    "content_hash",
    "create_pool",
    "fingerprint",
    "format_csv",
    "format_table",
    "get_journal_path",
    "get_split",
    "index_players",
    "isolation_key",
    "jit",
    "jit_inlined",
    "load_agent",
    "load_continuations",
    "load_domain",
    "load_plan",
    "load_planned",
    "load_trajectories",
    "make_trajectory",
    "memory_limit",
    "open_evaluation",
    "open_regular",
    "open_session",
    "parse_csv",
    "play_episodes",
    "plotting",
    "print_result",
    "random_integer",
    "random_uniform",
    "random_word",
    "read_bytes",
    "read_settings",
    "read_whole_flag",
    "remove_envelope",
    "replay_worlds",
    "resolve_target",
    "save_scores",
    "show_progress",
    "store_live_trajectory",
    "stream",
    "streams",
    "terminal",
    "write_atomically",
    "write_target",
]
GROUPS: dict[str, dict[str, str]]
HOMES: dict[str, str]
