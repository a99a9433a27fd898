"""The items of a plan are what their author wrote, or they are refused with file and line."""

from __future__ import annotations

import json

import pytest

from tests.workspace import Result, Workspace


def planned(ws: Workspace, name: str, content: str | bytes, task: str = "for {{ item }}", status: int = 0) -> Result:
    """The dry run of a plan over these items; with a name that is `inline` they stand in the plan itself."""
    ws.recipe("P/recipes/good.yaml")
    ws.settings({"spawn.command": ["echo", "{task}"], "spawn.stdin": "none"})
    items = name
    if name == "inline":
        items = f"\n        {content if isinstance(content, str) else content.decode()}"
    else:
        ws.write(f"P/{name}", content)
    template = json.dumps({"recipe": "good", "task": task})
    ws.write("P/plan.yaml", f"children:\n  - expand:\n      childTemplate: {template}\n      items: {items}\n")
    return ws.run("plan", "plan.yaml", "--dry-run").expect(status)


def tasks(result: Result) -> list[str]:
    return [child["plan"]["payload"]["task"] for child in result.json["answers"]]


WRITTEN = "[no, 1.10, 007, 0x1F, ~, 1_000, 1:30, 2026-01-01, 'yes', .inf, null, 12e3]"
KEPT = ["no", "1.10", "007", "0x1F", "~", "1_000", "1:30", "2026-01-01", "yes", ".inf", "null", "12e3"]


@pytest.mark.parametrize("name", ["inline", "i.yaml", "i.yml"])
def test_yaml_keeps_the_text(ws: Workspace, name: str) -> None:
    assert tasks(planned(ws, name, WRITTEN)) == [f"for {text}" for text in KEPT]


@pytest.mark.parametrize(
    ("task", "item", "expected"),
    [
        ("{{ item.v }}", "{v: no}", "no"),
        ("{{ item }}", "{v: no, n: 007, f: 1.10, t: true, w: 'x', z: ~}",
         '{"v": "no", "n": "007", "f": 1.10, "t": true, "w": "x", "z": "~"}'),
        ("{{ item.l }}", "{l: [on, 2]}", '["on", 2]'),
        ("{% for x in item.l %}{{ x }};{% endfor %}", "{l: [on, 007]}", "on;007;"),
        ("{% if item.vip %}VIP {% endif %}x", "{vip: no}", "x"),
        ("{% if item.vip %}VIP {% endif %}x", "{vip: ~}", "x"),
        ("{% if item.vip %}VIP {% endif %}x", "{vip: yes}", "VIP x"),
        ("{% if item.n > 6 %}many{% endif %}", "{n: 007}", "many"),
        ("{{ item.n + 1 }}", "{n: 7}", "8"),
        ("{{ item.a ~ item.b }}", "{a: 007, b: no}", "007no"),
        ("{{ '%s'|format(item.a) }}", "{a: 1.10}", "1.10"),
    ],
)  # fmt: skip
def test_text_where_it_is_printed_and_value_where_it_is_asked(
    ws: Workspace, task: str, item: str, expected: str
) -> None:
    assert tasks(planned(ws, "inline", f"[{item}]", task)) == [expected]


@pytest.mark.parametrize("name", ["i.jsonl", "i.ndjson", "i.json", "i.txt"])
def test_json_is_printed_as_json(ws: Workspace, name: str) -> None:
    lines = ["false", "null", '{"x": "é", "y": [true, 1]}', "1.10", '"no"', "[]", "7"]
    content = f"[{', '.join(lines)}]" if name == "i.json" else "\n".join(lines)
    assert tasks(planned(ws, name, content)) == [
        "for false", "for null", 'for {"x": "é", "y": [true, 1]}', "for 1.10", "for no", "for []", "for 7",
    ]  # fmt: skip


NAMED = ["for Ann", "for Bob"]


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("i.yaml", "---\n- name: Ann\n- name: Bob\n", NAMED),
        ("i.yaml", "# people\n---\n- name: Ann\n- name: Bob\n...\n", NAMED),
        ("i.yaml", "%YAML 1.1\n---\n[{name: Ann}, {name: Bob}]\n", NAMED),
        ("i.yaml", "\ufeff- name: Ann\r\n- name: Bob\r\n", NAMED),
        ("i.yaml", "- name: |\n    Ann\n    B\n", ["for Ann\nB\n"]),
        ("i.jsonl", '{"name": "A\u2028B"}\n{"name": "C\x85D"}\n', ["for A\u2028B", "for C\x85D"]),
        ("i.jsonl", '{"name": "Ann"}\r\n\r\n{"name": "Bob"}', NAMED),
        ("i.json", '{"name": "Ann"}\n{"name": "Bob"}\n', NAMED),
        ("i.csv", "name;ort\nAnn;Köln, Deutz\nBob;Bonn\n", NAMED),
        ("i.csv", "name\tort\nAnn\tKöln\nBob\tBonn\n", NAMED),
        ("i.tsv", "name\tort, land\nAnn\tKöln\nBob\tBonn\n", NAMED),
        ("i.csv", "sep=;\r\nname;ort\r\nAnn;Köln\r\nBob;Bonn\r\n", NAMED),
        ("i.csv", "name; ort, land\nAnn;x\nBob;y\n", NAMED),
        ("i.csv", '"name";"a,b"\n"Ann";"1"\nBob;2\n', NAMED),
        ("i.csv", 'name,x\n"Ann\u2028; ""A""",1\n', ['for Ann\u2028; "A"']),
        ("i.csv", "name\nAnn;1\n", ["for Ann;1"]),
        ("i.csv", " name , ort\nAnn,x\nBob,y\n", NAMED),
        ("i.csv", "\r\n\r\nname,ort\rAnn,x\rBob,y\r", NAMED),
        ("i.csv", "name,ort\nJörg,Köln\n".encode("utf-16"), ["for Jörg"]),
        ("i.csv", "name,ort\nJörg,Köln\n".encode("utf-8-sig"), ["for Jörg"]),
        ("i.jsonl", '{"name": "Jörg"}\n'.encode("utf-16"), ["for Jörg"]),
        ("i.yaml", "- name: Jörg\n".encode("utf-16"), ["for Jörg"]),
    ],
)  # fmt: skip
def test_files_are_read_as_they_are_meant(ws: Workspace, name: str, content: str | bytes, expected: list[str]) -> None:
    found = planned(ws, name, content, "for {{ item.name }}")
    assert tasks(found) == expected


