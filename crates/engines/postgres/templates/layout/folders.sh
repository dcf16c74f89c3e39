#!/bin/sh
# Makes the folders for the server's user. Run as root.
set -eu
{%- for tablespace in placement.tablespaces() %}
install -d -o postgres -g postgres -m 0700 -- {{ tablespace.folder|sh }}
{%- endfor %}
{%- if let Some(log) = placement.log %}
install -d -o postgres -g postgres -m 0700 -- {{ log|sh }}
{%- endif %}
{%- if let Some(new) = placement.whole %}
install -d -o postgres -g postgres -m 0700 -- {{ new|sh }}
{%- endif %}
