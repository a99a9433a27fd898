"""Settings, project file, catalog, presets and cases come from the cache while their files are what they were."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import pytest

from tests.workspace import REPOSITORY, Workspace

# The cache's folder, a file, what it first says and then, and how a command shows which.
FILES: list[tuple[str, str, str, str, Callable[[Workspace], bool]]] = [
    ("settings", "T/settings.yaml", "spawn: {maxDepth: 3}\n", "spawn: {maxDepth: 4}\n",
     lambda ws: '"value": 4' in ws.run("settings", "show", "spawn.maxDepth", "--json").expect().stdout),
    ("project", "P/project.yaml", "id: aaa\n", "id: bbb\n",
     lambda ws: ws.run("delegate", "--dry-run", "--recipe", "default", "x").expect()
     .json["plan"]["payload"]["project"] == "bbb"),
    ("catalog", "B/catalog/engines.yaml", "engines: {aaa: {purpose: p, when_to_use: w, not_for: n}}\n",
     "engines: {bbb: {purpose: p, when_to_use: w, not_for: n}}\n",
     lambda ws: "bbb" in ws.run("catalog", "show").expect().stdout),
    ("cases", "P/routes.yaml", "cases: [{task: x, not: default, tags: aaa}]\n",
     "cases: [{task: x, not: default, tags: bbb}]\n", lambda ws: '"bbb"' in ws.run("check", "--json").stdout),
    ("presets", "B/spawn/own.yaml", "command: [aaa]\n", "command: [bbb]\n",
     lambda ws: "bbb" in ws.run("spawn", "list").expect().stdout),
]  # fmt: skip


@pytest.mark.slow
def test_a_file_is_kept_until_it_changes(ws: Workspace) -> None:
    ws.write("B/recipes/default.yaml", (REPOSITORY / "defaults/recipes/default.yaml").read_bytes())
    paths = [ws.write(notation, before) for _, notation, before, _, _ in FILES]
    ws.write("H/../config/tenants/one/settings.yaml", "spawn: {maxDepth: 3, stdin: json}\nnonsense: 1\n")
    ws.write("H/../config/tenants/two/settings.yaml", "spawn: {maxDepth: 3}\nnonsense: 1\n")
    time.sleep(2.1)  # a file that may still change within a tick of its clock is not kept
    for folder, _, _, _, seen in FILES:
        assert not seen(ws)
        assert any((ws.cache / folder).iterdir()), folder
    for folder, _, _, _, seen in FILES:
        for kept in (ws.cache / folder).iterdir():
            assert kept.stat().st_mode & 0o077 == 0, "settings may hold secrets"
            data = bytearray(kept.read_bytes())
            data[-1] ^= 1
            kept.write_bytes(bytes(data))
        assert not seen(ws), "a broken cache is none"
        assert not seen(ws)
    for path, (_, _, _, after, seen) in zip(paths, FILES, strict=True):
        before = path.stat()
        with path.open("r+") as file:  # in place: the same inode, the same size, and the time put back
            file.write(after)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert seen(ws), path
    for _ in range(2):  # what is wrong is wrong each time
        assert "1:22: `spawn.stdin` must be" in ws.run("settings", "show", "--tenant", "one").expect(2).stderr
        assert "2:1: there is no setting `nonsense`" in ws.run("settings", "show", "--tenant", "two").expect(2).stderr
