"""Environments whose exact state can be saved and restored."""

from sts.domains.actions import ActionSpace as ActionSpace
from sts.domains.actions import action_space as action_space
from sts.domains.actions import are_valid_utterances as are_valid_utterances
from sts.domains.actions import reward_values as reward_values
from sts.domains.actions import silent_utterances as silent_utterances
from sts.domains.environment import Environment as Environment
from sts.domains.protocol import Domain as Domain
from sts.domains.protocol import FilmAnnotations as FilmAnnotations
from sts.domains.protocol import LiveControls as LiveControls
from sts.domains.protocol import RenderableWorlds as RenderableWorlds
from sts.domains.protocol import SceneFormat as SceneFormat
from sts.domains.protocol import SceneLayout as SceneLayout
from sts.domains.protocol import Worlds as Worlds
from sts.domains.protocol import index_players as index_players
from sts.domains.registry import code_path as code_path
from sts.domains.registry import is_third_party as is_third_party
from sts.domains.registry import load_domain as load_domain
from sts.domains.registry import observation_shapes as observation_shapes
from sts.domains.registry import require_domain as require_domain
from sts.domains.registry import validate_episodes as validate_episodes
from sts.domains.registry import why_unavailable as why_unavailable
