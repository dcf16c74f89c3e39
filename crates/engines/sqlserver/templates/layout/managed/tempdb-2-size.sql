-- Sizes and growth, and files that go.
{%- if removes %}
-- A file that goes has to be empty: fail the instance over first (Invoke-AzSqlInstanceFailover), at a quiet
-- time, and run this before there is work.
{%- endif %}
{% include "layout/managed/start.sql" %}
{%- for statement in plan.after_restart %}
{{ statement }}
GO
{%- endfor %}
SET NOEXEC OFF;
GO
