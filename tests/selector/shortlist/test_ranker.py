import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench.recall import load_suite, measure
from vancectl.selector.shortlist.ranker import LexicalRanker, RecipeText, shortlist
from vancectl.selector.shortlist.terms import terms

# Share of in-scope tasks whose recipe must be among the best 50. Plain BM25 gives 0.844, 0.921, 0.931, 0.958, 0.976.
FLOORS = {
    "metatool": 0.86,
    "clinc150": 0.93,
    "assistant-de-en": 0.965,
    "toolbench-rapidapi": 0.97,
    "seal-tools-4k": 0.978,
}

ODD_TEXTS = {
    "empty": "",
    "blank": " \t\n",
    "NUL": "a\0b\0",
    "lone surrogates": "\ud800 report \udfff",
    "FTS5 syntax": '"report" AND (NEAR(* ^ - : OR "',
    "punctuation only": "?!… — ()[]{}",
    "marks only": "\u0301\u0308",
    "digits": "0" * 5_000,
    "one long word": "x" * 100_000,
    "many long words": " ".join(f"word{number}" for number in range(15_000)),
    "emoji": "📊📈🏳️‍🌈",
    "long when normalised": "\ufdfa" * 4_000,
    "right to left": "اكتب تقريرا",
}


def recipe(name: str, description: str = "", *, title: str = "", phrases: tuple[str, ...] = ()) -> RecipeText:
    return RecipeText(name, title, description, phrases, ())


LIBRARY = [
    recipe("weather", "Tells the weather of a place."),
    recipe("pdf2text-extractor", "Reads scanned pages."),
    recipe("slides", "Erstellt eine Präsentation mit Folien."),
    recipe("music-player", "Plays a song or an album."),
    recipe("street-map", "Zeigt die Straße auf einer Karte."),
    recipe("recipe-review", "Checks the text of a recipe for mistakes.", title="Proofreading"),
    recipe("invoice", "Writes a bill.", phrases=("charge the customer",)),
    recipe("train-tickets", "列車の切符を予約する。"),
    recipe("lights-off", "Turns off lights."),
    recipe("list-of-lights", "Names of lights."),
]


def best(task: str, library: list[RecipeText] = LIBRARY) -> str:
    return library[LexicalRanker(library).rank(task)[0]].name


@pytest.mark.parametrize(
    ("task", "name"),
    [
        pytest.param("what will the weather be", "weather", id="word of the name"),
        pytest.param("an extractor, please", "pdf2text-extractor", id="part of a name with hyphens"),
        pytest.param("get the text out of this PDF", "pdf2text-extractor", id="part of a name with a digit"),
        pytest.param("PROOFREADING", "recipe-review", id="title, other case"),
        pytest.param("charge my best customer", "invoice", id="phrase"),
        pytest.param("reviewing mistaken recipes", "recipe-review", id="inflection"),
        pytest.param("Präsentationserstellung", "slides", id="compound, first part"),
        pytest.param("eine Vereinspräsentation", "slides", id="compound, last part"),
        pytest.param("praesentation", "slides", id="umlaut as ae"),
        pytest.param("prasentation", "slides", id="umlaut left out"),
        pytest.param("PRA\u0308SENTATION", "slides", id="umlaut decomposed"),
        pytest.param("strasse", "street-map", id="sharp s"),
        pytest.param("Musik", "music-player", id="cognate"),
        pytest.param("切符がほしい", "train-tickets", id="script without spaces"),
        pytest.param("lights off", "lights-off", id="off is not of"),
    ],
)
def test_finds_the_recipe(task: str, name: str) -> None:
    assert best(task) == name


def test_a_word_of_the_name_counts_more_than_one_of_the_description() -> None:
    assert best("invoice", [recipe("a", "An invoice, b."), recipe("invoice", "An a, b.")]) == "invoice"


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    library = [recipe("a", "report report"), recipe("b", "report zebra"), recipe("c", "report lion")]
    assert best("a report on the zebra", library) == "b"


