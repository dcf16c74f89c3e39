"""Tables of a results folder."""

from __future__ import annotations

import importlib
import json
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from dbstow import _program

if TYPE_CHECKING:
    import pandas
    import polars

#: A pandas frame, a polars frame, or, where neither is installed, a list with a dictionary for each row.
Table = Union["pandas.DataFrame", "polars.DataFrame", list[dict[str, Any]]]

#: A row, by the names of its columns.
Row = dict[str, Any]


def records(folder: str | os.PathLike[str], frame: str | None = None) -> Table:
    """One row for each trial in a results folder, in the order in which they were planned.

    Columns: ``experiment``, ``mode``, ``arm``, ``block`` (from 0), ``position`` (in its block, from 0), ``seed``,
    ``finished``; ``error`` of a trial that failed; then every metric, whose name ends in its unit, and
    ``time.CAUSE_ns``, how long sessions spent on what (FORMAT.md). What a trial does not have is missing in its row.
    A file that is not a record of this plan is left out with a warning, as the program leaves it out.

    Args:
        folder: A folder that ``dbstow run`` or :func:`dbstow.run` wrote.
        frame: ``"pandas"``, ``"polars"`` or ``"list"`` [default: the first one that is installed].

    Raises:
        FileNotFoundError: The folder holds no results.
        ImportError: ``frame`` is not installed.
    """
    head = Path(folder, "dbstow.json")
    if not head.is_file():
        raise FileNotFoundError(f"{os.fspath(folder)} holds no results of dbstow (no dbstow.json)")
    digest = json.loads(head.read_text(encoding="utf-8"))["plan"]["digest"]
    rows = []
    for file in Path(folder, "records").glob("*.json"):
        try:
            record = json.loads(file.read_text(encoding="utf-8"))
            if record["plan"] != digest:
                raise ValueError("it is a record of another plan")
            rows.append(_record_row(record))
        except (ValueError, KeyError, TypeError) as error:
            warnings.warn(f"{file} is left out: {error!r}", stacklevel=2)
    rows.sort(key=lambda row: (row["block"], row["position"]))
    return _table(rows, frame)


def findings(folder: str | os.PathLike[str], frame: str | None = None) -> Table:
    """One row for each arm and metric of a results folder.

    Columns: ``experiment``, ``mode``, ``arm``, ``trials``, ``metric``, ``mean``, ``low`` and ``high`` (the 95 %
    confidence interval over trials), ``unit``, ``published`` and ``fitted``.

    Args:
        folder: A folder that ``dbstow run`` or :func:`dbstow.run` wrote.
        frame: ``"pandas"``, ``"polars"`` or ``"list"`` [default: the first one that is installed].

    Raises:
        DbstowError: The folder holds no results, or no trial of them completed.
        ImportError: ``frame`` is not installed.
    """
    found = _report(folder)
    rows = [
        {
            "experiment": found["experiment"],
            "mode": found["mode"],
            "arm": arm["name"],
            "trials": arm["trials"],
            "metric": metric,
            **{key: estimate[key] for key in ("mean", "low", "high", "unit")},
            "published": arm["published"].get(metric),
            "fitted": arm["fitted"],
        }
        for arm in found["arms"]
        for metric, estimate in arm["metrics"].items()
    ]
    return _table(rows, frame)


def comparisons(folder: str | os.PathLike[str], frame: str | None = None) -> Table:
    """One row for each comparison of a candidate with a baseline.

    Columns: ``experiment``, ``mode``, ``baseline``, ``candidate``, ``metric``, ``ratio``, ``ratio_low``,
    ``ratio_high``, ``verdict`` and ``blocks``.

    Args:
        folder: A folder that ``dbstow run`` or :func:`dbstow.run` wrote.
        frame: ``"pandas"``, ``"polars"`` or ``"list"`` [default: the first one that is installed].

    Raises:
        DbstowError: The folder holds no results, or no trial of them completed.
        ImportError: ``frame`` is not installed.
    """
    found = _report(folder)
    rows = []
    for comparison in found["comparisons"]:
        ratio = comparison["ratio"] or {}
        rows.append(
            {
                "experiment": found["experiment"],
                "mode": found["mode"],
                **{key: comparison[key] for key in ("baseline", "candidate", "metric")},
                "ratio": ratio.get("mean"),
                "ratio_low": ratio.get("low"),
                "ratio_high": ratio.get("high"),
                "verdict": comparison["verdict"],
                "blocks": comparison["blocks"],
            }
        )
    return _table(rows, frame)


def _report(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the findings of a folder as the program prints them; it also writes the folder's page anew."""
    printed: dict[str, Any] = json.loads(_program.execute(["report", os.fspath(folder), "--format", "json"]))
    return printed


def _record_row(record: dict[str, Any]) -> Row:
    outcome = record["outcome"]
    return {
        **{key: record[key] for key in ("experiment", "mode", "arm", "block", "position", "seed")},
        "finished": outcome["status"] == "finished",
        "error": outcome.get("error"),
        **record["metrics"],
        **{f"time.{cause}_ns": time for cause, time in record["time_split_ns"].items()},
    }


def _table(rows: list[Row], frame: str | None) -> Table:
    kind = frame or next((name for name in ("pandas", "polars") if _installed(name)), "list")
    if kind == "list":
        return rows
    if kind not in ("pandas", "polars"):
        raise ValueError(f'frame is "{kind}"; it can be "pandas", "polars" or "list"')
    columns = dict.fromkeys(name for row in rows for name in row)
    values = {name: [row.get(name) for row in rows] for name in columns}
    table: Table = importlib.import_module(kind).DataFrame(values)
    return table


def _installed(module: str) -> bool:
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True
