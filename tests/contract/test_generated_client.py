"""A client that openapi-python-client makes of the OpenAPI document: typed throughout, and of use as it comes."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from django.contrib.auth.models import User

from api import tokens
from api.views.schema import openapi
from tests.factories import api_rows

USE = """
import json
import sys

from dradash_client import AuthenticatedClient
from dradash_client.api.devices import device, devices
from dradash_client.api.pools import pool, pools
from dradash_client.api.resource_slices import resource_slices
from dradash_client.models import DeviceDetail, DeviceList, DevicesStateItem, Pool, PoolList
from dradash_client.models import ProblemDetails, ResourceSliceList

client = AuthenticatedClient(base_url=sys.argv[1], token=sys.argv[2])


def names(found: PoolList) -> list[str]:
    return [each.pool for each in found.results]


every = pools.sync(client=client)
assert isinstance(every, PoolList)
complete = pools.sync(client=client, driver=["gpu.example.com"], complete=True)
assert isinstance(complete, PoolList)
one = pool.sync(complete.results[0].id, client=client)
assert isinstance(one, Pool)
free = devices.sync(client=client, pool=[one.pool], state=[DevicesStateItem.AVAILABLE], limit=1)
assert isinstance(free, DeviceList)
held = device.sync(free.results[0].id, client=client)
assert isinstance(held, DeviceDetail)
slices = resource_slices.sync(client=client, name=["slice-a"])
assert isinstance(slices, ResourceSliceList)
refused = pools.sync(client=client, cluster=["nosuch"])
assert isinstance(refused, ProblemDetails)
missing = pool.sync("999", client=client)
assert isinstance(missing, ProblemDetails)
said = {
    "every": names(every),
    "complete": names(complete),
    "unknown": [each.devices.total for each in every.results],
    "one": [one.pool, one.devices.available, one.resource_versions["ResourceSlice"]],
    "free": [each.device for each in free.results],
    "pool_of_device": held.pool_id == one.id,
    "holders": [each.claim for each in held.holders],
    "slices": [each.name for each in slices.results],
    "refused": [refused.status, refused.code],
    "missing": [missing.status, missing.code],
}
print(json.dumps(said))
"""


def run(*command: str, folder: Path) -> str:
    """What a program prints, which must end well."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a client that was made of the document as it is served, and a program that uses it."""
    document = tmp_path / "openapi.json"
    document.write_bytes(msgspec.json.encode(openapi()))
    (tmp_path / "use.py").write_text(USE)
    # It formats what it made with a formatter that has to be in the path, and warns where there is none.
    (tmp_path / "settings.yaml").write_text("post_hooks: []")
    program = str(Path(sys.executable).parent / "openapi-python-client")
    where = (
        "--path",
        str(document),
        "--output-path",
        "dradash_client",
        "--config",
        "settings.yaml",
    )
    run(program, "generate", *where, "--meta", "none", "--fail-on-warning", folder=tmp_path)
    return tmp_path


@pytest.fixture
def token(transactional_db: None) -> str:
    pool = api_rows.pool(api_rows.cluster(), "node-1")
    api_rows.unknown_pool(pool.cluster, "node-9")
    api_rows.allocation(api_rows.device(pool, "gpu-0"))
    api_rows.resource_slice(pool, "slice-a")
    user = User.objects.create_user("ada")
    return tokens.create_token(user, name="", expires_at=None, now=api_rows.NOON)[1]


def test_generated_client_passes_mypy_and_reads_lists_details_and_refusals(
    folder: Path, token: str, live_server: Any
) -> None:
    checked = run(
        sys.executable, "-m", "mypy", "--strict", "use.py", "dradash_client", folder=folder
    )

    said = json.loads(run(sys.executable, "use.py", live_server.url, token, folder=folder))

    assert checked.startswith("Success: no issues found")
    assert said == {
        "every": ["node-9", "node-1"],
        "complete": ["node-1"],
        "unknown": [None, 4],
        "one": ["node-1", 2, "81273"],
        "free": ["gpu-0"],
        "pool_of_device": True,
        "holders": ["worker-0"],
        "slices": ["slice-a"],
        "refused": [400, "invalid_parameters"],
        "missing": [404, "not_found"],
    }
