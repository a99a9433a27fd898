"""Renders one template in Jinja's sandbox and a child with limits (vancectl.programs.bounded)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jinja2 import StrictUndefined, TemplateError, TemplateSyntaxError, UndefinedError
from jinja2.exceptions import SecurityError
from jinja2.sandbox import SandboxedEnvironment

from vancectl.templates.template import MAX_OUTPUT
from vancectl.templates.written import print_value
from vancectl.text.names import did_you_mean, near_names


class _Sandbox(SandboxedEnvironment):
    def getattr(self, obj: Any, attribute: str) -> Any:
        # `params.items` means the param, not what Python's mappings can do.
        if isinstance(obj, Mapping) and attribute in obj:
            return obj[attribute]
        return super().getattr(obj, attribute)


class _Missing(StrictUndefined):
    """A name that is not there; of a mapping, the names that are."""

    @property
    def _undefined_message(self) -> str:
        message = super()._undefined_message
        holder = self._undefined_obj
        if not isinstance(holder, Mapping):
            return message
        name, names = str(self._undefined_name), list(map(str, holder))
        there = ", ".join(key if key.isidentifier() else f"['{key}']" for key in names) or "nothing"
        return f"there is no `{name}`; {did_you_mean(near_names(name, names), f'there is {there}')}"


def _meant(message: str, variables: Mapping[str, Any]) -> str:
    """The variable that a mistyped one may mean; Jinja has its name in the message only."""
    name, quote, _ = message.removeprefix("'").partition("' is undefined")
    meant = did_you_mean(near_names(name, variables)) if quote else ""
    return f"; {meant}" if meant else ""


def rendered(source: str, variables: dict[str, Any]) -> dict[str, str]:
    """`{"text": …}`, or what is wrong with the template under the kind of its fault."""
    environment = _Sandbox(undefined=_Missing, keep_trailing_newline=True, trim_blocks=True, finalize=print_value)
    del environment.globals["lipsum"]  # text of any size, and of no use to anyone
    pieces, size = [], 0
    try:
        for piece in environment.from_string(source).generate(variables):
            size += len(piece)
            if size > MAX_OUTPUT:
                return {"fails": f"it gives more than {MAX_OUTPUT:,} characters"}
            pieces.append(piece)
    except TemplateSyntaxError as error:
        return {"syntax": f"is wrong in its line {error.lineno}: {error.message}"}
    except UndefinedError as error:
        return {"undefined": f"names what is not there: {error.message}{_meant(error.message or '', variables)}"}
    except SecurityError as error:
        return {"security": f"does what no template may: {error.message}"}
    except (TemplateError, ArithmeticError, TypeError, ValueError, AttributeError, LookupError, SyntaxError) as error:
        return {"fails": str(error).partition(";")[0]}
    return {"text": "".join(pieces)}
