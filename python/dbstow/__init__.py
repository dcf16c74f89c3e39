"""Where should a database's files live? Runs dbstow's experiments and reads their results.

The module starts the program ``dbstow``, which comes with it, and reads what the program prints and
writes. It computes nothing itself.

>>> import dbstow
>>> results = dbstow.run("tempdb-ssd-vs-premium", out="results/tempdb", quick=True)
>>> results.findings["comparisons"][0]["verdict"]
'no-difference'
>>> frame = results.records()

Tables are pandas frames where pandas is installed, otherwise polars frames where polars is, otherwise
lists of dictionaries.
"""

from dbstow._frames import Table, comparisons, findings, records
from dbstow._program import DbstowError, program
from dbstow._run import Results, run

__all__ = [
    "DbstowError",
    "Results",
    "Table",
    "comparisons",
    "findings",
    "program",
    "records",
    "run",
]
