"""Runs a .NET program inside of this process: host.py PROGRAM ASSEMBLIES [ARGUMENT..]

ASSEMBLIES is the folder with libcoreclr.so and the assemblies; no .NET has to be installed. The hosting functions:
https://github.com/dotnet/runtime/blob/v8.0.1/src/coreclr/hosts/inc/coreclrhost.h (read 2026-11-21).
"""

import ctypes
import os
import sys
from pathlib import Path

# Not the machine's ICU and OpenSSL, which may be newer than this runtime knows.
os.environ["DOTNET_SYSTEM_GLOBALIZATION_INVARIANT"] = "1"
# No pipes in /tmp for debuggers, which would be left there.
os.environ["COMPlus_EnableDiagnostics"] = "0"


def texts(values):
    """An array of C strings."""
    return (ctypes.c_char_p * len(values))(*[os.fsencode(value) for value in values])


def succeeded(what, status):
    if status < 0:
        sys.exit(f"parse-tsql: {what} failed with 0x{status & 0xFFFFFFFF:08x}")


def main():
    program, assemblies, arguments = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
    properties = {
        "TRUSTED_PLATFORM_ASSEMBLIES": ":".join(str(path) for path in sorted(assemblies.glob("*.dll"))),
        "APP_PATHS": str(Path(program).parent),
        "NATIVE_DLL_SEARCH_DIRECTORIES": str(assemblies),
    }
    runtime = ctypes.CDLL(str(assemblies / "libcoreclr.so"))
    host, domain, code = ctypes.c_void_p(), ctypes.c_uint(), ctypes.c_uint()
    succeeded(
        "starting .NET",
        runtime.coreclr_initialize(
            os.fsencode(program),
            b"parse-tsql",
            len(properties),
            texts(properties.keys()),
            texts(properties.values()),
            ctypes.byref(host),
            ctypes.byref(domain),
        ),
    )
    succeeded(
        "the program",
        runtime.coreclr_execute_assembly(
            host, domain, len(arguments), texts(arguments), os.fsencode(program), ctypes.byref(code)
        ),
    )
    # At once: the runtime's threads do not outlive Python's own clearing up.
    sys.stdout.flush()
    os._exit(code.value)


main()
