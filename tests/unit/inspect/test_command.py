import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.series import for_each
from tests.unit.inspect.cases import inspected, messages, path_of, pools, run, states

SLICE = """apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {{name: {name}, resourceVersion: "{version}"}}
spec:
  driver: gpu.example.com
  nodeName: node-a
  pool: {{name: node-a, generation: 1, resourceSliceCount: 1}}
  devices: [{devices}]
"""


def slice_file(file: Path, *devices: str, name: str = "s", version: str = "1") -> Path:
    listed = ", ".join(f"{{name: {device}}}" for device in devices)
    file.write_text(SLICE.format(name=name, version=version, devices=listed))
    return file


def command(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [
            sys.executable,
            "-c",
            "from dradash.cli import main; main()",
            "inspect",
            *map(str, arguments),
        ],
        capture_output=True,
        check=False,
        timeout=60,
        env={**os.environ, **environment},
    )


def test_what_was_read_whole_ends_with_0() -> None:
    found = command("--complete", path_of("C10"))

    assert (found.returncode, found.stderr) == (0, b"")


def test_what_could_not_be_read_ends_with_1_and_the_rest_is_told(tmp_path: Path) -> None:
    file = slice_file(tmp_path / "a.yaml", "gpu-0")

    found = command(file, tmp_path / "none.yaml")

    assert (found.returncode, found.stderr) == (1, b"")
    assert b"1 pool, 1 device seen" in found.stdout
    assert f"! {tmp_path / 'none.yaml'} is not there [unreadable]".encode() in found.stdout


@pytest.mark.parametrize("arguments", [[], ["--format", "xml", "x"], ["--release", "newest", "x"]])
def test_wrong_call_ends_with_2_and_says_how(arguments: list[str]) -> None:
    found = command(*arguments)

    assert (found.returncode, found.stdout) == (2, b"")
    assert b"usage: dradash inspect" in found.stderr


def test_reader_that_has_enough_is_no_error(tmp_path: Path) -> None:
    names = [f"gpu-{number}" for number in range(5000)]
    file = slice_file(tmp_path / "a.yaml", *names)
    script = "from dradash.cli import main; main()"

    found = subprocess.run(
        f"{sys.executable} -c '{script}' inspect --all {file} | head -n 1",
        shell=True,
        capture_output=True,
        check=False,
        timeout=60,
    )

    assert (found.stdout, found.stderr) == (
        b"1 pool, 5000 devices seen, free unknown in 1 pool.\n",
        b"",
    )


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_any_encoding_of_the_terminal_gets_json_that_says_the_same(encoding: str) -> None:
    found = command("--format", "json", "--complete", path_of("C53"), PYTHONIOENCODING=encoding)

    assert json.loads(found.stdout.decode(encoding)) == inspected("--complete", path_of("C53"))


def test_any_encoding_of_the_terminal_gets_text() -> None:
    found = command("--complete", path_of("C53"), PYTHONIOENCODING="ascii")

    assert rb'"\xdcn\xefcode Netzwerk \u682a\u5f0f\u4f1a\u793e"' in found.stdout


def test_standard_input_is_read() -> None:
    found = subprocess.run(
        [sys.executable, "-c", "from dradash.cli import main; main()", "inspect", "-"],
        input=path_of("C11").read_bytes(),
        capture_output=True,
        check=True,
        timeout=60,
    )

    assert found.stdout.startswith(b"1 pool, 5 devices seen, 3 free.\n")


def test_newer_of_two_dumps_counts_whatever_their_order(tmp_path: Path) -> None:
    old = slice_file(tmp_path / "old.yaml", "gpu-0", "gpu-1", version="99")
    new = slice_file(tmp_path / "new.yaml", "gpu-0", version="0100")

    expected = {"gpu.example.com/node-a/gpu-0": "available"}
    assert states(inspected("--complete", old, new)) == expected
    assert states(inspected("--complete", new, old)) == expected


def test_what_is_not_given_is_unknown_and_said(tmp_path: Path) -> None:
    report = inspected(slice_file(tmp_path / "a.yaml", "gpu-0"))

    (pool,) = pools(report).values()
    assert pool.counts == (1, 1, None, None, None, None, None, None)
    assert [each["code"] for each in report["problems"]] == [
        "claims_not_given",
        "taint_rules_not_given",
    ]


def test_empty_lists_say_that_there_is_none(tmp_path: Path) -> None:
    slice_file(tmp_path / "a.yaml", "gpu-0")
    for_each(
        ("ResourceClaim", "DeviceTaintRule"),
        lambda kind: (tmp_path / f"{kind}.json").write_text(f'{{"kind":"{kind}List","items":[]}}'),
    )

    report = inspected(tmp_path)

    assert (states(report), report["problems"]) == (
        {"gpu.example.com/node-a/gpu-0": "available"},
        [],
    )


def test_release_decides_whose_rules_hold(tmp_path: Path) -> None:
    rule = tmp_path / "rule.yaml"
    rule.write_text(
        "kind: DeviceTaintRule\nmetadata: {name: all}\nspec: {taint: {key: k, effect: NoSchedule}}\n"
    )
    file = slice_file(tmp_path / "a.yaml", "gpu-0")

    name = "gpu.example.com/node-a/gpu-0"
    assert states(inspected("--complete", "--release", "v1.36.3", rule, file)) == {
        name: "unavailable"
    }
    newest = inspected("--complete", rule, file)
    assert states(newest) == {name: "available"}
    assert messages(newest, "rule_without_selector") != []


