"""An agent's identity: what its code means, or a version that its author states."""

from sts.agents.identity.identity import code as code
from sts.agents.identity.identity import described as described
from sts.agents.identity.identity import fingerprint as fingerprint
from sts.agents.identity.identity import planned as planned
from sts.agents.identity.identity import stated as stated
