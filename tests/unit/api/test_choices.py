from typing import Any, get_args

import pytest
from django.db.models import TextChoices

from clusters import choices as cluster_choices
from dra import values
from dra.shapes import clusters, status_requests
from pools import choices as pool_choices


@pytest.mark.parametrize(
    ("words", "choices"),
    [
        (values.DeviceState, pool_choices.DeviceState),
        (values.NodeKind, pool_choices.NodeKind),
        (status_requests.Outcome, pool_choices.Outcome),
        (clusters.Origin, cluster_choices.Source),
        (clusters.ReachState, cluster_choices.Reach),
        (clusters.ReadState, cluster_choices.ReadState),
        (clusters.PoolStatusMode, cluster_choices.PoolStatusMode),
    ],
)
def test_closed_set_of_a_shape_has_the_words_that_are_stored(
    words: Any, choices: type[TextChoices]
) -> None:
    assert set(get_args(words)) == set(choices.values)