def test_many_devices_and_claims_are_listed_only_when_asked_for(tmp_path: Path) -> None:
    file = slice_file(tmp_path / "a.yaml", *(f"gpu-{number}" for number in range(101)))
    claims = "---\n".join(
        f"kind: ResourceClaim\nmetadata: {{name: c-{number}, namespace: team-a}}\n"
        for number in range(101)
    )
    (tmp_path / "claims.yaml").write_text(claims)

    few, whole = run("--complete", tmp_path)[1], run("--complete", "--all", tmp_path)[1]

    assert "The 101 devices are not listed here: add --all, or ask for --format json.\n" in few
    assert "The 101 claims are not listed here: add --all, or ask for --format json.\n" in few
    assert ("gpu-100: available" in few, "gpu-100: available" in whole) == (False, True)
    assert ("c-100: not allocated" in few, "c-100: not allocated" in whole) == (False, True)
    assert file.name not in whole


def test_long_selector_is_cut_in_the_table_and_told_below(tmp_path: Path) -> None:
    selector = "nodeSelector: {nodeSelectorTerms: [{matchExpressions: [{key: example.com/a-rather-long-name-of-a-label, operator: Exists}]}]}"
    file = tmp_path / "a.yaml"
    file.write_text(
        SLICE.format(name="s", version=1, devices="").replace("nodeName: node-a", selector)
    )

    printed = run("--complete", file)[1]

    assert "by selector example.com/a-rather-long-name-of-a…  1 " in printed
    assert "  nodes: example.com/a-rather-long-name-of-a-label\n" in printed


@pytest.mark.parametrize(
    ("allocated", "line"),
    [(["a"], "fits now: 1 × half"), (["a", "b"], "fits now: none of its partitions")],
)
def test_partitions_that_still_fit_are_told(
    tmp_path: Path, allocated: list[str], line: str
) -> None:
    devices = "\n".join(
        f"  - {{name: {name}, attributes: {{profile: {{string: {profile}}}}}, consumesCounters:"
        f' [{{counterSet: gpu, counters: {{memory: {{value: "{size}"}}}}}}]}}'
        for name, profile, size in (("a", "half", 1), ("b", "half", 1), ("whole", "whole", 2))
    )
    results = ", ".join(
        f"{{request: r, driver: gpu.example.com, pool: node-a, device: {name}}}"
        for name in allocated
    )
    file = tmp_path / "a.yaml"
    file.write_text(
        SLICE.format(name="s", version=1, devices="").replace(
            "devices: []", f"devices:\n{devices}"
        )
        + '  sharedCounters: [{name: gpu, counters: {memory: {value: "2"}}}]\n---\n'
        "kind: ResourceClaim\nmetadata: {name: c, namespace: team-a}\n"
        f"status: {{allocation: {{devices: {{results: [{results}]}}}}}}\n"
    )

    assert f"  {line}\n" in run("--complete", file)[1]
    assert ("  fits now: unknown\n" in run(slice_only(tmp_path, file))[1]) is True


def slice_only(folder: Path, file: Path) -> Path:
    target = folder / "slice.yaml"
    target.write_text(file.read_text().partition("---\n")[0])
    return target


def test_names_cannot_steer_the_terminal(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text(
        json.dumps(
            {
                "kind": "ResourceSlice",
                "metadata": {"name": "s"},
                "spec": {
                    "driver": "gpu\u001b[31m\nfree",
                    "nodeName": "\u202enode",
                    "pool": {"name": "p\u0000", "generation": 1, "resourceSliceCount": 1},
                },
            }
        )
    )

    printed = run("--complete", file)[1]

    assert r"gpu\x1b[31m\nfree  p\x00  \u202enode  1" in printed
    assert [each for each in printed if not each.isprintable() and each != "\n"] == []


@pytest.mark.parametrize("content", ["", "\n---\n# nothing\n"])
def test_file_without_an_object_is_named_and_fails(tmp_path: Path, content: str) -> None:
    file = tmp_path / "dump.yaml"
    file.write_text(content)

    done = command("--format", "json", file)

    assert done.returncode == 2
    assert json.loads(done.stdout)["problems"] == [
        {
            "code": "unreadable",
            "message": "holds no object; did the command that should have written it fail?",
            "parameters": {},
            "place": str(file),
        }
    ]


def test_archive_that_is_cut_short_is_named(tmp_path: Path) -> None:
    file = tmp_path / "bundle.tar"
    file.write_bytes(b"kind: Node")

    done = command("--format", "json", file)

    assert done.returncode == 2
    assert json.loads(done.stdout)["problems"] == [
        {
            "code": "unreadable",
            "message": "is called an archive, and is none or a broken one",
            "parameters": {},
            "place": str(file),
        }
    ]


NOTHING = (
    b"dradash inspect: there is no Kubernetes object in what was given. Give what"
    b" `kubectl get resourceslices,resourceclaims,devicetaintrules -A -o yaml` prints.\n"
)


@pytest.mark.parametrize("content", ["{}", "a: 1", "hello", "[1, 2]", "", "<html></html>"])
def test_file_of_something_else_fails_and_says_what_to_give(tmp_path: Path, content: str) -> None:
    file = tmp_path / "values.yaml"
    file.write_text(content)

    done = command(file)

    assert (done.returncode, done.stderr) == (2, NOTHING)


@pytest.mark.parametrize(
    "content",
    [
        "{apiVersion: v1, kind: List, items: []}",
        "{apiVersion: resource.k8s.io/v1, kind: ResourceSliceList, items: []}",
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}",
    ],
)
def test_list_that_is_empty_and_object_of_another_kind_are_something(
    tmp_path: Path, content: str
) -> None:
    file = tmp_path / "dump.yaml"
    file.write_text(content)

    done = command(file)

    assert (done.returncode, done.stderr) == (0, b"")
