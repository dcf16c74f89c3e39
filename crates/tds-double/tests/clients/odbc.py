"""Microsoft's ODBC driver, by way of mssql-python, against the double."""

import mssql_python

from script import *


def connect(**changes):
    words = {
        "Server": f"tcp:{WHERE['host']},{WHERE['port']}",
        "Database": "master",
        "UID": USER,
        "PWD": PASSWORD,
        "Encrypt": "yes" if WHERE["tls"] else "no",
        "TrustServerCertificate": "yes",
    }
    words.update(changes)
    text = ";".join(f"{name}={value}" for name, value in words.items())
    return mssql_python.connect(text, autocommit=True)


def fails(what, *fragments):
    try:
        what()
    except Exception as error:
        for fragment in fragments:
            assert fragment in str(error), f"{fragment!r} is not in {error}"
        return
    raise AssertionError("did not fail")


connection = connect()
cursor = connection.cursor()

cursor.execute(TYPES)
check_types(cursor.fetchall())
passed("types")

cursor.execute(ROWS)
check_rows(cursor.fetchall())
passed("rows")

cursor.execute(SETS)
same([tuple(row) for row in cursor.fetchall()], [(1,)])
assert cursor.nextset()
seen = list(cursor.messages)
while cursor.description is None:
    assert cursor.nextset()
    seen += cursor.messages
same([column[0] for column in cursor.description], ["b", "c"])
same([tuple(row) for row in cursor.fetchall()], [("x", None)])
assert any("between" in str(message) for message in seen), seen
assert cursor.nextset()  # the count, which mssql-python does not show here
cursor.execute(COUNT)
same(cursor.rowcount, 3)
passed("sets")

cursor.execute(MANY_SETS)
numbers = []
while True:
    numbers += [row[0] for row in cursor.fetchall()] if cursor.description else []
    if not cursor.nextset():
        break
same(numbers, list(range(20_000)))
passed("many sets")

fails(lambda: cursor.execute(ERROR), "told to fail")
fails(lambda: cursor.execute(UNSCRIPTED), "nobody knows this")
passed("errors")

for value in (7, 2**40, 0.5, "Größe", True, b"\x00\xff", "x" * 9000):
    cursor.execute("SELECT ? AS echo", (value,))
    same(cursor.fetchall()[0][0], value)
passed("parameters")

cursor.execute("-- " + "x" * 40_000)
passed("a request of many packets")

connection.timeout = 1
slow = connection.cursor()
fails(lambda: slow.execute(WAIT), "imeout")
connection.timeout = 0
slow = connection.cursor()
slow.execute("SELECT 1 AS one")
same(slow.fetchall()[0][0], 1)
passed("timeout")

connection.setautocommit(False)
cursor.execute("SELECT 1 AS one")
same(cursor.fetchall()[0][0], 1)
connection.commit()
cursor.execute("SELECT 1 AS one")
cursor.fetchall()
connection.rollback()
passed("transactions")
connection.close()

fails(lambda: connect(PWD="wrong"), "Login failed for user 'sa'")
# Of the two errors the driver puts the graver one first, and mssql-python shows that alone.
fails(lambda: connect(Database="nowhere"), "Login failed")
passed("logins")

# mssql-python gives the rows that came before the cut and no error; what comes next has to fail.
broken = connect().cursor()
broken.execute(CUT)
same(len(broken.fetchall()), 5000)
fails(lambda: broken.execute("SELECT 1 AS one"))
passed("cut")
