"""Running Postgres although we are root, which Postgres refuses.

Only `make run` and `make test` as root need this, in containers mostly. Postgres runs as `nobody`, with one right of root if the
machine lets us give it away: to pass through folders that belong to root alone. With it nothing has to be opened to other users,
neither the data folder nor the environment that holds the server's program; without it see `outside`.
"""

import functools
import os
import pwd
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

# Without this bit the kernel drops the right when `access(2)` is called, by which Postgres looks for its own programs.
_KEEP_WHEN_ASKED = "--securebits=+no_setuid_fixup"


def account() -> pwd.struct_passwd | None:
    """Whom Postgres runs as, where that is not ourselves."""
    return pwd.getpwnam("nobody") if os.geteuid() == 0 else None


def give_folder(folder: Path) -> None:
    """Make `folder` and all in it belong to whom Postgres runs as, where that is not ourselves yet."""
    owner = account()
    if owner is None or folder.stat().st_uid == owner.pw_uid:
        return
    for path in (folder, *folder.rglob("*")):
        os.chown(path, owner.pw_uid, owner.pw_gid, follow_symlinks=False)


def passing(owner: pwd.struct_passwd, command: Sequence[str]) -> list[str]:
    """The command line that runs a program as `owner`, who may pass through every folder; needs util-linux."""
    return [
        shutil.which("setpriv") or "setpriv",
        f"--reuid={owner.pw_uid}",
        f"--regid={owner.pw_gid}",
        "--clear-groups",
        "--bounding-set=-all,+dac_override",
        "--inh-caps=-all,+dac_override",
        "--ambient-caps=+dac_override",
        _KEEP_WHEN_ASKED,
        # Changing the user forgets which signal the parent's death sends.
        "--pdeathsig=keep",
        *command,
    ]


@functools.cache
def can_pass(program: Path) -> bool:
    """Whether `nobody` finds a program wherever it is; asked the way Postgres asks, with `access(2)`."""
    owner = account()
    if owner is None:
        return True
    try:
        asked = subprocess.run(passing(owner, ["test", "-x", str(program)]), capture_output=True)
    except OSError:
        return False
    return asked.returncode == 0


def become(owner: pwd.struct_passwd) -> None:
    """Change this process for good, without any right of root; raises OSError where root may not do so."""
    os.setgroups([])
    os.setresgid(owner.pw_gid, owner.pw_gid, owner.pw_gid)
    os.setresuid(owner.pw_uid, owner.pw_uid, owner.pw_uid)
