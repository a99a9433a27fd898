"""THE table of replies: what a model may write, and what is read from it."""

import json
import time
from collections.abc import Collection
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vancectl.model.reason import Reason
from vancectl.selector.semantic.reply import RefusedReplyError, read_reply

NAMES = frozenset({"review", "notes", "web-research", "führe", "writing/essay", "v1.5"})

MATCH = '{"decision": "MATCH", "recipe": "review", "rationale": "asks for a review"}'
NONE = '{"decision": "NONE", "recipe": null, "rationale": "nothing fits"}'
SCHEMA = (
    '{"type": "object", "properties": {"decision": {"type": "string", "enum": ["MATCH", "NONE"]},'
    ' "recipe": {"anyOf": [{"type": "string"}, {"type": "null"}]}}, "required": ["decision", "recipe"]}'
)
PROMPTED = (
    '{"decision": "MATCH" or "NONE", "recipe": name or null, "rationale": one or two sentences,\n'
    ' "runnerUp": the next best recipe\'s name or null}'
)

# What a row expects beside a name: the answer NONE, or the reason why the reply is refused.
nothing_fits = None
no_json = Reason.NO_JSON
empty = Reason.EMPTY_REPLY
bad_json = Reason.BAD_JSON
bad_answer = Reason.BAD_ANSWER
conflict = Reason.CONFLICTING_ANSWERS
unknown = Reason.UNKNOWN_RECIPE


def named(recipe: object) -> str:
    return json.dumps({"decision": "MATCH", "recipe": recipe, "rationale": "r"})


def read(reply: str, names: Collection[str] = NAMES) -> str | Reason | None:
    """The recipe that the reply means, None for NONE, or why it is refused."""
    try:
        return read_reply(reply, names).recipe
    except RefusedReplyError as refused:
        return refused.reason


