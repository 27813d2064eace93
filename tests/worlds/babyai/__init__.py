import pytest

pytest.importorskip("minigrid", reason="needs the extra babyai")
