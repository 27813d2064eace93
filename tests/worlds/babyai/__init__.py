from tests.programs import require_package

require_package("minigrid")
