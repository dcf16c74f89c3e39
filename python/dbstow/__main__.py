"""``python -m dbstow``: the program itself, for where its folder is not in PATH."""

from __future__ import annotations

import os
import subprocess
import sys

from dbstow._program import program


def main() -> int:
    """Replace this process by the program; on Windows, which cannot, wait for it."""
    command = [program(), *sys.argv[1:]]
    if os.name == "nt":
        return subprocess.call(command)  # noqa: S603
    os.execv(command[0], command)  # noqa: S606


if __name__ == "__main__":
    sys.exit(main())
