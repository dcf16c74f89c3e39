"""python-tds against the double."""

import time

import pytds

from script import *


def connect(**changes):
    arguments = dict(
        dsn=WHERE["host"], port=WHERE["port"], user=USER, password=PASSWORD, database="master",
        autocommit=True, login_timeout=10, timeout=30, tds_version=pytds.tds_base.TDS74,
    )
    if WHERE["tls"]:
        # It asks pyOpenSSL for the host's name by a function that pyOpenSSL no longer has.
        arguments.update(cafile=WHERE["certificate"], validate_host=False)
    arguments.update(changes)
    return pytds.connect(**arguments)


def refused(text, **changes):
    try:
        connect(**changes)
    except pytds.tds_base.Error as error:
        assert text in str(error), error
        same(error.number, 18456)  # of two errors the last
        return
    raise AssertionError("was let in")


with connect() as connection, connection.cursor() as cursor:
    cursor.execute(TYPES)
    check_types(cursor.fetchall())
    passed("types")

    cursor.execute(ROWS)
    check_rows(cursor.fetchall())
    passed("rows")

    cursor.execute(SETS)
    same(cursor.fetchall(), [(1,)])
    assert cursor.nextset()
    same([column[0] for column in cursor.description], ["b", "c"])
    same(cursor.fetchall(), [("x", None)])
    assert "between" in [message[1].args[0] for message in cursor.messages], cursor.messages
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

    for text, number in [(ERROR, 50000), (UNSCRIPTED, 50001)]:
        try:
            cursor.execute(text)
            raise AssertionError("did not fail")
        except pytds.tds_base.Error as error:
            same(error.number, number)
    passed("errors")

    for value in (7, 2**40, 0.5, "Größe", True):
        cursor.execute("SELECT %s AS echo", (value,))
        same(cursor.fetchall()[0][0], value)
    passed("parameters")

    text = "-- " + "x" * 40_000
    cursor.execute(text)
    passed("a request of many packets")

with connect(timeout=1) as connection, connection.cursor() as cursor:
    try:
        cursor.execute(WAIT)
        cursor.fetchall()
        raise AssertionError("did not time out")
    except pytds.tds_base.TimeoutError:
        pass
    passed("timeout")

with connect(autocommit=False) as connection:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 AS one")
        same(cursor.fetchall(), [(1,)])
    connection.commit()
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 AS one")
        cursor.fetchall()
    connection.rollback()
    passed("transactions")

refused("Login failed for user 'sa'", password="wrong")
refused("Cannot open database \"nowhere\"", database="nowhere")
passed("logins")

connection = connect()
cursor = connection.cursor()
try:
    cursor.execute(CUT)
    cursor.fetchall()
    raise AssertionError("was not cut")
except (pytds.tds_base.Error, ConnectionError):
    passed("cut")
