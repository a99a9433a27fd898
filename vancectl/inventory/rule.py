"""The one table of what can be wrong with a file: a severity, a sentence and a remedy for each kind of finding."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """An error breaks the file, a warning leaves it usable."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Rule:
    """Severity, sentence and remedy of one kind of finding; the texts are filled from its data."""

    severity: Severity
    sentence: str
    remedy: str


_E, _W = Severity.ERROR, Severity.WARNING

RULES: dict[str, Rule] = {
    # reading the file
    "unreadable": Rule(_E, "cannot be read: {reason}", "make it readable, or move it away"),
    "not-a-file": Rule(_E, "is {found}, not a file", "put a YAML file there, or rename it"),
    "link-outside": Rule(_E, "is a link that leaves its layer ({target})", "copy the file into the layer"),
    "dead-link": Rule(_E, "is a link to {target}, which is not there", "mend or remove the link"),
    "too-large": Rule(_E, "is too large or deep, or its aliases expand too far (more than {limit})", "make it smaller"),
    "not-utf8": Rule(_E, "is not UTF-8 text", "save the file as UTF-8"),
    "bad-character": Rule(_E, "holds the character {character}, which YAML does not allow here", "remove it"),
    "tab": Rule(_E, "a tab stands where spaces are needed", "indent with spaces"),
    "bad-yaml": Rule(_E, "is not valid YAML: {problem}", "mend the syntax near this place"),
    "quote-needed": Rule(_E, "is not valid YAML: {problem}", "put the value in quotes"),
    "escape": Rule(_E, "holds an escape that YAML does not know: {problem}", "write the character itself, as UTF-8"),
    "two-documents": Rule(_E, "holds more than one YAML document", "keep one document a file"),
    "not-a-mapping": Rule(_E, "top level must be a mapping (found {found})", "write `key: value` lines"),
    "cyclic": Rule(_E, "an alias refers to itself", "remove the alias"),
    "bad-key": Rule(_E, "a key must be plain text (found {found})", "write the key as text"),
    "duplicate-key": Rule(_E, "the key `{key}` stands twice (first on line {first})", "keep one of the two"),
    # the recipe's fields
    "missing-field": Rule(_E, "the field `{field}` is missing", "add `{field}: …`"),
    "wrong-type": Rule(_E, "`{field}` must be {expected} (found {found})", "write {expected}"),
    "unknown-value": Rule(_E, "`{field}` is `{found}`, but must be one of {expected}", "choose one of them"),
    "name-collision": Rule(_E, "has the same canonical name as {other}", "rename one of the two files"),
    "bad-name": Rule(_E, "has a control or invisible character in its name", "rename the file"),
    "empty-name": Rule(_E, "gives no recipe name", "rename the file"),
    # usable, but surely not what the author meant
    "unknown-key": Rule(_W, "the key `{key}` is not known here and has no effect{nearest}{hint}", "rename or drop it"),
    "not-canonical": Rule(_W, "the name is not canonical; it loads as `{name}`", "rename the file"),
    "blank-phrase": Rule(_W, "a blank trigger phrase is ignored", "remove it"),
    "comment-cut": Rule(_W, "the text after ` #` is a comment", "quote the value if the text belongs to it"),
    "unknown-tag": Rule(_W, "the tag `{tag}` is not known here and has no effect", "remove it"),
    "odd-scalar": Rule(_W, "`{value}` is kept as text, not read as {kind}", "quote it"),
    "unknown-engine": Rule(_W, "the engine `{engine}` is not in the catalog{nearest}", "see `vancectl catalog show`"),
    "not-read": Rule(_W, "is not read: a recipe's file ends in `.yaml`", "rename it to `{rename}`"),
    # routing cases
    "no-cases": Rule(_E, "holds no cases", "write `cases:` and below it a list of `- task: …` with `expect: …`"),
    "bad-line": Rule(_E, "the line is no JSON object: {problem}", "write one JSON object a line"),
    "case-key": Rule(_E, "`{key}` is no key of a case{nearest}", "rename or drop it"),
    "case-claims-nothing": Rule(_E, "the case claims nothing", "add `expect`, `not`, `stage` or `starts`"),
    "case-contradiction": Rule(_E, "the case cannot be right: {problem}", "mend one of the two"),
    "case-recipe": Rule(
        _E, "`{field}` names `{name}`, which no task can be given here{nearest}", "see `vancectl recipes list`"
    ),
    # folders
    "not-a-folder": Rule(_W, "is a file where a folder of recipes is expected", "replace it by a folder"),
    "folder-unreadable": Rule(_W, "the folder cannot be read: {reason}", "make it readable"),
    "folder-outside": Rule(_W, "the folder is a link that leaves the project ({target})", "name it with --recipes"),
    "foreign-folder": Rule(
        _W, "belongs to another user and is not used", "work inside it, take ownership, or name it with --recipes"
    ),
    "second-folder": Rule(_W, "is not used, since {other} stands beside it", "merge the two"),
    "linked-folder": Rule(_W, "is a link to the folder {target}, which is not followed", "copy the folder here"),
    "no-home": Rule(_W, "no home directory: the tenant layer is left out", "set HOME or VANCECTL_CONFIG_DIR"),
}  # fmt: skip
