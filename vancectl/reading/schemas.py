"""The JSON Schemas that come with the package, one file a shape; `tools/schemas.py` makes them of the models."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "schemas"
# Where each shape is declared: a model, or a function that makes the schema.
SHAPES = {
    "recipe": "vancectl.inventory.recipe_shape:RecipeShape",
    "settings": "vancectl.settings.settings_schema:settings_schema",
    "cases": "vancectl.routes.case_shape:CasesShape",
    "plan": "vancectl.plan.plan_shape:PlanShape",
    "request": "vancectl.delegation.request_shape:RequestShape",
}


def schema_path(shape: str) -> Path:
    return FOLDER / f"{shape}.json"