# fmt: off
REPLIES = [
    # As asked for, and with things around it.
    ("match", MATCH, "review"),
    ("none", NONE, nothing_fits),
    ("prose-around", f"Sure! Here it is: {MATCH} Hope that helps.", "review"),
    ("code-fence", f"```json\n{MATCH}\n```", "review"),
    ("code-fence-without-language", f"```\n{MATCH}\n```", "review"),
    ("blanks-around", f"\n\n  {MATCH}\t\n", "review"),
    ("byte-order-mark", f"\ufeff{MATCH}", "review"),
    ("line-breaks-inside", '{\n"decision":\n"MATCH",\n\n"recipe":"review"}', "review"),
    ("raw-line-break-in-a-string", '{"decision": "MATCH", "recipe": "review", "rationale": "one\ntwo"}', "review"),
    ("thinking-before", f"<think>Maybe notes: {named('notes')}?</think>\n{MATCH}", "review"),
    ("thinking-named-otherwise", f"<thinking>{NONE}</thinking>{MATCH}", "review"),
    ("thinking-only", "<think>The task asks for a review.</think>", empty),
    ("thinking-cut-off", f"<think>So it should be {MATCH}", empty),
    ("braces-in-prose", f"Of {{review, notes}} the first fits: {MATCH}", "review"),
    ("code-in-prose", f"void f() {{ return; }} {MATCH}", "review"),
    ("doubled-braces", '{{"decision": "MATCH", "recipe": "review"}}', "review"),
    ("braces-left-over", f"{{{{ {MATCH} }}}}}}", "review"),
    ("in-a-list", f"[{MATCH}]", "review"),
    ("in-an-object", f'{{"answer": {MATCH}}}', "review"),
    ("more-keys", '{"decision": "MATCH", "recipe": "review", "confidence": 0.9, "tags": ["a"]}', "review"),
    ("keys-in-other-case", '{"Decision": "MATCH", "RECIPE": "review"}', "review"),
    # None at all.
    ("empty", "", empty),
    ("blank", " \n\t ", empty),
    ("prose", "I would take the recipe review.", no_json),
    ("a-word", "NONE", no_json),
    ("a-name", "review", no_json),
    ("json-null", "null", no_json),
    ("json-string", '"review"', no_json),
    ("json-list", '["MATCH", "review"]', no_json),
    ("empty-object", "{}", bad_answer),
    ("another-object", '{"error": "overloaded"}', bad_answer),
    ("schema-only", SCHEMA, bad_answer),
    ("prompt-only", PROMPTED, bad_json),
    # Several objects.
    ("same-twice", MATCH + MATCH, "review"),
    ("same-twice-in-other-words", MATCH + named("Review."), "review"),
    ("none-twice", NONE + NONE, nothing_fits),
    ("draft-then-answer", f"{NONE}\nOn reflection:\n{MATCH}", conflict),
    ("two-names", named("review") + named("notes"), conflict),
    ("two-in-a-list", f"[{MATCH}, {NONE}]", conflict),
    ("schema-then-answer", f"{SCHEMA}\n{MATCH}", "review"),
    ("prompt-then-answer", f"{PROMPTED}\n{MATCH}", "review"),
    ("template-then-answer", f'{{"decision": "MATCH|NONE", "recipe": "<name>"}}\n{MATCH}', "review"),
    ("answer-then-inventory", f'{MATCH}\n{{"name": "notes", "engine": "ford"}}', "review"),
    ("answer-with-another-inside", f'{{"decision": "NONE", "recipe": null, "turnedDown": [{MATCH}]}}', nothing_fits),
    ("other-decision-with-an-answer-inside", f'{{"decision": "UNSURE", "considered": [{MATCH}]}}', bad_answer),
    ("list-of-candidates", '{"candidates": [{"recipe": "review"}]}', bad_answer),
    ("two-candidates", '{"recipe": "review"} {"recipe": "notes"}', bad_answer),
    # The slips of models.
    ("trailing-comma", '{"decision": "MATCH", "recipe": "review",}', "review"),
    ("single-quotes", "{'decision': 'MATCH', 'recipe': 'review'}", "review"),
    ("single-quotes-trailing-comma", "{'decision': 'MATCH', 'recipe': 'review', 'rationale': 'x',}", "review"),
    ("apostrophe-in-single-quotes", r"{'decision': 'MATCH', 'recipe': 'review', 'rationale': 'it\'s one'}", "review"),
    ("apostrophe-in-double-quotes", "{'decision': 'MATCH', 'recipe': 'review', 'rationale': \"it's\"}", "review"),
    ("apostrophe-ends-the-quotes", "{'decision': 'MATCH', 'recipe': 'review', 'rationale': 'it's'}", bad_json),
    ("unquoted-keys", '{decision: "MATCH", recipe: "review"}', "review"),
    ("unquoted-all", "{decision: MATCH, recipe: review}", "review"),
    ("unquoted-brace-in-a-string", '{decision: MATCH, recipe: review, rationale: "a } b {"}', "review"),
    ("python-none", "{'decision': 'NONE', 'recipe': None}", nothing_fits),
    ("python-true", "{'decision': 'MATCH', 'recipe': 'review', 'sure': True}", "review"),
    ("nan", '{"decision": "MATCH", "recipe": "review", "score": NaN}', "review"),
    ("missing-comma", '{"decision": "MATCH" "recipe": "review"}', bad_json),
    ("cut-in-the-name", '{"decision": "MATCH", "recipe": "rev', bad_json),
    ("cut-before-the-brace", '{"decision": "MATCH", "recipe": "review"', bad_json),
    ("cut-none-with-a-match-inside", f'{{"decision": "NONE", "recipe": null, "turnedDown": [{MATCH}', bad_json),
    ("cut-none-with-a-name-inside", '{"decision": "NONE", "turnedDown": [{"recipe": "review"}', bad_json),
    ("broken-none-with-a-match-inside", f'{{"decision": "NONE" "turnedDown": [{MATCH}]}}', bad_json),
    ("broken-then-a-name", '{"decision": "NONE" "recipe": null} {"recipe": "review"}', bad_json),
    ("escaped-once-too-often", MATCH.replace('"', '\\"'), bad_json),
    ("an-alias", '{"decision": MATCH, "rationale": &a x, "recipe": *a}', bad_json),
    ("a-tag-is-not-acted-on", "{decision: !!python/object:os.system MATCH, recipe: review}", "review"),
    ("repeated-key-same-value", '{"decision": "MATCH", "decision": "MATCH", "recipe": "review"}', "review"),
    ("repeated-decision", '{"decision": "NONE", "decision": "MATCH", "recipe": "review"}', conflict),
    ("repeated-recipe", '{"decision": "MATCH", "recipe": "review", "recipe": "notes"}', conflict),
    ("repeated-recipe-in-other-case", '{"decision": "MATCH", "recipe": "review", "Recipe": "notes"}', conflict),
    ("repeated-recipe-unquoted", "{decision: MATCH, recipe: review, recipe: notes}", conflict),
    # The decision.
    ("decision-lower-case", '{"decision": "match", "recipe": "review"}', "review"),
    ("decision-with-blanks", '{"decision": " Match ", "recipe": "review"}', "review"),
    ("decision-bold", '{"decision": "**MATCH**", "recipe": "review"}', "review"),
    ("decision-none-mixed-case", '{"decision": "None", "recipe": null}', nothing_fits),
    ("decision-null", '{"decision": null, "recipe": null}', nothing_fits),
    ("decision-null-with-a-name", '{"decision": null, "recipe": "review"}', nothing_fits),
    ("decision-another-word", '{"decision": "YES", "recipe": "review"}', bad_answer),
    ("decision-empty", '{"decision": "", "recipe": "review"}', bad_answer),
    ("decision-true", '{"decision": true, "recipe": "review"}', bad_answer),
    ("decision-list", '{"decision": ["MATCH"], "recipe": "review"}', bad_answer),
    ("decision-is-the-name", '{"decision": "review"}', bad_answer),
    ("decision-holds-the-answer", f'{{"decision": {MATCH}}}', "review"),
    ("decision-missing", '{"recipe": "review", "rationale": "r"}', "review"),
    ("decision-missing-null", '{"recipe": null}', nothing_fits),
    ("decision-missing-none", '{"recipe": "None"}', nothing_fits),
    ("decision-missing-unknown", '{"recipe": "reviewer"}', unknown),
    ("none-with-a-name", '{"decision": "NONE", "recipe": "review"}', nothing_fits),
    ("none-with-an-unknown-name", '{"decision": "NONE", "recipe": "reviewer"}', nothing_fits),
    ("none-without-recipe", '{"decision": "NONE"}', nothing_fits),
    ("match-with-null", named(None), bad_answer),
    ("match-with-null-as-text", named("null"), bad_answer),
    ("match-with-none-as-text", named("NONE"), bad_answer),
    ("match-with-none-of-python", named("None"), bad_answer),
    ("match-with-na", named("n/a"), bad_answer),
    ("match-with-a-dash", named("-"), bad_answer),
    ("match-with-nothing", named(""), bad_answer),
    ("match-with-blanks", named("  "), bad_answer),
    ("match-without-recipe", '{"decision": "MATCH", "name": "review"}', bad_answer),
    # The name, decorated.
    ("quotes", named('"review"'), "review"),
    ("single-quoted", named("'review'"), "review"),
    ("typographic-quotes", named("„review“"), "review"),
    ("backticks", named("`review`"), "review"),
    ("bold", named("**review**"), "review"),
    ("bold-and-backticks", named("**`review`**"), "review"),
    ("emphasis", named("_review_"), "review"),
    ("angle-brackets", named("<review>"), "review"),
    ("trailing-dot", named("review."), "review"),
    ("quoted-with-a-dot", named("“review.”"), "review"),
    ("other-case", named("Review"), "review"),
    ("capitals", named("REVIEW"), "review"),
    ("blanks", named("  review\n"), "review"),
    ("engine-in-brackets", named("review [engine: ford]"), "review"),
    ("engine-in-parentheses", named("review (engine: ford)"), "review"),
    ("engine-and-a-dot", named("review [engine: ford]."), "review"),
    ("engine-and-backticks", named("`review` (engine: `ford`)"), "review"),
    ("engine-and-bold", named("**review [engine: ford]**"), "review"),
    ("blank-for-a-hyphen", named("Web Research"), "web-research"),
    ("folder", named("Writing/Essay"), "writing/essay"),
    ("folder-with-blanks", named("writing / essay"), "writing/essay"),
    ("dot-inside", named("v1.5."), "v1.5"),
    ("umlaut-in-capitals", named("FÜHRE"), "führe"),
    ("umlaut-decomposed", named("fu\u0308hre"), "führe"),
    # The name, another one.
    ("invented", named("pr-reviewer-pro"), unknown),
    ("plural", named("reviews"), unknown),
    ("mistyped", named("revew"), unknown),
    ("doubled-suffix", named("review-review"), unknown),
    ("cut-name", named("rev"), unknown),
    ("underscore-for-a-hyphen", named("web_research"), unknown),
    ("hyphen-missing", named("webresearch"), unknown),
    ("without-its-accent", named("fuhre"), unknown),
    ("with-another-accent", named("réview"), unknown),
    ("look-alike-letter", named("r\u0435view"), unknown),
    ("title", named("Code review"), unknown),
    ("name-and-title", named("review – Code review"), unknown),
    ("engine-without-the-word", named("review (ford)"), unknown),
    ("internal-twin", named("_review"), unknown),
    ("key-and-name", named("recipe: review"), unknown),
    ("two-names-in-one", named("review, notes"), unknown),
    ("last-part-only", named("essay"), unknown),
    ("above", named("../review"), unknown),
    ("absolute", named("/review"), unknown),
    ("backslash", named("writing\\essay"), unknown),
    ("zero-width-inside", named("rev\u200biew"), unknown),
    ("nul-behind", named("review\x00"), unknown),
    ("direction-mark-behind", named("review\u202e"), unknown),
    ("lone-surrogate", named("review\ud800"), unknown),
    ("ten-thousand-letters", named("review" * 10_000), unknown),
    ("ten-thousand-quotes", named('"' * 10_000 + "review"), unknown),
    ("number", named(5), unknown),
    ("true", named(True), unknown),
    ("list", named(["review"]), unknown),
    ("list-of-none", named([]), unknown),
    ("object", named({"name": "review"}), unknown),
    ("object-that-answers", f'{{"decision": "MATCH", "recipe": {MATCH}}}', unknown),
]
# fmt: on


