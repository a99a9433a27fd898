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
    from vancectl.settings.keys import SETTINGS
    from vancectl.settings.settings import bundled_settings, variable_of

    output = voice.output(as_json=json_output)
    bundled = bundled_settings()
    rows = [
        {
            "key": key,
            "means": setting.description,
            "holds": setting.kind.expected,
            "default": bundled[key],
            "variable": variable_of(key),
        }
        for key, setting in SETTINGS.items()
    ]
    if output.as_json:
        output.array(rows)
    else:
        cells = ((row["key"], row["means"], json.dumps(row["default"], ensure_ascii=False)) for row in rows)
        output.table(("key", "means", "default"), cells, empty="no settings")
