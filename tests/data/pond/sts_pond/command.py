"""`sts pond`: how a new pond looks."""

from __future__ import annotations

from sts.plugin import WORLD_SETTINGS, WorldSettings, command


@command.declare("pond --jetties 9 --seed 3")
def pond(
    *,
    seed: int = command.option("S", "names the pond", 0),
    settings: WorldSettings = WORLD_SETTINGS,
) -> command.Result:
    """Show how a new pond looks."""
    from sts.plugin import load_domain

    domain = load_domain("pond")
    (state,) = domain.generate(1, seed=seed, **settings.read("pond"))
    (scene,) = domain.restore([state]).scene
    return command.Result(
        domain.describe_state(state),
        "\n".join(domain.draw_text(domain.scene_layout(state), scene, ())),
    )
