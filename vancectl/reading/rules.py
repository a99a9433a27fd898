"""The one table of what can be wrong with a file: a severity, a sentence and a remedy for each kind of finding."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """An error: it cannot be used as it stands. A warning leaves it usable. A note only tells what holds."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Rule:
    """Severity, sentence and remedy of one kind of finding; the texts are filled from its data."""

    severity: Severity
    sentence: str
    remedy: str


_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTE

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
    "conflict": Rule(
        _E, "holds the conflict markers of a merge, which begin here", "choose one side, and remove the three markers"
    ),
    "open-quote": Rule(_E, "a quote is opened here and never closed", "close the quote"),
    "indentation": Rule(
        _E, "the indentation is wrong: the line above has a value already", "begin both lines in the same column"
    ),
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
    "long-phrase": Rule(_E, "a trigger phrase has {count:,} characters (at most {most:,})", "shorten it"),
    "name-collision": Rule(_E, "has the same canonical name as {other}", "rename one of the two files"),
    "bad-name": Rule(_E, "has a control or invisible character in its name", "rename the file"),
    "empty-name": Rule(_E, "gives no recipe name", "rename the file"),
    # usable, but surely not what the author meant
    "unknown-key": Rule(_W, "the key `{key}` is not known here and has no effect{nearest}{hint}", "rename or drop it"),
    "more-findings": Rule(_W, "has more findings than the {limit} that are shown", "fix those first"),
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
    # recipes of other programs
    "no-header": Rule(_E, "{program} does not load it: something stands before the first `---`", "begin with `---`"),
    "open-header": Rule(_E, "{program} does not load it: its header is not closed", "close it with a line `---`"),
    "header-no-yaml": Rule(_W, "the header is no YAML ({problem}){consequence}", "put the value in quotes"),
    "key-twice": Rule(_W, "the key `{key}` is there twice (first on line {first}); the last one holds", "drop one"),
    "tool-reads-less": Rule(
        _W, "{program} reads `{key}` only up to `---`, and nothing below it", "write the dashes in another way"
    ),
    "runs-programs": Rule(_W, "it may run programs or act without asking once started: {fields}", "read it first"),
    "not-startable": Rule(_E, "{program} starts only agents of mode primary or all", "change its mode, or exclude it"),
    "source-refused": Rule(_E, "{program} loads none of its agents, since {other} is broken", "fix that file"),
    "bad-toml": Rule(_E, "is not valid TOML: {problem}", "fix the syntax near this place"),
    "no-place-for-task": Rule(
        _E, "has no place for a task, so {program} cannot be given one", "write `$input` where it goes"
    ),
    "task-has-no-place": Rule(
        _W, "{program} can be given params, but no task", "add a required parameter named `task`"
    ),
    "name-twice": Rule(_E, "two files of this source have the name `{name}`", "rename one of them"),
    "name-taken": Rule(_E, "another file of this source has the name `{name}`, written so", "rename one of the two"),
    "link-out": Rule(
        _E, "is a link that leaves its source ({target})", "copy it there, or set sources.{key}.links to true"
    ),
    "untrusted-source": Rule(
        _W, "`{name}` is left out: it lies in a project that is not trusted", "`vancectl trust` trusts the folder"
    ),
    "sources-left-out": Rule(
        _W, "the recipes of other programs are left out, since the settings are broken", "see `vancectl settings show`"
    ),
    "derived-description": Rule(
        _N, "`{name}` has no description; its first words take its place", "`vancectl recipes adopt {name}` writes one"
    ),
    # folders
    "not-a-folder": Rule(_W, "is a file where a folder of recipes is expected", "replace it by a folder"),
    "folder-unreadable": Rule(
        _E, "the folder cannot be read ({reason}), so what it hides is unknown", "make it readable, or move it away"
    ),
    "folder-outside": Rule(_W, "the folder is a link that leaves the project ({target})", "name it with --recipes"),
    "foreign-folder": Rule(
        _W, "belongs to another user and is not used", "work inside it, take ownership, or name it with --recipes"
    ),
    "foreign-between": Rule(
        _W, "is not used, since {between} belongs to another user", "work inside it, or name it with --recipes"
    ),
    "project-settings": Rule(_W, "is not read: a project has no settings", "put them into {settings}"),
    "project-misnamed": Rule(_W, "is not read", "rename it to `{rename}`"),
    "project-misplaced": Rule(_W, "is not read: recipes lie in the folder `recipes`", "move it to `{into}`"),
    "cases-not-read": Rule(
        _W, "is not read: a file of cases ends in `.yaml` or `.jsonl`", "rename it, such as to `{rename}`"
    ),
    "second-folder": Rule(_W, "is not used, since {other} stands beside it", "merge the two"),
    "linked-folder": Rule(_W, "is a link to the folder {target}, which is not followed", "copy the folder here"),
    "no-home": Rule(
        _N,
        "no home directory: the tenant layer is left out",
        "set HOME to an absolute path, or set VANCECTL_CONFIG_DIR",
    ),
    # what only `recipes lint` looks for, since it takes the whole library, or more time than a start has: the file
    "misplaced-field": Rule(_W, "`{field}` has no effect here, one level too deep", "move it to the top level"),
    "yaml-boolean": Rule(_W, "`{value}` is read as {kind}", "write {kind}, or quote it if the text is meant"),
    "yaml-octal": Rule(_W, "`{value}` is read as the number {number}, in base 8", "quote it if the text is meant"),
    "skill-not-allowed": Rule(_W, "the skill `{skill}` is active but not in `allowedSkills`", "allow it, or drop it"),
    "bad-template": Rule(_E, "`{field}` is no valid template: {problem}", "mend the template, or quote its braces"),
    "stray-file": Rule(_W, "is not read{beside}", "move it out of the layer"),
    # triggers
    "never-alone": Rule(
        _W, "the phrase “{phrase}” of `{recipe}` can never be the only hit: each task that holds it also hits "
        "{blockers}",
        "change one of the phrases, or set `triggers.match: word` where a part of a word is hit",
    ),
    "dead-recipe": Rule(
        _W, "none of its phrases can decide alone", "give it a phrase that no other recipe has a part of"
    ),
    "redundant-phrase": Rule(
        _W, "the phrase “{phrase}” adds nothing to “{other}”, which is in it", "remove one of them"
    ),
    "short-phrase": Rule(_W, "the phrase “{phrase}” is so short that it is hit by accident", "use two or more words"),
    "one-word": Rule(_W, "the phrase “{phrase}” is one common word", "say what is asked for: a verb and its object"),
    "pattern-phrase": Rule(
        _W, "the phrase “{phrase}” looks like {kind}, but is looked for as it is written",
        "write phrases as people say them, each as an entry of its own",
    ),
    "inside-words": Rule(
        _W, "the phrase “{phrase}” stands inside of other words: {words}", "set `triggers.match: word`, or use more "
        "words"
    ),
    "in-description": Rule(
        _W, "the phrase “{phrase}” stands in the description of `{other}`, so tasks for that may hit it",
        "use words that only this recipe's tasks have",
    ),
    "hits-case": Rule(
        _W, "the phrase “{phrase}” decides the case “{task}” ({case}), which expects {expected}",
        "change the phrase, or the case",
    ),
    # descriptions
    "thin-description": Rule(
        _W, "the description has {count} words; a model cannot choose by so few",
        "say in {least} words or more what it does, when to take it, and what it is not for",
    ),
    "long-description": Rule(
        _W, "the description has {count:,} characters, and each question to the model holds them all",
        "keep it under {most:,}",
    ),
    "copied-description": Rule(_W, "the description is the same as that of `{other}`", "say what tells the two apart"),
    "alike-description": Rule(
        _W, "the description is so much like that of `{other}` ({likeness:.0%}) that no reader could choose",
        "say in each what the other is for",
    ),
    "like-default": Rule(
        _W, "nothing in the description tells it from `default`: it has no word that is not in that one", "name "
        "what only this recipe does"
    ),
    "no-when": Rule(
        _W, "the description says what the recipe does, but not when to take it",
        "add a sentence such as “Take it when …; not for …”",
    ),
    "orders-reader": Rule(_W, "the description gives orders to its reader: “{words}”", "describe the recipe instead"),
    "look-alike": Rule(
        _W, "{what} looks {other}, and is not the same", "write it in the letters of one script"
    ),
    "dotted-i": Rule(
        _W, "the phrase “{phrase}” holds {letter}, and in the other case its letter is that of {like}",
        "list the phrase with {like} as well",
    ),
    "hidden-text": Rule(_W, "{where} holds the invisible character {character}", "remove it"),
    # the cascade
    "shadows": Rule(
        _N, "takes the place of the {layer} recipe {other}; {difference}", "`vancectl recipes show` has more"
    ),
    "engine-changed": Rule(
        _W, "the engine is `{engine}`, but `{before}` in the {layer} recipe whose place it takes",
        "give the recipe a name of its own if it does something else",
    ),
    "hides-tenant": Rule(
        _W, "the project hides the tenant's recipe {other}; {difference}", "rename it unless that is meant"
    ),
    # settings and catalog
    "bad-settings": Rule(_E, "the settings cannot be used: {problem}", "{advice}"),
    "bad-catalog": Rule(_E, "the catalog cannot be used: {problem}", "{advice}"),
    "unknown-fallback": Rule(_E, "`{key}` names the recipe `{recipe}`, which is not there{nearest}", "name another"),
    "broken-fallback": Rule(_E, "`{key}` names the recipe `{recipe}`, which is broken", "mend the recipe"),
    "no-program": Rule(_E, "`{key}`: {problem}", "install it, or name another"),
    "cannot-start": Rule(
        _N, "the engine `{engine}` cannot be started here: {problem}", "`man vancectl-settings` describes spawn.engines"
    ),
    "task-as-code": Rule(
        _E, "`{{{placeholder}}}` in `{key}` is read as code by `{program}`: a task with `$(…)` or quotes would be run",
        "make it an argument of its own, as in [sh, -c, 'agent \"$1\"', sh, \"{{task}}\"]",
    ),
    "task-as-option": Rule(
        _W,
        "`{{{placeholder}}}` stands alone in `{key}`: a task that begins with `-` would be an option of the program",
        'put "--" before it, or give the task on stdin',
    ),
    # the comments that silence a finding
    "allow-without-reason": Rule(
        _W, "`lint: allow {allowed}` gives no reason, and silences nothing", "add ` - reason`"
    ),
    "allow-unknown": Rule(
        _W, "`lint: allow {allowed}` names no rule{nearest}", "`recipes lint --explain CODE` knows all"
    ),
    "allow-unused": Rule(_W, "`lint: allow {allowed}` silences nothing", "remove it"),
}  # fmt: skip
