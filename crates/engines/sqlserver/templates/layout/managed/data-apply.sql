-- More data files, all of one size. Rows that are there stay where they are: rebuild the tables and
-- indexes afterwards (ALTER INDEX ALL ON .. REBUILD), so that they spread over all files.
{% include "layout/managed/start.sql" %}
{% include "layout/managed/stop-if-absent.sql" %}
{%- for statement in apply %}
{{ statement }}
GO
{%- endfor %}
SELECT name, physical_name, CAST(size AS bigint) * 8 / 1024 AS mib FROM {{ database }}.sys.database_files;
GO
SET NOEXEC OFF;
GO
