"""What a question to the model says of engines, recipes and the task.

System prompt, engine catalog and inventory are the same bytes for one inventory, so that a prompt cache can serve
them. What recipes and tasks say stands in JSON strings in which `<`, `>` and all that acts or hides is escaped: no text
can close the block that it is in, and what it says to the reader stays a quotation.
"""

from __future__ import annotations

from collections.abc import Sequence

from vancectl.inventory.catalog import EngineCatalog
from vancectl.inventory.recipe import Recipe
from vancectl.model.question import quote, render_task
from vancectl.selector.decision import Hit
from vancectl.text.invisible import without_invisible
from vancectl.text.printable import plain_line

# Behind what is shown of a description that is longer than `limits.descriptionCharacters`.
CUT = " […]"
ORDER = "Pick the matching recipe (or NONE) and emit a single JSON object now."


def render_context(catalog: EngineCatalog, recipes: Sequence[Recipe], total: int, most: int) -> str:
    """Engine catalog and inventory as the model reads them, with `most` characters of each description.

    Of a shortlist it says how many of the `total` recipes it has.
    """
    part = f" ({len(recipes)} of {total}: those whose words are nearest to the task)" if len(recipes) < total else ""
    lines = "\n".join(render_recipe(recipe, most) for recipe in recipes)
    return (
        f"<engine-catalog>\n{catalog.render_for_prompt()}\n</engine-catalog>\n\n"
        f"The inventory, one recipe a line{part}:\n<inventory>\n{lines}\n</inventory>"
    )


def render_recipe(recipe: Recipe, most: int) -> str:
    """One line of the inventory; a description goes in whole where it can: its last words may be those that decide."""
    text = shown_description(recipe)
    text = text if len(text) <= most else f"{text[:most].rstrip()}{CUT}"
    return quote({"name": recipe.name, "engine": recipe.engine, "description": text})


def shown_description(recipe: Recipe) -> str:
    return plain_line(without_invisible(recipe.description))


def render_request(task: str, hits: Sequence[Hit]) -> str:
    """Hint, task and order: all that differs between two questions over one inventory."""
    names = list(dict.fromkeys(hit.recipe for hit in hits))
    hint = f"Hint: trigger phrases of these recipes occur in the task: {quote(names)}\n\n" if names else ""
    return f"{hint}The task, as a JSON string:\n{render_task(task)}\n\n{ORDER}"
