"""Why each rule is there: what goes wrong without it, and what its neighbour looks like that is in order."""

from __future__ import annotations

EXPLANATIONS: dict[str, str] = {
    "unreadable": "A file that cannot be read still takes its name, so that nothing farther away starts in its place.",
    "not-a-file": "A folder, pipe or device stands where a recipe should.",
    "link-outside": "Followed, a link could make any file of the machine a recipe of a cloned project.",
    "dead-link": "The link's target is gone, or the checkout does not know links.",
    "too-large": "A recipe is read by people and by a model. Aliases can make a small file endless.",
    "not-utf8": "Recipes are UTF-8. In another encoding a phrase with an umlaut would never hit.",
    "bad-character": "Such characters come from pasting out of web pages and end a line where nobody sees it.",
    "escape": "In double quotes a backslash begins an escape, and YAML does not know all that JSON or a shell knows.",
    "tab": "YAML does not allow tabs for indentation.",
    "bad-yaml": "The file cannot be parsed at all, so its recipe cannot be used.",
    "conflict": "A merge left both sides in the file; which one holds is for a person to say.",
    "open-quote": "Up to the end of the file all is text of the quote.",
    "indentation": "A line that begins deeper belongs to the one above it, which has a value already.",
    "quote-needed": "A plain value may not begin with `, @, %, *, !, {, [ or &, and may not hold `: `.",
    "two-documents": "Only one recipe can have the file's name.",
    "not-a-mapping": "A recipe is a mapping of fields: `description: …`, `engine: …`. An empty file is none.",
    "cyclic": "An alias that holds itself has no end.",
    "bad-key": "Keys are field names, so they are plain text.",
    "duplicate-key": "YAML readers silently keep the last of two; here neither is guessed at.",
    "missing-field": "`description` is what the model chooses by, and `engine` says what executes the recipe.",
    "wrong-type": "A trigger list that is one text would be split into letters, a flag that is a word would be true.",
    "unknown-value": "Only the listed values mean anything.",
    "bad-name": "Such characters act on terminals, or let two names look alike.",
    "long-phrase": "No one says so much in a phrase; each phrase is looked for in every task.",
    "name-collision": "Names are trimmed, in small letters and composed Unicode; two files of a layer may not meet "
    "there.",
    "empty-name": "Nobody could ask for a recipe without a name.",
    "unknown-key": "It is kept and passed on to the engine, but a slip of the pen would go unnoticed.",
    "more-findings": "A file with thousands of faults has one cause; the list of all would hide it.",
    "not-canonical": "The recipe answers to the canonical name; a file that is named otherwise misleads its readers.",
    "blank-phrase": "A blank phrase would stand in every task, so it is left out.",
    "comment-cut": "In YAML ` #` begins a comment: `Close issue #12` is read as `Close issue`.",
    "unknown-tag": "A tag such as `!env` has no meaning here; the value behind it is taken as it stands.",
    "odd-scalar": "The value looks like a number or date, but is none that JSON has.",
    "unknown-engine": "Nothing says when such an engine is to be taken, and the spawn command may not know it.",
    "not-read": "Only files that end in `.yaml` are recipes, so that one name has one file.",
    "not-a-folder": "A checkout without link support leaves a small text file where a linked folder was.",
    "folder-unreadable": "It may hold any name below it, so no recipe of a farther layer is taken in its place.",
    "folder-outside": "A link could make any folder of the machine part of a cloned project.",
    "foreign-folder": "In a shared folder such as /tmp someone else could bring recipes.",
    "foreign-between": "Whoever owns a folder on the way to the project could put another one in its place.",
    "project-settings": "A project that could set a program, a server or a fallback would run what its author likes.",
    "project-misnamed": "Only the very name is read, so that no one has to guess which of two files holds.",
    "project-misplaced": "Beside the folder of recipes nothing is looked for, and the recipe would never be chosen.",
    "cases-not-read": "Cases that no check reads pass whatever happens.",
    "second-folder": "Of `.vance` and `_vance` one counts, else files of one name would meet.",
    "linked-folder": "Followed, a link to a folder could leave the layer or never end.",
    "no-home": "Without a home directory there is no tenant, so its settings and recipes are missing.",
    "no-cases": "A file of cases that holds none tests nothing, and looks as if it did.",
    "case-key": "A key that is not known claims nothing: with `expct: python` the case would never fail.",
    "case-claims-nothing": "Whatever is decided, such a case is right.",
    "case-contradiction": "One of its claims rules out the other, so that no decision could satisfy it.",
    "case-recipe": "The recipe was renamed or removed, or is internal, so that the case can only fail.",
    "bad-line": "Files that end in .jsonl hold one case a line, so that a line can be named.",
    "misplaced-field": "`params` may hold anything an engine wants, so a field of the recipe that slipped in there "
    "is passed "
    "on in silence and does nothing. A param of that name that is meant can be allowed with a comment.",
    "yaml-boolean": "YAML 1.1 reads yes, no, on and off as true and false: `country: no` is not Norway. `true` and "
    "`false` are taken as meant, and so is anything in quotes.",
    "yaml-octal": "YAML 1.1 reads a leading zero as base 8: `007` is 7, `010` is 8.",
    "skill-not-allowed": "With `allowedSkills` given, a skill that is not in it cannot be active from the start.",
    "bad-template": "Prompts are templates with `{{ variable }}`, `{% if %}`, `{% elseif %}`, `{% else %}` and `{% "
    "for %}`. "
    "One that does not compile fails when the recipe runs.",
    "stray-file": "A file beside the recipes that no one reads: a backup, a JSON twin, a script. READMEs and licences "
    "are no strays.",
    "never-alone": "Trigger phrases decide only where exactly one recipe is hit. If all tasks that hold this phrase "
    "also hold a phrase of another recipe, it can never decide, and only adds questions to the model. This is proved "
    "with the matcher itself: the phrase is tried with a free edge and with a letter on either side, which stands for "
    "every task that there can be.",
    "dead-recipe": "Each of its phrases is blocked, so triggers never choose this recipe; only the model does.",
    "redundant-phrase": "Where a phrase is contained in another one of the same recipe, the longer one hits only where "
    "the shorter one does, too. Case, blanks, quotes, dashes and what no one sees do not count in the comparison.",
    "pattern-phrase": "Phrases are plain text: regular expressions, globs, placeholders and comma lists are matched "
    "letter by letter, which hardly any task satisfies.",
    "short-phrase": "Below four letters (below two with `match: word`) a phrase stands in many words by chance. "
    "Phrases with "
    "marks such as `c++`, and scripts that need one character for a word, are left alone.",
    "one-word": "A common word is content more often than intent: a task about a panel is no task for a panel of "
    "advisers. Engines' names are no common words. Words are those of an English and a German list, if installed "
    "(`pip install 'vancectl[lint]'`); without it, words below six letters.",
    "inside-words": "A phrase is searched as a part of the text, so `gate` also hits `investigate`. Inflections of the "
    "word itself do not count. With `triggers.match: word` the phrase hits whole words only.",
    "in-description": "The other recipe's own words hold this phrase, so tasks for it will, too. A description that "
    "names this recipe, to say what it is itself not for, is left alone.",
    "hits-case": "The project's cases (`routes.yaml`, `routes/`, or --cases) say which recipe a task must get; this "
    "phrase alone decides otherwise, before any model is asked.",
    "thin-description": "The description is all that the model reads of a recipe besides name and engine.",
    "no-header": "Claude Code reads a header only where the file begins with it, not behind a mark or a comment.",
    "open-header": "Without its end the header is the whole file, and no program takes it for one.",
    "header-no-yaml": "A colon or a quote in a plain value is no YAML. Some programs then take each line whole.",
    "key-twice": "The programs silently take the last of two.",
    "tool-reads-less": "Claude Code ends the header at the first `---` with a blank behind it, wherever that is.",
    "runs-programs": "Hooks and servers of an agent start with it, and a permission mode answers questions for you.",
    "not-startable": "A subagent that is named at the start makes opencode start its default agent, with status 0.",
    "source-refused": "opencode refuses its whole configuration where the tools of one agent are no mapping.",
    "bad-toml": "The command cannot be read by its program either.",
    "no-place-for-task": "The template would be sent without the task.",
    "task-has-no-place": "goose takes no text beside a recipe, so that a task can only be one of its parameters.",
    "name-twice": "The program takes one of the two by no order that it states.",
    "name-taken": "Names are compared in small letters here; the one that is written so keeps the name.",
    "link-out": "Followed, a link could make any file of the machine a recipe.",
    "untrusted-source": "An agent of a clone may run programs as soon as it is started.",
    "sources-left-out": "Which folders are wanted is unknown until the settings can be read.",
    "derived-description": "A model chooses by descriptions; first words are a guess at one.",
    "long-description": "All descriptions go into each question: a long one costs on every call and buries the others.",
    "copied-description": "Of two recipes with the same description the model can only guess.",
    "alike-description": "Measured as the cosine of both texts' words, rare words weighing more. From 85 per cent "
    "on two "
    "descriptions differ in hardly a word that matters.",
    "like-default": "A task that fits would fit `default` as well, which is started anyway when nothing matches.",
    "no-when": "What a recipe does is half of it; the model must also know for which tasks, and for which not. Only "
    "English and German texts are judged.",
    "orders-reader": "Descriptions are quoted to the model as data. One that gives orders, or looks like a reply, "
    "tries "
    "to be chosen for what it says about choosing.",
    "look-alike": "A letter of another script in the place of a Latin one is seen by no reader, yet it makes another "
    "name, and a phrase that nothing typed will match.",
    "dotted-i": "Comparison knows no language: `SATIR` folds to `satir`, not to `satır` as a Turkish reader expects.",
    "hidden-text": "Invisible characters can carry text that people do not see. They are left out of comparisons and "
    "of the model's prompt. Joiners and selectors that belong to an emoji or a script are in order.",
    "shadows": "An override takes the place of a whole recipe; nothing is merged. This only tells that it is so.",
    "engine-changed": "Whoever names the recipe gets another kind of worker than before.",
    "hides-tenant": "The tenant's recipe may carry rules of the house; a project that hides it changes them.",
    "bad-settings": "With broken settings nothing can be started, and the model stage cannot be put together.",
    "bad-catalog": "Without a catalog the model does not know what the engines are for.",
    "unknown-fallback": "After NONE with a trigger observed, `delegate` would fail instead of starting the fallback.",
    "broken-fallback": "After NONE with a trigger observed, `delegate` would fail instead of starting the fallback.",
    "no-program": "`delegate` would decide, then fail to start anything.",
    "cannot-start": "Such a recipe is matched, and then nothing starts. It may be meant for another machine.",
    "task-as-code": "Tasks, and what recipes hold, are other people's words. Behind `sh -c`, in `python -c` or on the "
    "far side of `ssh` they are a program.",
    "task-as-option": "A task may begin with `-`. Behind `--`, or on stdin, it stays a task.",
    "allow-without-reason": "Whoever meets the comment later must know why the rule does not hold here: "
    "`# lint: allow one-word - the team's name`.",
    "allow-unknown": "A misspelt code silences nothing.",
    "allow-unused": "What it silenced is gone, or stands in another line. It holds for its own line, for the line "
    "below "
    "where it stands alone, and for the whole file before the first key. What breaks a file cannot be allowed.",
}  # fmt: skip
