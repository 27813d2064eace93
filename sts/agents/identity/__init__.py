"""Identities of agents: a name and a fingerprint of code and weights, computed on loading."""

from sts.agents.identity.identity import check_unchanged as check_unchanged
from sts.agents.identity.identity import code as code
from sts.agents.identity.identity import described as described
from sts.agents.identity.identity import fingerprint as fingerprint
from sts.agents.identity.identity import identify as identify
from sts.agents.identity.identity import stated as stated