def test_function_words_decide_only_where_there_is_nothing_else() -> None:
    library = [recipe("identity", "Who are you?"), recipe("weather", "Tells the weather.")]
    assert best("who are you", library) == "identity"
    assert best("are you able to say who tells the weather", library) == "weather"


def test_the_request_may_stand_before_or_after_long_material() -> None:
    material = "lorem ipsum dolor sit amet " * 5_000
    assert best(f"Plays a song\n{material}") == "music-player"
    assert best(f"{material}\nPlays a song") == "music-player"


def test_every_recipe_is_ranked_once_and_silence_is_ordered_by_length_then_inventory() -> None:
    library = [recipe("aaa", "bbb ccc"), recipe("ddd"), recipe("eee"), recipe("fff", "ggg hhh")]
    assert LexicalRanker(library).rank("zzz") == [1, 2, 0, 3]
    assert LexicalRanker(library).rank("hhh") == [3, 1, 2, 0]


def test_no_recipes() -> None:
    assert LexicalRanker([]).rank("a task") == []


@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS)
def test_odd_texts_are_ranked_and_indexed(text: str) -> None:
    assert sorted(LexicalRanker(LIBRARY).rank(text)) == list(range(len(LIBRARY)))
    library = [*LIBRARY, RecipeText(text, text, text, (text, text), (text,))]
    ranker = LexicalRanker(library)
    assert best("Musik", library) == "music-player"
    assert sorted(ranker.rank(text)) == list(range(len(library)))


def test_the_same_in_every_process() -> None:
    # Hashes of strings differ between processes, and so does the order of a set.
    code = (
        "from itertools import product\n"
        "from vancectl.selector.shortlist.ranker import LexicalRanker, RecipeText\n"
        "words = [''.join(letters) * 2 for letters in product('abde', repeat=4)]\n"
        "ranker = LexicalRanker([RecipeText(word, '', '', (), ()) for word in words])\n"
        "print([ranker.rank(f'{word[3:]}{word[:5]}') for word in words])"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).resolve().parents[3])},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(outputs) == 1


@pytest.mark.parametrize(
    ("ranking", "limit", "always", "expected"),
    [
        pytest.param([4, 2, 0, 1, 3], 3, [], [0, 2, 4], id="the best, in inventory order"),
        pytest.param([4, 2, 0, 1, 3], 3, [3], [2, 3, 4], id="always kept, within the limit"),
        pytest.param([4, 2, 0, 1, 3], 3, [4, 4], [0, 2, 4], id="always and best at once"),
        pytest.param([4, 2], 3, [7], [2, 4, 7], id="always kept though not ranked"),
        pytest.param([4, 2, 0, 1, 3], 2, [0, 1, 3], [0, 1, 3], id="more always than the limit: all of them"),
        pytest.param([1, 0], 50, [], [0, 1], id="fewer than the limit"),
        pytest.param([], 50, [], [], id="nothing"),
        pytest.param([1, 0], 0, [1], [1], id="no room but for what is always kept"),
    ],
)
def test_shortlist(ranking: list[int], limit: int, always: list[int], expected: list[int]) -> None:
    assert shortlist(ranking, limit, always) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("code-review v2", ["kode", "review", "v", "2"]),
        ("Fotografie photografie", ["fotografie", "fotografie"]),
        ("Größe groesse GROSSE", ["grose", "grose", "grose"]),
        ("Café NAÏVE ﬁle", ["kafe", "naive", "file"]),
        ("snake_case", ["snake", "kase"]),
        ("東京都 on", ["東京", "京都", "on"]),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize("name", FLOORS)
def test_recall_at_50(name: str, routing_bench: Path) -> None:
    if not (routing_bench / name).is_dir():
        pytest.skip(f"the routing benchmark has no suite {name}")
    assert measure(load_suite(routing_bench / name), LexicalRanker).recall[50] >= FLOORS[name]