@pytest.mark.parametrize(("reply", "meaning"), [pytest.param(*row, id=name) for name, *row in REPLIES])
def test_a_reply_is_read_or_refused(reply: str, meaning: str | Reason | None) -> None:
    assert read(reply) == meaning


@pytest.mark.parametrize(
    ("reply", "meaning"),
    [
        pytest.param(named("none"), "none", id="match"),
        pytest.param(named("NONE"), "none", id="match-in-capitals"),
        pytest.param('{"decision": "NONE", "recipe": "none"}', nothing_fits, id="none-stays-none"),
        pytest.param('{"decision": "NONE", "recipe": null}', nothing_fits, id="null"),
        pytest.param('{"recipe": "none"}', nothing_fits, id="no-decision-is-no-guess"),
        pytest.param(named("n/a"), bad_answer, id="another-word-for-nothing"),
    ],
)
def test_a_recipe_may_be_named_none(reply: str, meaning: str | Reason | None) -> None:
    assert read(reply, {"none", "review"}) == meaning


@pytest.mark.parametrize("name", ["*star*", "v2.", "_draft_", "x-[engine:-y]", "“q”", "<a>"])
def test_a_name_that_looks_decorated_is_found(name: str) -> None:
    assert read(named(name), {name}) == name


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("", "LLM reply has no JSON object"),
        ("I take review.", "LLM reply has no JSON object"),
        ('{"decision": "MATCH", "recipe": ', "JSON parse error: Expecting value"),
        ("{}", "the JSON object has no `decision` of MATCH or NONE"),
        (MATCH + NONE, "the reply holds conflicting answers"),
        ('{"recipe": "a", "recipe": "b"}', "the reply gives two values for `recipe`"),
        (named(None), "the decision is MATCH, but no recipe is named"),
        (named("reviewer"), "unknown recipe 'reviewer' — not in inventory"),
        (named("re\x1b[31m\u202ev\niewer"), "unknown recipe 're [31m v iewer' — not in inventory"),
        (named("x" * 10_000), f"unknown recipe '{'x' * 80}…' — not in inventory"),
        (named(["review"]), "unknown recipe '['review']' — not in inventory"),
    ],
)
def test_a_refusal_says_what_is_wrong(reply: str, text: str) -> None:
    with pytest.raises(RefusedReplyError) as refused:
        read_reply(reply, NAMES)
    assert refused.value.text == text


