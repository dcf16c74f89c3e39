-- New files of tempdb.
{% include "layout/managed/start.sql" %}
{%- for statement in plan.apply %}
{{ statement }}
GO
{%- endfor %}
SET NOEXEC OFF;
GO
