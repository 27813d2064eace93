"""Names that agents, environments, formats, executors and commands of other packages may use.

Each name is imported when it is first used. All other modules of this package are internal and may
change without notice.

`docs/plugins.md` lists the names with what they are for.
"""

from typing import Any

from sts.lazy import load_name

GROUPS: dict[str, dict[str, str]] = {
    "Agents": {
        "Agent": "sts.agents.protocol:Agent",
        "build_agent": "sts.agents.registry:build_agent",
        "check_unchanged": "sts.agents:check_unchanged",
        "Draws": "sts.agents.protocol:Draws",
        "fingerprint": "sts.agents:fingerprint",
        "Instructions": "sts.agents.protocol:Instructions",
        "isolation_key": "sts.agents.info:isolation_key",
        "load_agent": "sts.agents:load",
        "load_planned": "sts.agents:load_planned",
        "Memory": "sts.agents.protocol:Memory",
        "PolicyOutput": "sts.agents.protocol:PolicyOutput",
        "Sees": "sts.agents.protocol:Sees",
    },
    "Environments": {
        "add_envelope": "sts.domains.envelope:add_envelope",
        "Area": "sts.domains.sketch:Area",
        "Domain": "sts.domains.protocol:Domain",
        "FilmAnnotations": "sts.domains:FilmAnnotations",
        "GymnasiumEnvironment": "sts.domains.gymnasium:GymnasiumEnvironment",
        "index_players": "sts.domains:index_players",
        "Line": "sts.domains.sketch:Line",
        "LiveControls": "sts.domains:LiveControls",
        "load_domain": "sts.domains:load_domain",
        "Mark": "sts.domains.sketch:Mark",
        "Observation": "sts.domains.adapter:Observation",
        "Point": "sts.domains.sketch:Point",
        "remove_envelope": "sts.domains.envelope:remove_envelope",
        "SceneFormat": "sts.domains:SceneFormat",
        "SceneLayout": "sts.domains:SceneLayout",
        "Sketch": "sts.domains.sketch:Sketch",
        "Tone": "sts.domains.sketch:Tone",
        "Worlds": "sts.domains:Worlds",
    },
    "Play": {
        "Actions": "sts.engine.session:Actions",
        "Mismatch": "sts.engine.replay:Mismatch",
        "open_session": "sts.engine.session:open_session",
        "play_episodes": "sts.engine.lockstep:play_episodes",
        "replay_worlds": "sts.engine.replay:replay_worlds",
        "Rollouts": "sts.engine.lockstep:Rollouts",
        "Script": "sts.engine.lockstep:Script",
        "Session": "sts.engine.session:Session",
        "Team": "sts.engine.session:Team",
    },
    "Recordings, scenarios and continuations": {
        "collect_provenance": "sts.provenance:collect_provenance",
        "Continuation": "sts.continuations.continuation:Continuation",
        "DIFFICULTIES": "sts.suites.suite:DIFFICULTIES",
        "Episode": "sts.episodes:Episode",
        "EpisodeBatch": "sts.trajectories.batches:EpisodeBatch",
        "get_split": "sts.trajectories.trajectory:get_split",
        "load_continuations": "sts.continuations.continuation_store:load",
        "load_trajectories": "sts.trajectories.trajectory_store:load",
        "make_trajectory": "sts.trajectories.trajectory:make_trajectory",
        "Player": "sts.trajectories.trajectory:Player",
        "Scenario": "sts.suites.suite:Scenario",
        "Suite": "sts.suites.suite:Suite",
        "Trajectory": "sts.trajectories.trajectory:Trajectory",
    },
    "Errors": {
        "ArgumentError": "sts.errors:ArgumentError",
        "DamagedData": "sts.errors:DamagedData",
        "DamagedState": "sts.errors:DamagedState",
        "MissingExtra": "sts.errors:MissingExtra",
        "NewerFormat": "sts.errors:NewerFormat",
        "ReplayMismatch": "sts.errors:ReplayMismatch",
        "StsError": "sts.errors:StsError",
    },
    "Random numbers and compiled code": {
        "callable_from_jit": "sts.numerics.compiled:callable_from_jit",
        "jit": "sts.numerics.compiled:jit",
        "jit_inlined": "sts.numerics.compiled:jit_inlined",
        "random_integer": "sts.numerics.draws:random_integer",
        "random_uniform": "sts.numerics.draws:random_uniform",
        "random_word": "sts.numerics.draws:random_word",
        "stream": "sts.numerics.streams:stream",
        "streams": "sts.numerics.streams:streams",
    },
    "Commands": {
        "add_settings": "sts.cli.settings:add_settings",
        "agent_arguments": "sts.cli.demo:agent_arguments",
        "check_bounds": "sts.cli.parser:check_bounds",
        "command": "sts.cli.command",
        "Demo": "sts.cli.demo:Demo",
        "Flag": "sts.cli.settings:Flag",
        "format_table": "sts.cli.arguments:format_table",
        "plotting": "sts.plotting",
        "print_result": "sts.cli.arguments:print_result",
        "read_settings": "sts.cli.settings:read_settings",
        "read_whole_flag": "sts.cli.settings:read_whole_flag",
        "resolve_target": "sts.cli.files:resolve_target",
        "save_scores": "sts.storage.scores:save_scores",
        "show_progress": "sts.cli.arguments:show_progress",
        "terminal": "sts.commands.terminal",
        "write_target": "sts.cli.files:write",
    },
    "Files": {
        "canonical_json": "sts.storage.files:canonical_json",
        "CheckResult": "sts.storage.checks:CheckResult",
        "content_hash": "sts.storage.files:content_hash",
        "format_csv": "sts.storage.csv_tables:format_csv",
        "MAX_TABLE_BYTES": "sts.storage.csv_tables:MAX_BYTES",
        "open_regular": "sts.storage.files:open_regular",
        "parse_csv": "sts.storage.csv_tables:parse_csv",
        "read_bytes": "sts.storage.files:read_bytes",
        "Workspace": "sts.storage.workspace:Workspace",
        "write_atomically": "sts.storage.files:write_atomically",
    },
    "Work in other processes": {
        "create_pool": "sts.jobs.pool:create_pool",
        "memory_limit": "sts.storage.memory:memory_limit",
        "OwnedTask": "sts.jobs.executors:OwnedTask",
        "Pool": "sts.jobs.pool:Pool",
        "WorkerDied": "sts.jobs.pool:WorkerDied",
    },
    "Live sessions": {
        "Game": "sts.live.game:Game",
        "get_journal_path": "sts.live.records:get_journal_path",
        "load_plan": "sts.live.plans:load_plan",
        "open_evaluation": "sts.live.openings:open_evaluation",
        "store_live_trajectory": "sts.live.records:store_live_trajectory",
    },
}
"""The names by subject, each with its `module:Name`, or the module that it is."""
HOMES = {name: home for names in GROUPS.values() for name, home in names.items()}
__all__ = tuple(sorted(HOMES))  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    value = load_name(__name__, name, HOMES)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *HOMES})