def test_the_entries_of_a_list_in_markdown(ws: Workspace) -> None:
    text = (
        "# To do\n\n- [ ] paint the fence\n  in green\n- [x] feed the cat\n\nand then\n\n1. one\n2) two\n   - below\n"
    )
    text += "```\n- no item\n```\n"
    assert tasks(planned(ws, "i.md", text, "{{ item }}")) == [
        "paint the fence\nin green", "feed the cat", "one", "two\n- below",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("i.csv", b"name,ort\nAnn,x\nJ\xf6rg,K\xf6ln\n", "i.csv:3: is not UTF-8 text: the byte 0xF6"),
        ("i.yaml", b"- name: Ann\n- name: J\xf6rg\n", "i.yaml:2: is not UTF-8 text: the byte 0xF6"),
        ("i.jsonl", b'{"name": "J\xf6rg"}\n', "i.jsonl:1: is not UTF-8 text: the byte 0xF6"),
        ("i.md", b"- a\n- b\n- J\xf6rg\n", "i.md:3: is not UTF-8 text"),
        ("i.csv", "name\nJ\0o\0\n", "i.csv:2: holds a NUL character; it may be UTF-16 without its mark"),
        ("i.csv", "name,ort\n".encode("utf-16-le"), "i.csv:1: holds a NUL character"),
        ("i.csv", "name,name\nAnn,Bob\n", "i.csv:1: two columns have the name `name`"),
        ("i.csv", "name,\nAnn,x\n", "i.csv:1: the column 2 has no name"),
        ("i.csv", "name,ort\nAnn,x\nBob\n", "i.csv:3: a row has another number of fields than the header: 1, not 2"),
        ("i.csv", "name,ort\nAnn,x,y\n", "i.csv:2: a row has another number of fields than the header: 3, not 2"),
        ("i.csv", "name;ort\nAnn,x\n", "i.csv:2: a row has another number of fields"),
        ("i.csv", "a,b;c\n1,2;3\n", "i.csv:1: it is not clear what parts the columns: ',' or ';'"),
        ("i.csv", 'name\n"Ann\n', "i.csv:2: not CSV: unexpected end of data"),
        ("i.csv", "nmae|ort\nAnn|x\n", "there is no `name`; there is ['nmae|ort']"),
        ("i.csv", "E-Mail,id\nx,1\n", "there is no `name`; there is ['E-Mail'], id"),
        ("i.jsonl", '{"a": 1}\n{"name": 1, "name": 2}\n', "i.jsonl:2: not JSON: the key `name` is there twice"),
        ("i.json", '[{"name": 1, "name": 2}]', "not JSON: the key `name` is there twice"),
        ("i.jsonl", '{"name": NaN}\n', "i.jsonl:1: not JSON: NaN is no number"),
        ("i.jsonl", '{"name": 1e999}\n', "i.jsonl:1: not JSON: 1e999 is no number"),
        ("i.jsonl", "[" * 100_000, "i.jsonl:1: not JSON: it nests deeper than 100 levels"),
        ("i.jsonl", "[" * 300 + "]" * 300, "i.jsonl:1: it nests deeper than 100 levels"),
        ("i.yaml", "- name: a\n  name: b\n", "i.yaml:2:3: the items: "),
        ("i.yaml", "- &a [*a]\n", "i.yaml:1"),
        ("i.yaml", "- a: 1\n---\n- b: 1\n", "i.yaml:3"),
        ("i.yaml", "name: Ann\n", "i.yaml: the items must be a list"),
        ("i.yaml", "Ann\n", "i.yaml: the items must be a list"),
        ("i.yaml", "", "i.yaml: the items must be a list"),
        ("i.jsonl", '"  "\n', "i.jsonl:1: a child without a recipe"),
    ],
)  # fmt: skip
def test_what_is_refused(ws: Workspace, name: str, content: str | bytes, told: str) -> None:
    task = "{{ item }}" if "without a recipe" in told else "for {{ item.name }}"
    if task == "{{ item }}":
        ws.recipe("P/recipes/good.yaml")
        ws.write(f"P/{name}", content)
        ws.write("P/plan.yaml", f'children: [{{expand: {{items: {name}, childTemplate: {{task: "{task}"}}}}}}]')
        refused = ws.run("plan", "plan.yaml", "--dry-run").expect(2)
    else:
        refused = planned(ws, name, content, task, status=2)
    assert told in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.parametrize("value", ["007", "no", "1.10", "2026-01-01"])
def test_names_and_tasks_are_texts(ws: Workspace, value: str) -> None:
    ws.recipe("P/recipes/good.yaml")
    ws.settings({"spawn.command": ["echo", "{task}"], "spawn.stdin": "none"})
    ws.write("P/plan.yaml", f"children:\n  - {{name: {value}, task: {value}, recipe: good, title: {value}}}\n")
    (child,) = ws.run("plan", "plan.yaml", "--dry-run").expect().json["answers"]
    payload = child["plan"]["payload"]
    assert (child["name"], payload["task"], payload["title"]) == (value, value, value)
