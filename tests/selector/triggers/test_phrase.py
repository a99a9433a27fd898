"""Texts compared as a person would: case, accents, blanks and scripts, and where a phrase stood in the original."""

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from vancectl.selector.triggers.phrase import at_whole_words, keeps_positions, span_in_original
from vancectl.text.comparison import normalise, normalise_phrase


def find(phrase: str, task: str, *, word: bool = False) -> str | None:
    """The words of the task that the phrase hits; None where it does not."""
    text, folded = normalise(task), normalise_phrase(phrase)
    start = text.find(folded)
    while word and start >= 0 and not at_whole_words(text, start, start + len(folded)):
        start = text.find(folded, start + 1)
    if start < 0:
        return None
    end = start + len(folded)
    first, last = (start, end) if keeps_positions(task, text) else span_in_original(task, start, end)
    return task[first:last]


@pytest.mark.parametrize(
    ("phrase", "task", "hit"),
    [
        pytest.param("run python", "please run python now", "run python", id="as-it-stands"),
        pytest.param("run python", "RUN Python", "RUN Python", id="case"),
        pytest.param("Run PYTHON", "run python", "run python", id="case-of-the-phrase"),
        pytest.param("code review", "a code   review", "code   review", id="run-of-blanks"),
        pytest.param("code review", "a code\nreview", "code\nreview", id="line-break"),
        pytest.param("code review", "a code\r\n\t review", "code\r\n\t review", id="mixed-white-space"),
        pytest.param("code review", "a code\u00a0review", "code\u00a0review", id="no-break-space"),
        pytest.param("code review", "a code\u3000review", "code\u3000review", id="ideographic-space"),
        pytest.param("  code \t review ", "code review", "code review", id="blanks-in-the-phrase"),
        pytest.param("code review", "code-review", None, id="hyphen-is-no-blank"),
        pytest.param("code review", "codereview", None, id="a-blank-is-needed"),
        pytest.param("führe python", "bitte FÜHRE Python aus", "FÜHRE Python", id="umlaut"),
        pytest.param("führe", "fu\u0308hre", "fu\u0308hre", id="decomposed-task"),
        pytest.param("fu\u0308hre", "Führe", "Führe", id="decomposed-phrase"),
        pytest.param("führe", "fuhre", None, id="an-accent-counts"),
        pytest.param("fuhre", "fu\u0308hre", None, id="no-half-of-a-letter"),
        pytest.param("cafe", "un cafe\u0301", None, id="no-half-of-the-last-letter"),
        pytest.param("café", "un cafe\u0301!", "cafe\u0301", id="span-holds-the-whole-letter"),
        pytest.param("straße", "STRASSE", "STRASSE", id="sharp-s"),
        pytest.param("strasse", "in der Straße 5", "Straße", id="sharp-s-in-the-task"),
        pytest.param("gross", "GROẞ", "GROẞ", id="capital-sharp-s"),
        pytest.param("s", "ß", "ß", id="half-a-sharp-s-is-shown-whole"),
        pytest.param("file", "a big ﬁle", "ﬁle", id="ligature"),
        pytest.param("ile", "a big ﬁle", "ﬁle", id="half-a-ligature-is-shown-whole"),
        pytest.param("office", "oﬃce hours", "oﬃce", id="ligature-of-three"),
        pytest.param("istanbul", "ISTANBUL trip", "ISTANBUL", id="plain-i"),
        pytest.param("İstanbul", "a trip to İSTANBUL", "İSTANBUL", id="dotted-i"),
        pytest.param("istanbul", "İSTANBUL", None, id="dotted-i-is-another-letter"),
        pytest.param("σίσυφος", "ΣΊΣΥΦΟΣ", "ΣΊΣΥΦΟΣ", id="final-sigma"),
        pytest.param("rapport", "ＲＡＰＰＯＲＴ", "ＲＡＰＰＯＲＴ", id="full-width"),
        pytest.param("ガイド", "ｶﾞｲﾄﾞを書く", "ｶﾞｲﾄﾞ", id="half-width-kana"),
        pytest.param(
            "한국", "\u1112\u1161\u11ab\u1100\u116e\u11a8 글", "\u1112\u1161\u11ab\u1100\u116e\u11a8", id="jamo"
        ),
        pytest.param("요약", "이 글을 요약해 줘", "요약", id="hangul"),
        pytest.param("H2O", "H₂O", "H₂O", id="subscript"),
        pytest.param("½", "1⁄2", "1⁄2", id="fraction"),
        pytest.param("отчёт", "НАПИШИ ОТЧЁТ", "ОТЧЁТ", id="cyrillic"),
        pytest.param("ṩ", "s\u0307\u0323", "s\u0307\u0323", id="marks-in-another-order"),
        pytest.param("ḹ", "l\u0304\u0323", "l\u0304\u0323", id="a-letter-that-shrinks-with-its-last-mark"),
        pytest.param("deploy 🚀", "Deploy 🚀 now", "Deploy 🚀", id="emoji"),
        pytest.param("👩‍💻 work", "👩‍💻 WORK", "👩‍💻 WORK", id="joined-emoji"),
        pytest.param("می‌خواهم", "می‌خواهم بنویسم", "می‌خواهم", id="persian-with-joiner"),
        pytest.param("run tests", "please run\u200b tests", "run\u200b tests", id="zero-width-space"),
        pytest.param("run\u2060 tests", "run tests", "run tests", id="word-joiner-in-the-phrase"),
        pytest.param("summarise", "sum\u00admarise it", "sum\u00admarise", id="soft-hyphen"),
        pytest.param("summarise", "\u00adsummarise\u00ad", "summarise", id="soft-hyphens-around"),
        pytest.param(
            "zusammenfassung", "eine Zusammen\u00adfassung für mich", "Zusammen\u00adfassung", id="with-umlauts"
        ),
        pytest.param("❤ mail", "a ❤\ufe0f mail", "❤\ufe0f mail", id="selector-in-the-task"),
        pytest.param("❤\ufe0f mail", "a ❤ mail", "❤ mail", id="selector-in-the-phrase"),
        pytest.param("❤", "❤\ufe0f", "❤\ufe0f", id="a-selector-belongs-to-its-emoji"),
        pytest.param("run python", "\u202erun\u202c python", "run\u202c python", id="direction-marks"),
        pytest.param("python", "py\U000e0041thon", "py\U000e0041thon", id="tags"),
        pytest.param("python", "py\u034fthon", "py\u034fthon", id="grapheme-joiner"),
        pytest.param("python", "py\u3164th\uffa0on", "py\u3164th\uffa0on", id="hangul-fillers"),
        pytest.param("don't stop", "please don’t stop", "don’t stop", id="apostrophe"),
        pytest.param("don’t stop", "don't stop", "don't stop", id="apostrophe-in-the-phrase"),
        pytest.param("don't", "don´t", "don´t", id="acute-as-apostrophe"),
        pytest.param('say "hi"', "say „hi“", "say „hi“", id="quotes"),
        pytest.param('"hi"', "« hi »", None, id="a-blank-inside-of-quotes-counts"),
        pytest.param("to-do list", "a to‑do list", "to‑do list", id="hyphen-that-does-not-break"),
        pytest.param("a - b", "a — b", "a — b", id="dash"),
        pytest.param("code review", "code\u2009review", "code\u2009review", id="thin-blank"),
        pytest.param("code review", "code\u202freview", "code\u202freview", id="narrow-no-break-blank"),
        pytest.param("كتاب", "كِتَابٌ جديد", "كِتَابٌ", id="arabic-vowel-marks"),
        pytest.param("كِتَاب", "كتاب", "كتاب", id="arabic-vowel-marks-in-the-phrase"),
        pytest.param("كتاب", "كتـــاب", "كتـــاب", id="tatweel"),
        pytest.param("قرآن", "القرا\u0653ن", "قرا\u0653ن", id="madda-makes-another-letter"),
        pytest.param("colaboração", "colaboracao", None, id="cedilla-and-tilde-count"),
        pytest.param("a\udcffb", "A\udcffB", "A\udcffB", id="lone-surrogate"),
    ],
)
def test_a_phrase_is_found_whatever_its_spelling(phrase: str, task: str, hit: str | None) -> None:
    assert find(phrase, task) == hit


