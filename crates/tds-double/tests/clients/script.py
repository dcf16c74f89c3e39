"""The texts of the fixed script (src/fixed.rs), and what a client has to see of them."""

import json
import math
import sys

TYPES = "SELECT * FROM dbo.every_type ORDER BY id"
SETS = "SELECT 1 AS a; PRINT N'between'; SELECT N'x' AS b, CAST(NULL AS bigint) AS c; UPDATE dbo.t SET a = 1"
COUNT = "UPDATE dbo.t SET a = 1"
ROWS = "SELECT number, name FROM dbo.numbers ORDER BY number"
MANY_SETS = "DECLARE @i int = 0; WHILE @i < 20000 BEGIN SELECT @i AS i; SET @i += 1 END"
ERROR = "RAISERROR(N'told to fail', 16, 3)"
ERROR_BETWEEN = "SELECT 1 AS a; RAISERROR(N'told to fail', 16, 3); SELECT 2 AS b"
WAIT = "WAITFOR DELAY '00:01:00'"
CUT = "SELECT N'cut' AS a"
GARBAGE = "SELECT N'garbage' AS a"
UNSCRIPTED = "SELECT 'nobody knows this'"

USER, PASSWORD = "sa", "Double-1433"

# Where the double is: {"host", "port", "tls", "certificate": a file}
WHERE = json.loads(sys.argv[1])


def same(got, expected):
    assert got == expected, f"got {got!r}, expected {expected!r}"


def check_types(rows):
    same(len(rows), 2)
    one, two = rows
    expected = [1, True, 255, -32768, -(2**31), 2**63 - 1]
    same([int(value) for value in one[:6]], [int(value) for value in expected])
    assert math.isclose(one[6], 0.1)
    same(one[7], "Größe € 😀")
    same(one[8], "long " * 10_000)
    same(bytes(one[9]), bytes([0, 1, 254, 255]))
    same(list(two), [2] + [None] * 9)


def check_rows(rows):
    same(len(rows), 5000)
    same(tuple(rows[0]), (0, "number 0"))
    same(tuple(rows[4999]), (4999, "number 4999"))


def passed(name):
    print(name, flush=True)
