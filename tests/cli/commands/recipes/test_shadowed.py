"""`recipes shadowed`, the column in `list`, the short diff in `show`, and `recipes map`."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest

from tests.workspace import Workspace

FIRST = "Counts quokkas on photographs of the island. Take it when someone asks how many there are."


def lay(ws: Workspace) -> None:
    ws.recipe("B/recipes/count.yaml", FIRST, triggers=["count quokkas", "count them"], params={"model": "a", "n": 1})
    ws.recipe("T/recipes/count.yaml", FIRST, triggers=["count quokkas"], params={"model": "b", "n": 1})
    ws.recipe("P/recipes/count.yaml", FIRST, "marvin", ["count zebras"], params={"model": "b"}, title="Zebras")
    ws.recipe("P/recipes/own.yaml", "Weighs zebras.")


def test_shadowed_lists_each_hidden_file_with_what_differs(ws: Workspace) -> None:
    lay(ws)
    tenant, bundled = ws.run("recipes", "shadowed").expect().json
    assert tenant["path"] == bundled["path"] == str(ws.path("P/recipes/count.yaml"))
    assert tenant["hides"] == {"layer": "tenant", "path": str(ws.path("T/recipes/count.yaml"))}
    assert tenant["differences"] == [
        {"field": "engine", "before": "ford", "after": "marvin"},
        {"field": "params.n", "before": 1, "after": None},
        {"field": "triggers.keywords", "before": ["count quokkas"], "after": ["count zebras"]},
        {"field": "title", "before": None, "after": "Zebras"},
    ]
    assert bundled["hides"]["layer"] == "bundled"
    assert [each["field"] for each in bundled["differences"]] == [
        "engine", "params.model", "params.n", "triggers.keywords", "title",
    ]  # fmt: skip
    assert ws.run("recipes", "shadowed", "own").expect().json == []
    ws.run("recipes", "shadowed", "nobody").expect(2)


def test_a_broken_override_is_told_and_uncovers_nothing(ws: Workspace) -> None:
    lay(ws)
    ws.write("P/recipes/count.yaml", "description: x\n")
    assert [row["differences"] for row in ws.run("recipes", "shadowed").expect().json] == [None, None]


def test_list_has_the_column_only_where_something_is_shadowed(ws: Workspace) -> None:
    ws.recipe("P/recipes/own.yaml", "Weighs zebras.")
    assert "shadows" not in ws.run("recipes", "list", tty=True, columns=120).expect().stdout.splitlines()[0]
    lay(ws)
    shown = ws.run("recipes", "list", tty=True, columns=120).expect().stdout
    assert "shadows" in shown.splitlines()[0]
    (row,) = [line for line in shown.splitlines() if line.startswith("count")]
    assert "tenant, bundled" in row


def test_show_names_what_it_hides_with_a_short_diff(ws: Workspace) -> None:
    lay(ws)
    shown = ws.run("recipes", "show", "count", tty=True, columns=200).expect().stdout
    for line in ("engine: ford → marvin", "params.n: 1 → –", "+count zebras, -count quokkas", "title: – → Zebras"):
        assert line in shown
    assert "changes" not in ws.run("recipes", "show", "own", tty=True, columns=200).expect().stdout


def clusters(ws: Workspace, *arguments: str) -> list[list[str]]:
    return [each["recipes"] for each in ws.run("recipes", "map", *arguments).expect().json["clusters"]]


def library(ws: Workspace) -> None:
    ws.recipe("P/kit/weigh.yaml", "Weighs zebras.", triggers=["weigh zebras", "measure them"])
    ws.recipe("P/kit/feed.yaml", "Feeds rangers & <guests>.", triggers=["please weigh zebras", "Measure them"])
    ws.recipe("P/kit/paint.yaml", "Paints the old boats of the harbour blue every spring.")
    ws.recipe("P/kit/wash.yaml", "Washes the old boats of the harbour every spring.")
    ws.recipe("P/kit/sing.yaml", "Sings.")


def test_the_map_joins_recipes_by_triggers_and_by_likeness(ws: Workspace) -> None:
    library(ws)
    document = ws.run("recipes", "map", "--recipes", "kit").expect().json
    by_names = {tuple(each["recipes"]): each["links"] for each in document["clusters"]}
    assert set(by_names) == {("feed", "weigh"), ("paint", "wash")}
    assert document["alone"] == ["sing"]
    (link,) = by_names["feed", "weigh"]
    assert {(each["recipe"], each["phrase"], each["otherPhrase"]) for each in link["shared"]} == {
        ("feed", "please weigh zebras", "weigh zebras"),
        ("feed", "Measure them", "measure them"),
    }
    (alike,) = by_names["paint", "wash"]
    assert alike["likeness"] > 0.5
    assert clusters(ws, "--recipes", "kit", "--close", "0.99") == [["feed", "weigh"]]


def test_the_map_at_a_terminal(ws: Workspace) -> None:
    library(ws)
    shown = ws.run("recipes", "map", "--recipes", "kit", tty=True, env={"TERM": "dumb"}).expect().stdout
    assert "2 together  feed, weigh\n└─ feed ─ weigh" in shown
    assert "both have “Measure them”" in shown
    assert shown.endswith("by themselves  sing\n")
    ws.run("recipes", "map", "--recipes", "kit", "--close", "2").expect(2)


def test_the_drawing_is_well_formed_whole_and_the_same_each_time(ws: Workspace) -> None:
    library(ws)
    ws.run("recipes", "map", "--recipes", "kit", "--svg", "map.svg").expect()
    first = (ws.project / "map.svg").read_bytes()
    assert ws.run("recipes", "map", "--recipes", "kit", "--svg", "-").expect().stdout.encode() == first
    root = ET.fromstring(first)
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    space = "{http://www.w3.org/2000/svg}"
    texts = ["".join(text.itertext()) for text in root.iter(f"{space}text")]
    assert {"feed", "weigh", "paint", "wash", "sing"} <= set(texts)
    for circle in root.iter(f"{space}circle"):
        assert 0 < float(circle.attrib["cx"]) < width
        assert 0 < float(circle.attrib["cy"]) < height
    assert any("also hits" in "".join(title.itertext()) for title in root.iter(f"{space}title"))
    refused = ws.run("recipes", "map", "--recipes", "kit", "--svg", "kit/sing.yaml/map.svg").expect(2)
    assert "cannot be written" in refused.stderr


VALUES: list[tuple[str, object, object, bool]] = [
    ("deep", [1, {"n": 1}], [True, {"n": True}], False),
    ("number", 1, 1.0, False),
    ("word", "1", 1, False),
    ("order", {"a": 1, "b": [2]}, {"b": [2], "a": 1}, True),
    ("list", [1, 2], [2, 1], False),
    ("null", None, "absent", True),
    ("empty", {}, "absent", False),
]


@pytest.mark.parametrize("field", ["guard", "params", "ownField"])
@pytest.mark.parametrize(("before", "after", "same"), [row[1:] for row in VALUES], ids=[row[0] for row in VALUES])
def test_every_command_compares_recipes_alike(
    ws: Workspace, field: str, before: object, after: object, same: bool
) -> None:
    if field == "params":
        before, after = ({"x": value} if value not in (None, "absent") else value for value in (before, after))
    for notation, value in (("T/recipes/a.yaml", before), ("P/recipes/a.yaml", after)):
        fields = {"description": FIRST, "engine": "ford", field: value}
        ws.write(notation, json.dumps({key: each for key, each in fields.items() if each != "absent"}))
    rows = ws.run("recipes", "shadowed", "a").expect().json
    found = ws.run("recipes", "lint", ws.path("P/recipes/a.yaml")).json["findings"]
    said = next(each["data"]["difference"] for each in found if each["code"] == "hides-tenant")
    changed = ws.run("recipes", "diff", ws.path("T/recipes"), ws.path("P/recipes"), "--alone").expect().json["changed"]
    assert (rows[0]["differences"] == []) == same
    assert (said == "they say the same") == same
    assert (changed == []) == same
