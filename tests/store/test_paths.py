"""Where the store lies (store.md, first point)."""

from pathlib import Path

import pytest

from afterturn.store.paths import home_folder, store_place

DATA = Path("/data/afterturn")


@pytest.mark.parametrize(
    ("env", "setting", "file", "own_folder"),
    [
        pytest.param({}, None, "/data/afterturn/afterturn.db", True, id="the user's data folder"),
        pytest.param({"AFTERTURN_HOME": ""}, None, "/data/afterturn/afterturn.db", True, id="an empty variable"),
        pytest.param({"AFTERTURN_HOME": "/x"}, None, "/x/afterturn.db", True, id="moved by the environment"),
        pytest.param({"AFTERTURN_HOME": "~/x", "HOME": "/u"}, None, "/u/x/afterturn.db", True, id="home in a variable"),
        pytest.param({"AFTERTURN_HOME": "/u", "HOME": "/u"}, None, "/u/afterturn.db", False, id="the home folder"),
        pytest.param({"AFTERTURN_HOME": "/x"}, "/y/s.db", "/y/s.db", False, id="a setting wins"),
        pytest.param({}, "~/s.db", "/data/afterturn/~/s.db", False, id="no home to expand"),
        pytest.param({"HOME": "/u"}, "~/s.db", "/u/s.db", False, id="home in a setting"),
        pytest.param({}, "s.db", "/data/afterturn/s.db", True, id="a bare name lies in our folder"),
        pytest.param({}, "sub/s.db", "/data/afterturn/sub/s.db", False, id="a relative path counts from our folder"),
        pytest.param({}, "/y/", "/y/afterturn.db", False, id="a folder"),
    ],
)
def test_store_place(env: dict[str, str], setting: str | None, file: str, own_folder: bool) -> None:
    place = store_place(home_folder(env, lambda: DATA), setting, env)
    assert (str(place.file), place.own_folder) == (file, own_folder)


def test_the_data_folder_is_only_looked_up_where_it_is_needed() -> None:
    def never() -> Path:
        raise AssertionError("looked up")

    assert home_folder({"AFTERTURN_HOME": "/x"}, never) == Path("/x")
