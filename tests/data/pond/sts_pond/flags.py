"""The flags of the pond."""

from sts.plugin import Flag, read_whole_flag

FLAGS = (
    Flag(
        "jetties",
        "N",
        "side by side (default: 7)",
        lambda t: {"jetties": read_whole_flag("--jetties", t)},
    ),
    Flag("team", "P", "ferries (default: 2)", lambda t: {"ferries": read_whole_flag("--team", t)}),
)
