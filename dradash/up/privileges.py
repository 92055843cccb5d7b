"""Running Postgres although we are root, which Postgres refuses.

Only `make run` and `make test` as root need this, in containers mostly. The process becomes `nobody` and keeps one right of
root, to pass through folders that belong to root alone. So nothing has to be opened to other users: neither the data folder nor
the environment that holds the server's program.
"""

import ctypes
import os
import pwd
import struct
from pathlib import Path

# linux/prctl.h and linux/capability.h
PR_SET_KEEPCAPS = 8
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_RAISE = 2
CAP_DAC_OVERRIDE = 1
CAPABILITY_VERSION_3 = 0x20080522


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


def become(owner: pwd.struct_passwd) -> None:
    """Change this process for good; raises OSError where the kernel does not let root do so."""
    libc = ctypes.CDLL(None, use_errno=True)
    _checked(libc.prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0))
    os.setgroups([])
    os.setresgid(owner.pw_gid, owner.pw_gid, owner.pw_gid)
    os.setresuid(owner.pw_uid, owner.pw_uid, owner.pw_uid)
    mask = 1 << CAP_DAC_OVERRIDE
    header = struct.pack("Ii", CAPABILITY_VERSION_3, 0)
    _checked(libc.capset(header, struct.pack("6I", mask, mask, mask, 0, 0, 0)))
    _checked(libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_DAC_OVERRIDE, 0, 0))


def _checked(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
