"""Reading the files of a git revision as blobs: nothing that a repository configures is run.

Only `rev-parse`, `ls-tree` and `cat-file --batch` are used. They know no filter and no hook; what is left is fetching
objects that a partial clone lacks, which would run the remote's programs, and so every protocol is forbidden.
"""

from __future__ import annotations

import os
import posixpath
import signal
import subprocess
import threading
from typing import NamedTuple

from vancectl.programs.search import ProgramError, find_program

LINK = 0o120000
SUBMODULE = 0o160000

_SECONDS = 60
MAX_OUTPUT = 50_000_000  # bytes: a small tree can list itself a billion times over
# Some 200,000 files: a tree may list itself again and again.
_MOST_LISTED = 16 * 1024 * 1024
_OPTIONS = (
    "--no-pager", "--no-replace-objects", "--literal-pathspecs",
    "-c", "protocol.allow=never", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null",
)  # fmt: skip
# Both sides of a comparison are found from the working directory. The folders of objects stay: a hook that judges a
# push sees the pushed objects only by them.
_REPOSITORY = frozenset(
    {
        "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_NAMESPACE", "GIT_PREFIX",
        "GIT_SHALLOW_FILE", "GIT_GRAFT_FILE", "GIT_REPLACE_REF_BASE", "GIT_IMPLICIT_WORK_TREE",
    }
)  # fmt: skip
_NO_FETCH = {"GIT_ALLOW_PROTOCOL": "", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}


class GitError(Exception):
    """What cannot be read, and the next step."""

    def __init__(self, text: str, remedy: str) -> None:
        super().__init__(text)
        self.text = text
        self.remedy = remedy


class Blob(NamedTuple):
    mode: int
    name: str
    size: int
    path: str