@pytest.mark.parametrize(
    ("phrase", "task", "hit"),
    [
        pytest.param("gate", "investigate the test", False, id="inside-a-word"),
        pytest.param("gate", "open the gate", True, id="at-the-end"),
        pytest.param("gate", "gate", True, id="the-whole-task"),
        pytest.param("gate", "gates", False, id="plural"),
        pytest.param("gate", "gate7", False, id="digit-after"),
        pytest.param("gate", "7gate", False, id="digit-before"),
        pytest.param("gate", "the gate, please", True, id="comma"),
        pytest.param("gate", "“gate”", True, id="typographic-quotes"),
        pytest.param("gate", "open_gate_now", True, id="underscore-is-no-letter"),
        pytest.param("gate", "air-gate", True, id="hyphen"),
        pytest.param("gate", "investigate, then open the gate", True, id="a-later-place-counts"),
        pytest.param("c++", "write c++ code", True, id="c++"),
        pytest.param("c++", "write C++.", True, id="c++-and-a-dot"),
        pytest.param("c++", "abc++ code", False, id="c++-behind-a-letter"),
        pytest.param("c++", "c++11", False, id="c++-before-a-digit"),
        pytest.param("c++", "c+++", True, id="c++-before-a-sign"),
        pytest.param(".net", "a .net app", True, id=".net"),
        pytest.param(".net", "asp.net", False, id=".net-behind-a-letter"),
        pytest.param(".net", ".network", False, id=".net-before-a-letter"),
        pytest.param("c#", "in c# please", True, id="c#"),
        pytest.param("r", "use r for it", True, id="one-letter"),
        pytest.param("r", "your order", False, id="one-letter-inside"),
        pytest.param("übung", "die Übung", True, id="umlaut"),
        pytest.param("übung", "Vorübung", False, id="umlaut-inside"),
        pytest.param("ubung", "übung", False, id="accent-before"),
        pytest.param("caf", "cafe\u0301", False, id="decomposed-letter-after"),
        pytest.param("x", "x\u0301", False, id="mark-without-a-composed-letter"),
        pytest.param("отчёт", "напиши отчёт.", True, id="cyrillic"),
        pytest.param("отчёт", "отчёты", False, id="cyrillic-plural"),
        pytest.param("क", "कि", False, id="devanagari-vowel-sign"),
        pytest.param("कि", "कि", True, id="devanagari-with-its-vowel-sign"),
        pytest.param("लिख", "मुझे लिख दो", True, id="devanagari-word"),
        pytest.param("लिख", "लिखना", False, id="devanagari-inside"),
        pytest.param("שלום", "אמר שלום", True, id="hebrew"),
        pytest.param("שלום", "ושלום", False, id="hebrew-prefix"),
        pytest.param("翻訳", "文章を翻訳する", True, id="japanese-as-substring"),
        pytest.param("翻译", "请翻译这段话", True, id="chinese-as-substring"),
        pytest.param("แปล", "ช่วยแปลข้อความ", True, id="thai-as-substring"),
        pytest.param("བསྒྱུར", "ཡིག་ཆ་བསྒྱུར་རོགས", True, id="tibetan-as-substring"),
        pytest.param("ꦠꦸꦭꦶꦱ꧀", "ꦏꦸꦭꦠꦸꦭꦶꦱ꧀", True, id="javanese-as-substring"),
        pytest.param("⚙", "the ⚙\ufe0f settings", True, id="emoji-with-its-selector"),
        pytest.param("gate", "❤\ufe0fgate", True, id="behind-an-emoji"),
        pytest.param("python", "pythonを使う", True, id="latin-before-kana"),
        pytest.param("python", "使python", True, id="latin-behind-han"),
        pytest.param("python", "使pythonic", False, id="latin-inside-before-han"),
        pytest.param("요약", "글 요약 해줘", True, id="hangul-word"),
        pytest.param("요약", "글을 요약해", False, id="hangul-has-blanks"),
        pytest.param("번역", "이 글의 번역을 부탁해", True, id="hangul-particle"),
        pytest.param("번역", "번역에서는 빼 줘", True, id="two-hangul-particles"),
        pytest.param("번역", "번역사에게", False, id="another-hangul-word"),
        pytest.param("보고서", "월간보고서를", False, id="hangul-inside"),
        pytest.param("gate", "ｇａｔｅｓ", False, id="full-width-neighbour"),
        pytest.param("gate", "gate²", False, id="superscript-is-a-digit"),
        pytest.param("code review", "a code\n review!", True, id="two-words"),
        pytest.param("code review", "unicode review", False, id="two-words-inside"),
    ],
)
def test_whole_words_know_every_script(phrase: str, task: str, hit: bool) -> None:
    assert (find(phrase, task, word=True) is not None) is hit


