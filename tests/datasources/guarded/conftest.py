"""Each text that DataSources sends to a source with guarded tables is read by a second reader, too."""

import pytest

from tests.sql.guarding.second_readers import read_again

second_reader = pytest.fixture(autouse=True)(read_again)
