-- New files of tempdb.
{% include "sqlserver/managed/start.sql" %}
{%- for statement in plan.apply %}
{{ statement }}
GO
{%- endfor %}
SET NOEXEC OFF;
GO
