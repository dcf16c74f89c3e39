"""Finds the program and starts it."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from typing import Any

#: Seconds that the program has to end after an interruption, before it is killed. It needs at most two to
#: write what it has; a run in real time also has to unmount volumes and stop servers.
_GRACE = 60


class DbstowError(Exception):
    """The program refused what it was asked for, or failed.

    The message is what the program printed on stderr.

    Attributes:
        exit_code: 1 failure, 2 usage error, 3 a stated expectation was not met; negative: the number of the
            signal that ended the program.
    """

    def __init__(self, message: str, exit_code: int) -> None:
        """Keep message and exit code."""
        super().__init__(message)
        self.exit_code = exit_code


def program() -> str:
    """Path of the program: the one that was installed with this module, otherwise the first in PATH.

    Raises:
        FileNotFoundError: There is none.
    """
    name = "dbstow.exe" if os.name == "nt" else "dbstow"
    for folder in _script_folders():
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    found = shutil.which(name)
    if found is None:
        raise FileNotFoundError(
            "the program dbstow is neither beside Python nor in PATH; run pip install --force-reinstall dbstow"
        )
    return found


def _script_folders() -> list[str]:
    """Folders where an installer puts programs, the most likely one first."""
    user = sysconfig.get_preferred_scheme("user")
    # `pip install --target FOLDER` puts the module into FOLDER and the program into FOLDER/bin.
    target = os.path.join(os.path.dirname(os.path.dirname(__file__)), "bin")
    return [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", user), target]


def execute(arguments: Sequence[str]) -> str:
    """Run the program with these arguments, and return what it prints on stdout.

    Ctrl-C is passed on, so that the program unmounts, stops and removes what it made.

    Raises:
        DbstowError: The program ended with another exit code than 0.
    """
    process: subprocess.Popen[str] = subprocess.Popen(  # noqa: S603
        [program(), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        **_OWN_GROUP,
    )
    try:
        printed, messages = process.communicate()
    except KeyboardInterrupt:
        _interrupt(process)
        raise
    except BaseException:
        process.kill()
        process.wait()
        raise
    if process.returncode != 0:
        raise DbstowError(messages.strip(), process.returncode)
    return printed


if sys.platform == "win32":
    _OWN_GROUP: dict[str, Any] = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    _INTERRUPT = signal.CTRL_BREAK_EVENT
else:
    # A terminal sends Ctrl-C to all processes of a group, and the program ends at once on a second one.
    _OWN_GROUP: dict[str, Any] = {"start_new_session": True}
    _INTERRUPT = signal.SIGINT


def _interrupt(process: subprocess.Popen[str]) -> None:
    """End the program as Ctrl-C does."""
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(_INTERRUPT)
    try:
        process.communicate(timeout=_GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    except KeyboardInterrupt:
        # The program ends at once on a second one.
        process.send_signal(_INTERRUPT)
        process.wait()
        raise
