"""What can be wrong with a file as it is read. What takes a look at the whole library is in `lint/rules`."""

from __future__ import annotations

from vancectl.reading.rule import Rule, Severity

_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTE

_TABLE = (
    # reading the file
    Rule(
        "unreadable", _E,
        "cannot be read: {reason}",
        "make it readable, or move it away",
        "A file that cannot be read still takes its name, so that nothing farther away starts in its place.",
    ),
    Rule(
        "not-a-file", _E,
        "is {found}, not a file",
        "put a YAML file there, or rename it",
        "A folder, pipe or device is where a recipe should be.",
    ),
    Rule(
        "link-outside", _E,
        "is a link that leaves its layer ({target})",
        "copy the file into the layer",
        "Followed, a link could make any file of the machine a recipe of a cloned project.",
    ),
    Rule(
        "dead-link", _E,
        "is a link to {target}, which is not there",
        "correct or remove the link",
        "The link's target is gone, or the checkout does not know links.",
    ),
    Rule(
        "too-large", _E,
        "is too large or deep, or its aliases expand too far (more than {limit})",
        "make it smaller",
        "A recipe is read by people and by a model. Aliases can make a small file endless.",
    ),
    Rule(
        "not-utf8", _E,
        "is not UTF-8 text",
        "save the file as UTF-8",
        "Recipes are UTF-8. In another encoding a phrase with an umlaut would never hit.",
    ),
    Rule(
        "bad-character", _E,
        "holds the character {character}, which YAML does not allow here",
        "remove it",
        "Such characters come from pasting out of web pages and end a line where no one sees it.",
    ),
    Rule(
        "tab", _E,
        "a tab is used for indentation",
        "indent with spaces",
        "YAML does not allow tabs for indentation.",
    ),
    Rule(
        "bad-yaml", _E,
        "is not valid YAML: {problem}",
        "correct the syntax near this place",
        "The file cannot be parsed at all, so its recipe cannot be used.",
    ),
    Rule(
        "conflict", _E,
        "holds the conflict markers of a merge, which begin here",
        "choose one side, and remove the three markers",
        "A merge left both sides in the file; which one holds is for a person to say.",
    ),
    Rule(
        "open-quote", _E,
        "a quote is opened here and never closed",
        "close the quote",
        "Up to the end of the file all is text of the quote.",
    ),
    Rule(
        "indentation", _E,
        "the indentation is wrong: the line above has a value already",
        "begin both lines in the same column",
        "A line that begins deeper belongs to the one above it, which has a value already.",
    ),
    Rule(
        "quote-needed", _E,
        "is not valid YAML: {problem}",
        "put the value in quotes",
        "A plain value may not begin with `, @, %, *, !, {, [ or &, and may not hold `: `.",
    ),
    Rule(
        "escape", _E,
        "holds an escape that YAML does not know: {problem}",
        "write the character itself, as UTF-8",
        (
            "In double quotes a backslash begins an escape, and YAML does not know all that JSON or a "
            "shell knows."
        ),
    ),
    Rule(
        "two-documents", _E,
        "holds more than one YAML document",
        "keep one document a file",
        "Only one recipe can have the file's name.",
    ),
    Rule(
        "not-a-mapping", _E,
        "top level must be a mapping (found {found})",
        "write `key: value` lines",
        "A recipe is a mapping of fields: `description: …`, `engine: …`. An empty file is none.",
    ),
    Rule(
        "cyclic", _E,
        "an alias refers to itself",
        "remove the alias",
        "An alias that holds itself has no end.",
    ),
    Rule(
        "bad-key", _E,
        "a key must be plain text (found {found})",
        "write the key as text",
        "Keys are field names, so they are plain text.",
    ),
    Rule(
        "duplicate-key", _E,
        "the key `{key}` is there twice (first on line {first})",
        "keep one of the two",
        "YAML readers silently keep the last of two; here neither is guessed at.",
    ),
    # the recipe's fields
    Rule(
        "missing-field", _E,
        "the field `{field}` is missing",
        "add `{field}: …`",
        "`description` is what the model chooses by, and `engine` says what executes the recipe.",
    ),
    Rule(
        "wrong-type", _E,
        "`{field}` must be {expected} (found {found})",
        "write {expected}",
        "A trigger list that is one text would be split into letters, a flag that is a word would be true.",
    ),
    Rule(
        "unknown-value", _E,
        "`{field}` is `{found}`, but must be one of {expected}",
        "choose one of them",
        "Only the listed values mean anything.",
    ),
    Rule(
        "long-phrase", _E,
        "a trigger phrase has {count:,} characters (at most {most:,})",
        "shorten it",
        "No one says so much in a phrase; each phrase is looked for in every task.",
    ),
    Rule(
        "name-collision", _E,
        "has the same canonical name as {other}",
        "rename one of the two files",
        "Names are trimmed, in small letters and composed Unicode; two files of a layer may not meet there.",
    ),
    Rule(
        "bad-name", _E,
        "has a control or invisible character in its name",
        "rename the file",
        "Such characters act on terminals, or let two names look alike.",
    ),
    Rule(
        "empty-name", _E,
        "gives no recipe name",
        "rename the file",
        "No one could ask for a recipe without a name.",
    ),
    # usable, but surely not what the author meant
    Rule(
        "unknown-key", _W,
        "the key `{key}` is not known here and has no effect{nearest}{hint}",
        "rename or drop it",
        "It is kept and passed on to the engine, but a slip of the pen would go unnoticed.",
    ),
    Rule(
        "more-findings", _W,
        "has more findings than the {limit} that are shown",
        "fix those first",
        "A file with thousands of faults has one cause; the list of all would hide it.",
    ),
    Rule(
        "not-canonical", _W,
        "the name is not canonical; it loads as `{name}`",
        "rename the file",
        "The recipe answers to the canonical name; a file that is named otherwise misleads its readers.",
    ),
    Rule(
        "blank-phrase", _W,
        "a blank trigger phrase is ignored",
        "remove it",
        "A blank phrase would match every task, so it is left out.",
    ),
    Rule(
        "comment-cut", _W,
        "the text after ` #` is a comment",
        "quote the value if the text belongs to it",
        "In YAML ` #` begins a comment: `Close issue #12` is read as `Close issue`.",
    ),
    Rule(
        "unknown-tag", _W,
        "the tag `{tag}` is not known here and has no effect",
        "remove it",
        "A tag such as `!env` has no meaning here; the value behind it is taken as it is.",
    ),
    Rule(
        "odd-scalar", _W,
        "`{value}` is kept as text, not read as {kind}",
        "quote it",
        "The value looks like a number or date, but is none that JSON has.",
    ),
    Rule(
        "not-read", _W,
        "is not read: a recipe's file ends in `.yaml`",
        "rename it to `{rename}`",
        "Only files that end in `.yaml` are recipes, so that one name has one file.",
    ),
    # routing cases
    Rule(
        "no-cases", _E,
        "holds no cases",
        "write `cases:` and below it a list of `- task: …` with `expect: …`",
        "A file of cases that holds none tests nothing, and looks as if it did.",
    ),
    Rule(
        "bad-line", _E,
        "the line is no JSON object: {problem}",
        "write one JSON object a line",
        "Files that end in .jsonl hold one case a line, so that a line can be named.",
    ),
    Rule(
        "case-key", _E,
        "`{key}` is no key of a case{nearest}",
        "rename or drop it",
        "A key that is not known claims nothing: with `expct: python` the case would never fail.",
    ),
    Rule(
        "case-claims-nothing", _E,
        "the case claims nothing",
        "add `expect`, `not`, `stage` or `starts`",
        "Such a case passes with any decision.",
    ),
    Rule(
        "case-contradiction", _E,
        "the case cannot be right: {problem}",
        "correct one of the two",
        "One of its claims rules out the other, so that no decision could satisfy it.",
    ),
    Rule(
        "case-recipe", _E,
        "`{field}` names `{name}`, which no task can be given here{nearest}",
        "see `vancectl recipes list`",
        "The recipe was renamed or removed, or is internal, so that the case can only fail.",
    ),
    # requests and plans
    Rule(
        "unknown-field", _E,
        "has an unknown field `{key}`",
        "{meant}",
        "A field that is passed over in silence would start something else than was asked for.",
    ),
    Rule(
        "plan-child", _E,
        "a child must be a mapping (found {found})",
        "give it a `task`, or `expand`",
        "A child of a plan is a request.",
    ),
    # recipes of other programs
    Rule(
        "no-header", _E,
        "{program} does not load it: there is something before the first `---`",
        "begin with `---`",
        "Claude Code reads a header only where the file begins with it, not behind a mark or a comment.",
    ),
    Rule(
        "open-header", _E,
        "{program} does not load it: its header is not closed",
        "close it with a line `---`",
        "Without its end the header is the whole file, and no program takes it for one.",
    ),
    Rule(
        "header-no-yaml", _W,
        "the header is no YAML ({problem}){consequence}",
        "put the value in quotes",
        "A colon or a quote in a plain value is no YAML. Some programs then take each line whole.",
    ),
    Rule(
        "key-twice", _W,
        "the key `{key}` is there twice (first on line {first}); the last one holds",
        "drop one",
        "The programs silently take the last of two.",
    ),
    Rule(
        "tool-reads-less", _W,
        "{program} reads `{key}` only up to `---`, and nothing below it",
        "write the dashes in another way",
        "Claude Code ends the header at the first `---` with a blank behind it, wherever that is.",
    ),
    Rule(
        "runs-programs", _W,
        "it may run programs or act without asking once started: {fields}",
        "read it first",
        "Hooks and servers of an agent start with it, and a permission mode answers questions for you.",
    ),
    Rule(
        "not-startable", _E,
        "{program} starts only agents of mode primary or all",
        "change its mode, or exclude it",
        "A subagent that is named at the start makes opencode start its default agent, with status 0.",
    ),
    Rule(
        "source-refused", _E,
        "{program} loads none of its agents, since {other} is broken",
        "fix that file",
        "opencode refuses its whole configuration where the tools of one agent are no mapping.",
    ),
    Rule(
        "bad-toml", _E,
        "is not valid TOML: {problem}",
        "correct the syntax near this place",
        "The command cannot be read by its program either.",
    ),
    Rule(
        "no-place-for-task", _E,
        "has no place for a task, so {program} cannot be given one",
        "write `$input` where it goes",
        "The template would be sent without the task.",
    ),
    Rule(
        "task-has-no-place", _W,
        "{program} can be given params, but no task",
        "add a required parameter named `task`",
        "goose takes no text beside a recipe, so that a task can only be one of its parameters.",
    ),
    Rule(
        "name-twice", _E,
        "two files of this source have the name `{name}`",
        "rename one of them",
        "The program takes one of the two by no order that it states.",
    ),
    Rule(
        "name-taken", _E,
        "another file of this source has the name `{name}`, written so",
        "rename one of the two",
        "Names are compared in small letters here; the one that is written so keeps the name.",
    ),
    Rule(
        "link-out", _E,
        "is a link that leaves its source ({target})",
        "copy it there, or set sources.{key}.links to true",
        "Followed, a link could make any file of the machine a recipe.",
    ),
    Rule(
        "sources-left-out", _W,
        "the recipes of other programs are left out, since the settings are broken",
        "see `vancectl settings show`",
        "Which folders are wanted is unknown until the settings can be read.",
    ),
    # folders
    Rule(
        "not-a-folder", _W,
        "is a file where a folder of recipes is expected",
        "replace it by a folder",
        "A checkout without link support leaves a small text file where a linked folder was.",
    ),
    Rule(
        "folder-unreadable", _E,
        "the folder cannot be read ({reason}), so what it hides is unknown",
        "make it readable, or move it away",
        "It may hold any name below it, so no recipe of a farther layer is taken in its place.",
    ),
    Rule(
        "folder-outside", _W,
        "the folder is a link that leaves the project ({target})",
        "name it with --recipes",
        "A link could make any folder of the machine part of a cloned project.",
    ),
    Rule(
        "foreign-folder", _W,
        "belongs to another user and is not used",
        "work inside it, take ownership, or name it with --recipes",
        "In a shared folder such as /tmp someone else could bring recipes.",
    ),
    Rule(
        "foreign-between", _W,
        "is not used, since {between} belongs to another user",
        "work inside it, or name it with --recipes",
        "The owner of a folder on the way to the project could put another one in its place.",
    ),
    Rule(
        "project-settings", _W,
        "is not read: a project has no settings",
        "put them into {settings}",
        "A project that could set a program, a server or a fallback would run what its author likes.",
    ),
    Rule(
        "project-misnamed", _W,
        "is not read",
        "rename it to `{rename}`",
        "Only the very name is read, so that no one has to guess which of two files holds.",
    ),
    Rule(
        "project-misplaced", _W,
        "is not read: recipes lie in the folder `recipes`",
        "move it to `{into}`",
        "Beside the folder of recipes nothing is looked for, and the recipe would never be chosen.",
    ),
    Rule(
        "cases-not-read", _W,
        "is not read: a file of cases ends in `.yaml` or `.jsonl`",
        "rename it, such as to `{rename}`",
        "Cases that no check reads always pass.",
    ),
    Rule(
        "second-folder", _W,
        "is not used, since {other} is beside it",
        "merge the two",
        "Of `.vance` and `_vance` one counts, else files of one name would meet.",
    ),
    Rule(
        "linked-folder", _W,
        "is a link to the folder {target}, which is not followed",
        "copy the folder here",
        "Followed, a link to a folder could leave the layer or never end.",
    ),
    Rule(
        "no-home", _N,
        "no home directory: the tenant layer is left out",
        "set HOME to an absolute path, or set VANCECTL_CONFIG_DIR",
        "Without a home directory there is no tenant, so its settings and recipes are missing.",
    ),
    # the comments that silence a finding
    Rule(
        "allow-without-reason", _W,
        "`lint: allow {allowed}` gives no reason, and silences nothing",
        "add ` - reason`",
        (
            "Later readers of the comment must know why the rule does not hold here: `# lint: allow "
            "one-word - the team's name`."
        ),
    ),
    Rule(
        "allow-unknown", _W,
        "`lint: allow {allowed}` names no rule{nearest}",
        "`recipes lint --explain CODE` knows all",
        "A misspelt code silences nothing.",
    ),
    Rule(
        "allow-unused", _W,
        "`lint: allow {allowed}` silences nothing",
        "remove it",
        (
            "What it silenced is gone, or is in another line. It holds for its own line, for the line "
            "below where it stands alone, and for the whole file before the first key. What breaks a file "
            "cannot be allowed."
        ),
    ),
)  # fmt: skip

RULES = {rule.code: rule for rule in _TABLE}
