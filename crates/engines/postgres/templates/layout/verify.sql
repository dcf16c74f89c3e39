-- What there is now. Changes nothing.
SELECT spcname, pg_tablespace_location(oid) AS location FROM pg_tablespace ORDER BY 1;
SHOW temp_tablespaces;
{%- if let Some((database, tablespace)) = placement.database() %}
SELECT datname, spcname, spcname = {{ tablespace.name|sql }} AS as_asked FROM pg_database d JOIN pg_tablespace t ON t.oid = d.dattablespace
WHERE datname = {{ database|sql }};
{%- endif %}
