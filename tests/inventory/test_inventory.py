"""The inventory: which recipes the selector may choose, and in which order."""

from pathlib import Path

from tests.workspace import Workspace
from vancectl.inventory.cascade import Cascade
from vancectl.inventory.inventory import Inventory, take_inventory
from vancectl.inventory.layer import Layer, LayerKind, Layers


def inventory(ws: Workspace) -> Inventory:
    kinds = {"P": LayerKind.PROJECT, "T": LayerKind.TENANT, "B": LayerKind.BUNDLED}
    layers = tuple(Layer(kind, ws.path(f"{letter}/recipes")) for letter, kind in kinds.items())
    return take_inventory(Cascade(Layers(layers, "default")))


def names(ws: Workspace) -> list[str]:
    return [recipe.name for recipe in inventory(ws).recipes]


def test_bundled_then_tenant_then_project_each_by_name(ws: Workspace) -> None:
    for file in ("P/recipes/a", "P/recipes/z", "T/recipes/b", "T/recipes/y", "B/recipes/c", "B/recipes/x"):
        ws.recipe(f"{file}.yaml")
    assert names(ws) == ["c", "x", "b", "y", "a", "z"]


def test_an_override_keeps_the_place_of_what_it_overrides(ws: Workspace) -> None:
    for file in (
        "P/recipes/x",
        "P/recipes/b",
        "P/recipes/n",
        "T/recipes/b",
        "T/recipes/c",
        "B/recipes/c",
        "B/recipes/x",
    ):
        ws.recipe(f"{file}.yaml", file)
    assert [(recipe.name, recipe.description) for recipe in inventory(ws).recipes] == [
        ("c", "T/recipes/c"),
        ("x", "P/recipes/x"),
        ("b", "P/recipes/b"),
        ("n", "P/recipes/n"),
    ]


def test_the_order_does_not_hang_on_the_order_of_writing(ws: Workspace) -> None:
    wanted = ["a", "b/c", "b-c", "ä", "風林"]
    for name in reversed(wanted):
        ws.recipe(f"P/recipes/{name}.yaml")
    assert sorted(wanted) == names(ws)


def test_generated_on_demand_and_internal_recipes_are_left_out(ws: Workspace) -> None:
    for name in ("_user/mine", "_slart/run1/made", "_hidden", "team/_inner"):
        ws.recipe(f"P/recipes/{name}.yaml")
    ws.recipe("P/recipes/internal.yaml", internal=True)
    ws.recipe("P/recipes/unlisted.yaml", listed=False)
    ws.recipe("P/recipes/locked.yaml", locked=True)
    ws.recipe("B/recipes/default.yaml")
    assert names(ws) == ["default", "locked", "team/_inner", "unlisted"]


def test_an_internal_override_takes_the_name_out(ws: Workspace) -> None:
    ws.recipe("B/recipes/dep.yaml")
    ws.recipe("P/recipes/dep.yaml", internal=True)
    assert names(ws) == []


def test_broken_recipes_are_kept_apart_and_uncover_nothing(ws: Workspace) -> None:
    ws.recipe("B/recipes/dep.yaml")
    ws.write("P/recipes/dep.yaml", "[")
    ws.write("P/recipes/_user/mine.yaml", "[")
    ws.recipe("P/recipes/good.yaml")
    found = inventory(ws)
    assert [recipe.name for recipe in found.recipes] == ["good"]
    assert [recipe.name for recipe in found.broken] == ["dep"]


def test_an_empty_inventory(tmp_path: Path) -> None:
    layers = Layers((Layer(LayerKind.PROJECT, tmp_path / "nowhere"),), "default")
    assert take_inventory(Cascade(layers)) == Inventory(())


def test_the_command_counts_the_candidates(ws: Workspace) -> None:
    ws.recipe("B/recipes/default.yaml")
    ws.recipe("P/recipes/dep.yaml", triggers=["deploy it"])
    ws.recipe("P/recipes/_user/mine.yaml", triggers=["deploy it"])
    ws.recipe("P/recipes/inner.yaml", triggers=["deploy it"], internal=True)
    decision = ws.run("select", "--json", "deploy it").expect(0).json
    assert (decision["recipe"], decision["candidates"]) == ("dep", 2)
    assert [hit["recipe"] for hit in decision["matched"]] == ["dep"]


def test_without_recipes_nothing_is_asked(ws: Workspace) -> None:
    (ws.root / "empty").mkdir()
    decision = ws.run("select", "--json", "--recipes", ws.root / "empty", "deploy it").expect(0).json
    assert (decision["decision"], decision["candidates"], decision["model"]) == ("NONE", 0, None)
    assert decision["rationale"].startswith("no recipes available")


def test_an_override_of_the_selectors_own_recipe_is_no_candidate(ws: Workspace) -> None:
    ws.recipe("P/recipes/recipe-selector.yaml", "Forgot to say that it is internal.", promptPrefix="Decide.")
    ws.recipe("P/recipes/fix.yaml", "Fixes.")
    assert "recipe-selector" not in [recipe.name for recipe in inventory(ws).recipes]
