\if :scattered
    \set device (:operation * :sessions + :session) % :devices
    SELECT SUM(value), SUM(CAST(LEN(body) AS bigint)) FROM readings WHERE device = :device;
\else
    SELECT SUM(value), SUM(CAST(LEN(body) AS bigint)) FROM readings;
\endif
