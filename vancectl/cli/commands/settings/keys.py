"""`vancectl settings keys`."""

from __future__ import annotations

import json

from vancectl.cli.options import JsonOption
from vancectl.cli.scope import Voice, voiced


@voiced
def list_keys(voice: Voice, json_output: JsonOption = False) -> None:
    """List every key with what it means, what it may hold and its default.

    No file of the tenant is read for it.
    """
    from vancectl.settings.keys import KINDS
    from vancectl.settings.settings import bundled_settings, variable_of
    from vancectl.settings.settings_schema import DESCRIPTIONS

    output = voice.output(as_json=json_output)
    bundled = bundled_settings()
    rows = [
        {
            "key": key,
            "means": DESCRIPTIONS[key],
            "holds": kind.expected,
            "default": bundled[key],
            "variable": variable_of(key),
        }
        for key, kind in KINDS.items()
    ]
    if output.as_json:
        output.array(rows)
    else:
        cells = ((row["key"], row["means"], json.dumps(row["default"], ensure_ascii=False)) for row in rows)
        output.table(("key", "means", "default"), cells, empty="no settings")
