"""`vancectl processes show`."""

from __future__ import annotations

from vancectl.cli.options import FieldOption, JsonOption, SessionOption
from vancectl.cli.processes import NameArgument, Processes, with_processes


@with_processes
def show_process(
    processes: Processes,
    name: NameArgument,
    session: SessionOption = None,
    json_output: JsonOption = False,
    field: FieldOption = None,
) -> None:
    """Show a process: its status, what was started, and the decision that led to it."""
    import json

    from vancectl.process.supervision import current

    output = processes.output(as_json=json_output, field=field)
    record = current(processes.find(name, session), processes.store)
    for fault in record.faults:
        output.warn(fault)
    document = {
        **record.as_json(),
        "argv": record.argv,
        "supervisor": record.supervisor,
        "decision": record.decision,
    }
    if output.as_json:
        output.document(document)
        return
    output.facts(
        (key, value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False))
        for key, value in document.items()
    )