class Git:
    """The repository that the working directory is in."""

    def __init__(self) -> None:
        try:
            self._program = find_program("git")
        except ProgramError:
            raise _no_git() from None
        kept = {name: value for name, value in os.environ.items() if name not in _REPOSITORY}
        self._environment = {**kept, **_NO_FETCH, "LC_ALL": "C"}

    def check_revision(self, revision: str) -> None:
        """Raises GitError where git refuses the repository, or has no such revision."""
        shallow = self._checked("rev-parse", "--is-shallow-repository").strip() == b"true"
        if self._object(revision + "^{tree}") is not None:
            return
        remedy = "name a branch, a tag or a commit that `git rev-parse` knows"
        if shallow:
            remedy = "this clone is shallow: run `git fetch --unshallow`, or set `fetch-depth: 0` where it is made"
        raise GitError(f"there is no revision `{revision}` here", remedy)

    def folder(self, revision: str, path: str) -> tuple[str | None, str]:
        """The name of the tree at REV:path, None where the revision has nothing there; and the path from the top."""
        prefix = os.fsdecode(self._checked("rev-parse", "--show-prefix").removesuffix(b"\n"))
        is_relative = path in (".", "..") or path.startswith(("./", "../"))
        full = posixpath.normpath(posixpath.join(prefix, path) if is_relative else path or ".")
        if full.startswith(("../", "/")) or full == "..":
            raise GitError("the path leaves the repository", "name the folder from the repository's top")
        name = self._object(f"{revision}:{'' if full == '.' else full}")
        if name is None or self._run("cat-file", "-t", name).stdout.strip() != b"tree":
            self._check_way(revision, full)
            name = None
        return name, full

    def _check_way(self, revision: str, path: str) -> None:
        """Raises GitError where something else than folders stands on the way to a folder that is not found."""
        parts = path.split("/")
        for count in range(1, len(parts) + 1):
            part = "/".join(parts[:count])
            entry = self._checked("ls-tree", "-z", "--full-tree", f"{revision}^{{tree}}", part).partition(b"\t")[0]
            if not entry:
                return
            mode, kind, name = entry.split()
            if int(mode, 8) == SUBMODULE:
                raise GitError(f"`{part}` is a submodule, which is not read", "check it out, and name the folder")
            if int(mode, 8) == LINK:
                target = os.fsdecode(self._checked("cat-file", "blob", name.decode()))
                raise GitError(f"`{part}` is a link to `{target}`, which is not followed", "name that folder instead")
            if kind == b"blob":
                raise GitError(f"`{part}` is no folder in that revision", "name the folder that the file is in")

    def blobs(self, tree: str) -> list[Blob]:
        found = []
        for line in self._checked("ls-tree", "-r", "-l", "-z", "--full-tree", tree, most=_MOST_LISTED).split(b"\0")[
            :-1
        ]:
            facts, _, path = line.partition(b"\t")
            mode, _, name, size = facts.split()
            number = int(size) if size != b"-" else 0
            found.append(Blob(int(mode, 8), name.decode(), number, os.fsdecode(path)))
        return found

    def read(self, blobs: list[Blob]) -> dict[str, bytes]:
        """The bytes of each blob by its name."""
        names = list(dict.fromkeys(blob.name for blob in blobs))
        if not names:
            return {}
        data = self._checked("cat-file", "--batch", given="".join(f"{name}\n" for name in names).encode())
        contents = {}
        start = 0
        for name in names:
            end = data.find(b"\n", start)
            facts = data[start:end].split()
            if end < 0 or len(facts) != 3 or facts[1] != b"blob":
                raise GitError(f"the object {name} is not in this clone", "check it out, and name the folder")
            length = int(facts[2])
            contents[name] = data[end + 1 : end + 1 + length]
            start = end + length + 2
        return contents

    def _object(self, expression: str) -> str | None:
        done = self._run("rev-parse", "--verify", "--quiet", "--end-of-options", expression)
        return done.stdout.decode().strip() if done.returncode == 0 else None

    def _checked(self, *arguments: str, given: bytes = b"", most: int = MAX_OUTPUT) -> bytes:
        done = self._run(*arguments, given=given, most=most)
        if done.returncode == 0:
            return done.stdout
        lines = [line.strip() for line in done.stderr.decode("utf-8", "replace").splitlines()]
        said = next((line for line in lines if line.startswith("fatal: ")), lines[0] if lines else "it says nothing")
        own = next((line for line in lines if line.startswith("git config ")), None)
        remedy = f"git's own remedy, where you trust its owner: `{own}`" if own else "name a folder that is checked out"
        raise GitError(f"git refuses ({said.removeprefix('fatal: ')})", remedy)

    def _run(self, *arguments: str, given: bytes = b"", most: int = MAX_OUTPUT) -> subprocess.CompletedProcess[bytes]:
        """Ends git where it takes too long, or says more than any folder of recipes would."""
        import tempfile

        words = [self._program, *_OPTIONS, *arguments]
        with tempfile.TemporaryFile() as asked, tempfile.TemporaryFile() as errors:
            asked.write(given)
            asked.seek(0)
            try:
                process = subprocess.Popen(
                    words, stdin=asked, stdout=subprocess.PIPE, stderr=errors, env=self._environment
                )
            except OSError:
                raise _no_git() from None
            except ValueError:
                raise GitError("a git revision holds no NUL", "write it as REV:path") from None
            late = threading.Timer(_SECONDS, process.kill)
            late.start()
            with process:
                assert process.stdout is not None
                try:
                    data = process.stdout.read(most + 1)
                    if len(data) > most:
                        process.kill()
                    process.wait()
                finally:
                    late.cancel()
            errors.seek(0)
            said = errors.read()
        if len(data) > most:
            raise GitError("it holds more than a folder of recipes would", "name a folder that holds recipes only")
        if process.returncode == -signal.SIGKILL:
            raise GitError(f"git gave no answer within {_SECONDS} s", "check it out, and name the folder")
        return subprocess.CompletedProcess(words, process.returncode, data, said)


def _no_git() -> GitError:
    return GitError("git could not be run", "install git, or name a folder")