@pytest.mark.parametrize(
    ("text", "normalised"),
    [
        pytest.param("", "", id="empty"),
        pytest.param("   ", " ", id="blank"),
        pytest.param(" a ", " a ", id="edges-are-kept"),
        pytest.param("\n\na\t\tb\r\n", " a b ", id="runs-at-the-edges"),
        pytest.param("a\x1fb", "a b", id="unit-separator"),
        pytest.param("a\u200bb", "ab", id="zero-width-space-is-not-seen"),
    ],
)
def test_white_space(text: str, normalised: str) -> None:
    assert normalise(text) == normalised


# What moves when it is normalised, beside any other character.
_MOVING = (
    "ßẞİıﬁﬃŉΐǰ½①ｱﾞΣς´¨\u0301\u0304\u0307\u0308\u0323\u0345\u1100\u1161\u11a8가각ḹe l\u00a0\u3000\u2028\u0958\ufdfa\u212b"
)
_TEXTS = st.text(st.sampled_from(_MOVING) | st.characters(), max_size=12)


@settings(max_examples=400, deadline=None)
@given(_TEXTS, st.integers(0, 20), st.integers(1, 20))
@example("\u3000İﾞ", 1, 2)
@example("\u212b\u0323ΐ", 1, 2)
def test_a_span_holds_what_was_found(task: str, start: int, size: int) -> None:
    phrase = normalise(task)[start : start + size]
    assume(phrase and normalise_phrase(phrase) == phrase)
    found = find(phrase, task)
    assert found is not None
    assert phrase in normalise(found)


@settings(max_examples=300, deadline=None)
@given(_TEXTS.filter(normalise_phrase), st.booleans())
def test_every_text_holds_itself(text: str, word: bool) -> None:
    assert find(text, text, word=word) is not None


def test_a_run_of_marks_takes_no_longer_than_other_text() -> None:
    """Putting marks in order takes the square of their number; 400,000 would take minutes."""
    marks = "\u0301\u0323" * 200_000
    assert find("run tests", f"a{marks} run tests") == "run tests"
    assert len(normalise("a" + marks)) <= 31
