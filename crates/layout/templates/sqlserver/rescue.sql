-- For a service that does not start with tempdb's new files; see rescue. Every file goes where the old
-- ones were, the first data file and the first log before all others: the server may know no others in this
-- state, and starts once it can make these two. When the service runs again: undo.sql, restart, undo-after-restart.sql.
{%- for statement in plan.rescue %}
{{ statement }}
GO
{%- endfor %}
