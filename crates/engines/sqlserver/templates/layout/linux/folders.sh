#!/bin/sh
# Makes the folders for the service's user. Run as root. In a container: mount the volume first; the user
# there is mssql (10001), whom the folder on the host has to belong to.
set -eu
{%- for folder in folders %}
install -d -o mssql -g mssql -m 0750 -- {{ folder|sh }}
{%- endfor %}
