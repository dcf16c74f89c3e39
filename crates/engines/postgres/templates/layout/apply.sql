-- {{ placement.request.title|line }}
\set ON_ERROR_STOP on
{%- for tablespace in placement.tablespaces() %}
CREATE TABLESPACE {{ tablespace.name }} LOCATION {{ tablespace.folder|sql }};
{%- endfor %}
{%- if !placement.temp.is_empty() %}

-- Sorts, hashes and temporary tables of everybody; who may not use a tablespace stays where it was.
{%- for tablespace in placement.temp %}
GRANT CREATE ON TABLESPACE {{ tablespace.name }} TO PUBLIC;
{%- endfor %}
ALTER SYSTEM SET temp_tablespaces = {% for tablespace in placement.temp %}{{ tablespace.name }}{% if !loop.last %}, {% endif %}{% endfor %};
SELECT pg_reload_conf();
{%- endif %}
{%- if let Some((database, tablespace)) = placement.database() %}

-- Copies all of it, while nobody is connected to it.
ALTER DATABASE {{ database|sql_name }} SET TABLESPACE {{ tablespace.name }};
{%- endif %}
