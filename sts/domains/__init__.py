"""Environments whose exact state can be saved and restored."""

from sts.domains.actions import ActionSpace as ActionSpace
from sts.domains.actions import action_space as action_space
from sts.domains.actions import are_sayable as are_sayable
from sts.domains.actions import reward_values as reward_values
from sts.domains.actions import silence as silence
from sts.domains.environment import Environment as Environment
from sts.domains.protocol import Domain as Domain
from sts.domains.protocol import Focus as Focus
from sts.domains.protocol import RenderableWorlds as RenderableWorlds
from sts.domains.protocol import SceneFormat as SceneFormat
from sts.domains.protocol import SceneLayout as SceneLayout
from sts.domains.protocol import Worlds as Worlds
from sts.domains.registry import checked as checked
from sts.domains.registry import domain as domain
from sts.domains.registry import foreign as foreign
from sts.domains.registry import need as need
from sts.domains.registry import shapes as shapes
from sts.domains.registry import why_unavailable as why_unavailable
from sts.domains.registry import written_at as written_at
