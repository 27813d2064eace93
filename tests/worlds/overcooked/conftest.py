import pytest

from sts_overcooked import importer, loader, trials

LAYOUTS = ("cramped_room", "coordination_ring", "random0")

STEPS = 700


@pytest.fixture(scope="session")
def recorded():
    """Where three trials begin, as trajectories by what the source calls their kitchens."""
    file = trials.installed_files()[1]
    table = loader.read_table(file)
    leaders = table.drop_duplicates("layout_name").set_index("layout_name")["workerid_num"]
    chosen = table[table["layout_name"].isin(LAYOUTS)]
    chosen = chosen[chosen["workerid_num"] == chosen["layout_name"].map(leaders)]
    chosen = chosen.groupby("layout_name", sort=False).head(STEPS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trials, "read_table", lambda path: chosen)
        patch.setattr(trials, "count_workers", lambda paths: (17, 16))
        found = importer.read(file)
    assert len(found) == len(LAYOUTS)
    return {t.provenance["layout"]: t for t in found}
