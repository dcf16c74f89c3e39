\if :scattered
    \set device (:operation * :sessions + :session) % :devices
    SELECT sum(value), sum(length(body)) FROM readings WHERE device = :device;
\else
    SELECT sum(value), sum(length(body)) FROM readings;
\endif
