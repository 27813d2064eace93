"""The flags of the pond."""

from sts.cli.settings import Flag, whole

FLAGS = (
    Flag("jetties", "N", "side by side (default: 7)", lambda t: {"jetties": whole("--jetties", t)}),
    Flag("team", "P", "ferries (default: 2)", lambda t: {"ferries": whole("--team", t)}),
)
