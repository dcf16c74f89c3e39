-- Whether 2-apply.sql can be run. Changes nothing.
\set ON_ERROR_STOP on
DO {{ tag }}
BEGIN
    IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
        RAISE EXCEPTION 'tablespaces are made by a superuser; connect as one';
    END IF;
    IF EXISTS (SELECT 1 FROM pg_tablespace WHERE spcname IN (
        {%- for tablespace in placement.tablespaces() %}{{ tablespace.name|sql }}{% if !loop.last %}, {% endif %}{% endfor -%}
    )) THEN
        RAISE EXCEPTION 'a tablespace of this name is there already; run undo.sql first';
    END IF;
{%- if !placement.temp.is_empty() %}
    IF (SELECT setting FROM pg_settings WHERE name = 'temp_tablespaces') <> '' THEN
        RAISE EXCEPTION 'temp_tablespaces is set already (%), and undo.sql would not set it again; reset it first, or change undo.sql',
            current_setting('temp_tablespaces');
    END IF;
{%- endif %}
{%- if placement.forgetting().next().is_some() %}
    IF current_setting('data_directory') <> {{ placement.data_directory|sql }} THEN
        RAISE EXCEPTION 'the data directory is %, and restore-temp.sh was written for %; write the scripts again with --data-directory',
            current_setting('data_directory'), {{ placement.data_directory|sql }};
    END IF;
{%- endif %}
{%- if let Some((name, _)) = placement.database() %}
    IF NOT EXISTS (SELECT 1 FROM pg_database d JOIN pg_tablespace t ON t.oid = d.dattablespace
                   WHERE d.datname = {{ name|sql }} AND t.spcname = 'pg_default') THEN
        RAISE EXCEPTION 'there is no database % in pg_default, where undo.sql would put it back', {{ name|sql }};
    END IF;
    IF current_database() = {{ name|sql }} OR EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = {{ name|sql }} AND pid <> pg_backend_pid()) THEN
        RAISE EXCEPTION 'somebody is connected to %; it moves only while nobody is', {{ name|sql }};
    END IF;
{%- endif %}
END
{{ tag }};
