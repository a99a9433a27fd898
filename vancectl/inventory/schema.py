"""The one validator of recipe files (docs/design.md, section 3); `recipe_shape` declares what they may hold."""

from __future__ import annotations

from pathlib import Path

from vancectl.inventory.layer import Layer
from vancectl.inventory.recipe import BrokenRecipe, Recipe
from vancectl.inventory.recipe_shape import RecipeShape
from vancectl.reading.document import Document
from vancectl.reading.reader import read_shape
from vancectl.text.comparison import normalise_phrase
from vancectl.text.names import engine_name


def load_recipe(name: str, layer: Layer, path: str, *, follow: bool = True) -> Recipe | BrokenRecipe:
    """Reads and validates one file. Never raises. Without `follow` a link is refused: the scan saw a plain file."""
    return validate(Document.read(Path(path), follow=follow), name, layer)


def validate(document: Document, name: str, layer: Layer) -> Recipe | BrokenRecipe:
    """A recipe, or a broken one where any finding is an error."""
    shape = read_shape(RecipeShape, document)
    if shape is None or document.broken:
        return BrokenRecipe(name, layer, str(document.path), tuple(document.findings))
    fields = shape.written()
    fields["engine"] = engine_name(shape.engine)
    recipe = Recipe(name, layer, str(document.path), fields, tuple(document.findings))
    return recipe._replace(folded=[normalise_phrase(phrase) for phrase in recipe.phrases])
