"""Minari datasets (hdf5): export of trajectories, and import of any. Needs the extra `minari`."""

from sts.errors import MissingExtra

try:
    import h5py as h5py
    import minari as minari
    import PIL as PIL
except ImportError as _error:
    raise MissingExtra(
        f"Minari datasets need {_error.name}, which is not installed: "
        "pip install 'standardised-test-suite[minari]'"
    ) from None
