"""Runs an experiment."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dbstow import _frames, _program

#: A path, as Python's own functions take it.
PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class Results:
    """What a run found.

    Attributes:
        folder: The results folder: the records of all trials, and the page ``report.html``.
        findings: The findings, as ``dbstow run --format json`` prints them (schema/findings.schema.json).
    """

    folder: Path
    findings: dict[str, Any]

    def records(self) -> _frames.Table:
        """One row for each trial: see :func:`dbstow.records`."""
        return _frames.records(self.folder)


def run(
    experiment: PathLike,
    out: PathLike,
    *,
    mode: str | None = None,
    engine: str | None = None,
    blocks: int | None = None,
    seed: int | None = None,
    quick: bool = False,
    fresh: bool = False,
    set: Mapping[str, object] | None = None,
    arguments: Sequence[str] = (),
) -> Results:
    """Run an experiment, and return its findings.

    Trials that ``out`` has records of are not run again: the same call continues a run that was interrupted, and
    returns at once after one that was not.

    Args:
        experiment: Name of a built-in experiment (``dbstow experiments`` lists them), or a TOML file.
        out: Results folder; it is created.
        mode: ``"simulate"`` (the default), ``"emulate"`` or ``"measure"``.
        engine: Engine in real time, such as ``"postgres"``.
        blocks: How many times each arm runs; the experiment says, unless this does.
        seed: Of all random choices, 0 to 2**64 - 1.
        quick: With the experiment's quick settings.
        fresh: Remove the records of an earlier run in ``out`` first.
        set: Values of the experiment that are to be others, by key:
            ``{"engine.memory": "8 MiB", "volume.data.iops": [3000, 6000]}``; of several values each makes an arm.
        arguments: More arguments of ``dbstow run``, as in a shell.

    Raises:
        DbstowError: The experiment has a mistake, or its run failed. What was recorded is kept.
    """
    options = {"mode": mode, "engine": engine, "blocks": blocks, "seed": seed}
    command = ["run", os.fspath(experiment), "--format", "json", "--out", os.fspath(out)]
    for name, option in options.items():
        if option is not None:
            command += [f"--{name}", str(option)]
    command += [f"--{name}" for name, wanted in (("quick", quick), ("fresh", fresh)) if wanted]
    for key, value in (set or {}).items():
        command += ["--set", f"{key}={_text(value)}"]
    printed = _program.execute([*command, *arguments])
    return Results(Path(out), json.loads(printed))


def _text(value: object) -> str:
    """Write a value as ``--set`` takes it."""
    if isinstance(value, list | tuple):
        return ",".join(_text(one) for one in value)
    return str(value).lower() if isinstance(value, bool) else str(value)
