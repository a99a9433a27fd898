"""Text into terms: folded words, so that two texts share a term across case, accents and near spellings.

Folding is coarse on purpose. It only ranks recipes; triggers are matched elsewhere, and exactly.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

# What is read of a text. A long task says what it wants at its start or its end, and quotes its material between.
_HEAD, _TAIL = 3_000, 1_000

_PIECE = re.compile(r"\d+|[^\W\d_]+")  # digits apart: "mp3" and "mp-3" are the same two terms

# Runs of scripts without spaces (Thai, Lao, Burmese, Khmer, kana, Han) are read as their overlapping pairs.
_SPACELESS = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+"
)

# One sound, spelled the English, the German or an ASCII-only way: music Musik, photo Foto, grösse groesse.
_SPELLING = {"sch": "sh", "ph": "f", "th": "t", "ck": "k", "c": "k", "y": "i", "ae": "a", "oe": "o", "ue": "u"}
_SPELLED = re.compile("|".join(_SPELLING))
_DOUBLED = re.compile(r"(.)\1")

_FUNCTION_WORDS = """
a an the this that these those i me my myself we us our you your he him his she her it its they them their
am is are was were be been being do does did have has had can could will would shall should may might must
and or but nor if than then so as of at by for from in into on onto to with without about
what which who whom whose when where why how there here not no yes please some any all also just
ich mich mir mein meine meinen meinem meiner du dich dir dein deine er ihn ihm sie ihr ihre wir uns unser es
der die das den dem des ein eine einen einem einer eines dieser diese dieses
bist ist sind sein habe hast haben wird werden kann kannst können soll sollen muss
und oder aber wenn als wie was wer wo wann warum welche welcher welches
im an am auf aus bei mit nach von vom vor zu zum zur für über um durch ohne nicht kein keine bitte auch nur
"""


def terms(text: str) -> list[str]:
    """The terms of a text in its order, repeated as often as they stand there. Any string will do."""
    if len(text) > _HEAD + _TAIL:
        text = f"{text[:_HEAD]} {text[-_TAIL:]}"
    if not text.isascii():
        decomposed = unicodedata.normalize("NFKD", text)
        bare = "".join(char for char in decomposed if not unicodedata.category(char).startswith("M"))
        text = _SPACELESS.sub(_pairs, bare)
    return [_spelling_folded(word) for word in _PIECE.findall(text.casefold())]


def _pairs(run: re.Match[str]) -> str:
    chars = run[0]
    return f" {' '.join(chars[start : start + 2] for start in range(max(1, len(chars) - 1)))} "


@lru_cache(maxsize=16_384)  # few words make most of a library
def _spelling_folded(word: str) -> str:
    if len(word) <= 3:  # short words have no letter to spare: "off" is not "of"
        return word
    return _DOUBLED.sub(r"\1", _SPELLED.sub(lambda match: _SPELLING[match[0]], word))


FUNCTION_TERMS = frozenset(terms(_FUNCTION_WORDS))
"""English and German words that say little about a task. Nothing here may name a subject in either language."""
