-- Rollback. A tablespace goes only when nothing is in it: sessions that use temporary files have to end.
\set ON_ERROR_STOP on
{%- if !placement.temp.is_empty() %}
ALTER SYSTEM RESET temp_tablespaces;
SELECT pg_reload_conf();
{%- endif %}
{%- if let Some((database, _)) = placement.database() %}
ALTER DATABASE {{ database|sql_name }} SET TABLESPACE pg_default;
{%- endif %}
{%- for tablespace in placement.tablespaces() %}
DROP TABLESPACE IF EXISTS {{ tablespace.name }};
{%- endfor %}