@pytest.mark.parametrize(
    ("members", "rationale"),
    [
        ({"rationale": "  asks for\na review "}, "asks for a review"),
        ({"rationale": "red \x1b[31m and \u202eturned"}, "red [31m and turned"),
        ({"rationale": "hidden \U000e0041\U000e0042 orders"}, "hidden orders"),
        ({"rationale": "half \ud83d of an emoji"}, "half \ufffd of an emoji"),
        ({"rationale": "{braces} and “quotes”"}, "{braces} and “quotes”"),
        ({}, "the model gave no rationale"),
        ({"rationale": None}, "the model gave no rationale"),
        ({"rationale": ""}, "the model gave no rationale"),
        ({"rationale": ["a", "b"]}, "the model gave no rationale"),
        ({"rationale": 5}, "the model gave no rationale"),
    ],
)
def test_the_rationale_is_one_harmless_line(members: dict[str, Any], rationale: str) -> None:
    reply = json.dumps({"decision": "MATCH", "recipe": "review", **members})
    assert read_reply(reply, NAMES).rationale == rationale


@pytest.mark.parametrize(
    ("members", "evidence", "runner_up"),
    [
        ({"evidence": "look over", "runnerUp": "notes"}, "look over", "notes"),
        ({"evidence": "", "runnerUp": None}, None, None),
        ({"evidence": 5, "runner_up": "`Notes`"}, None, "notes"),
        ({"runnerup": "review"}, None, None),
        ({"runnerUp": "invented"}, None, None),
    ],
)
def test_evidence_and_runner_up(members: dict[str, Any], evidence: str | None, runner_up: str | None) -> None:
    answer = read_reply(json.dumps({"decision": "MATCH", "recipe": "review", **members}), NAMES)
    assert (answer.evidence, answer.runner_up) == (evidence, runner_up)


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param("{" * 1_000_000, id="braces"),
        pytest.param('{"' * 500_000, id="braces-and-quotes"),
        pytest.param("{a: " * 250_000, id="unquoted"),
        pytest.param("{a} " * 250_000, id="pairs"),
        pytest.param('{"a":' * 5_000 + MATCH + "}" * 5_000, id="nested"),
        pytest.param("{a: " * 900 + "b" + "}" * 900, id="nested-unquoted"),
        pytest.param("{a: " + "[" * 9_000 + "]" * 9_000 + "}", id="nested-lists"),
        pytest.param("{a: &a [b, b], " + ", ".join(f"x{n}: &b{n} [*a, *a]" for n in range(900)) + "}", id="aliases"),
        pytest.param("<think>" * 100_000, id="thoughts"),
        pytest.param(named("[engine " * 20_000), id="engines"),
        pytest.param(named("a" + " " * 200_000 + "b"), id="blanks"),
    ],
)
def test_reading_ends_soon(reply: str) -> None:
    started = time.monotonic()
    assert isinstance(read(reply), Reason)
    assert time.monotonic() - started < 10


# Anything at all, and texts made of the pieces that replies are made of.
_PIECES = st.sampled_from(
    ["{", "}", "[", "]", ":", ",", '"', "'", "\\", "`", "\n", " ", "decision", "recipe", "MATCH", "NONE", "review",
     "null", "None", '"decision": "MATCH"', '"recipe": "review"', "'recipe': 'notes'", MATCH, NONE, "<think>", "&a",
     "*a", "? ", "- ", "#", "!!int ", "\x00", "\ud800", "ſ", "İ"]
)  # fmt: skip
_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text() | st.sampled_from(["MATCH", "review", "NONE"]),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(["decision", "recipe", "rationale", "Recipe", "x"]), inner)
    ),
    max_leaves=12,
)


@settings(max_examples=600, deadline=None)
@given(st.one_of(st.text(), st.lists(_PIECES, max_size=14).map("".join), _JSON.map(json.dumps), _JSON.map(str)))
def test_no_reply_breaks_it_or_names_what_is_not_there(reply: str) -> None:
    answer = read(reply)
    assert answer is None or isinstance(answer, Reason) or answer in NAMES
