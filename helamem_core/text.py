"""One reading of text for every engine: index terms, keywords and size; English and Chinese.

What is stored and what is asked pass through `terms`, so that two engines cannot disagree about a
word. A Chinese run yields its words *and* its characters and all pairs of neighbours: the segmenter
may cut a memory and a question differently, characters and pairs are the same in both.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files
from itertools import chain
from typing import TYPE_CHECKING

import regex
from Stemmer import Stemmer

if TYPE_CHECKING:
    import rjieba

_CJK = r"\p{Han}\p{Hiragana}\p{Katakana}ー\p{Bopomofo}\p{Hangul}"
# Scripts written without spaces between words, or with particles glued on (Hangul); Han apart.
_PAIRED = r"\p{Hiragana}\p{Katakana}ー\p{Bopomofo}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_LETTER = rf"[[\p{{L}}\p{{M}}\p{{N}}]--[\p{{Han}}{_PAIRED}]]"
# A word, or an identifier: up to eight words joined. Bounded, because Lucene refuses huge terms and
# the cache holds each word; what is longer continues as the next token.
_WORD = r"LETTER{1,64}+(?:(?:[-_.:/@&'#+]|\+\+|::|__)LETTER{1,64}+){0,7}+(?:\+\+|\#)?"
_TOKEN = regex.compile(
    _WORD.replace("LETTER", _LETTER) + rf"|\p{{Han}}++|[{_PAIRED}][{_PAIRED}\p{{M}}]*+|\p{{Extended_Pictographic}}",
    regex.VERSION1,
)
_ASCII_TOKEN = re.compile(_WORD.replace("LETTER", "[A-Za-z0-9]"))  # the same, twice as fast
_HAN = regex.compile(r"\p{Han}")
_UNSPACED = regex.compile(rf"[{_PAIRED}]", regex.VERSION1)
_BETWEEN_PARTS = regex.compile(r"[^\p{L}\p{M}\p{N}]+")
_LATIN_ACCENT = regex.compile(r"(?<=[a-z])[\u0300-\u036f]+")
_CONTRACTION = regex.compile(r"'(?:s|ll|re|ve|d|m)$")
_LETTERS = regex.compile(r"\p{L}")
_CJK_LETTERS = regex.compile(rf"[[{_CJK}]&&\p{{L}}]", regex.VERSION1)
_SURROGATE = regex.compile(r"[\ud800-\udfff]")
# The groups of `count_tokens`, each with a weight of its own.
_COSTS = regex.compile(
    rf"([{_CJK}])|([A-Za-z]+)|(\p{{L}}[\p{{L}}\p{{M}}]*)|([\U00010000-\U0010ffff])|(\S|\n+)",
    regex.VERSION1,
)

_STOP = frozenset(
    word
    for line in files(__package__).joinpath("stopwords.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
    for word in line.split()
)
# Characters that end or glue a phrase and are part of no name: a pair with one of them says nothing.
_PARTICLES = frozenset("么吗呢吧啊呀嘛哦喔噢啦哎唉嗯们")
_PAIR = 2
_LONGEST = 16  # characters of a Chinese word; the segmenter makes one word of a run it does not know
_NUMBER = 3  # letters or digits from which an identifier or number is salient
_CACHED = 65_536  # words whose terms are kept; 100,000 turns have about 40,000
_RUN = 64  # characters of a run between spaces that is kept; longer ones are no words

Reading = tuple[Sequence[str], Sequence[str]]
"""Terms, and those of them that can be keywords."""


def clean(text: str) -> str:
    """Return text that every store and JSON can hold; the same object when nothing is amiss.

    NUL and lone surrogates become U+FFFD rather than vanish, so that no two words run together
    unseen. Two surrogates that form a pair become the character they encode.

    Args:
        text: any string, also one that no encoding accepts.
    """
    if not text.isascii() and _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\x00", "\ufffd")


def terms(text: str) -> list[str]:
    """Return the index terms of a text, with repetitions, token after token.

    - Words: NFKC, case folded, without Latin accents, contractions and stop words, English stems.
    - `agentic-os`, `2026-05-08`, `C++`, `foo_bar.py`: the whole, unstemmed, then its parts.
    - Chinese: the segmenter's words of three and more characters, all characters but stop words,
      all pairs of neighbours.
    - Kana, Hangul, Thai and other scripts without spaces: pairs. Emoji: themselves.

    A text of nothing but stop words keeps them, since it must be found by its own words;
    punctuation alone gives [].

    Args:
        text: any string. A term has no space and fewer than 1600 characters, mostly far fewer.
    """
    return _terms_of(_readings(text, candidates=False), text)


def keywords(text: str, limit: int = 3) -> list[str]:
    """Return the most salient distinct terms of a text, best first; each is in `terms(text)`.

    The rule is static, for a memory has no corpus to ask when its first turn arrives: a term weighs
    its length in letters, a Chinese character three; identifiers and numbers of three and more
    signs get 10 more. Equal weights keep the order of the text. Names weigh no more than other
    words: most are the speakers', which tell little. A text of stop words only has no keywords.

    Args:
        text: a query or a memory.
        limit: the most terms to return, >= 0.
    """
    return _keywords_of(_readings(text, terms=False), limit)


def index(text: str, limit: int) -> tuple[list[str], list[str]]:
    """Return `terms(text)` and `keywords(text, limit)` of one reading, which costs less than two."""
    readings = _readings(text)
    return _terms_of(readings, text), _keywords_of(readings, limit)


def cjk_share(text: str) -> float:
    """Return the share of letters that are Chinese, Japanese or Korean, in [0, 1]; 0 if none are."""
    letters = len(_LETTERS.findall(text))
    return len(_CJK_LETTERS.findall(text)) / letters if letters else 0.0


def count_tokens(text: str) -> int:
    """Return an estimate of the tokens a language model reads, meant to err upwards (>= 0).

    A CJK character counts 1; a Latin word 1 for each 6 letters begun; a word of another script 1
    for each 2; a character beyond the basic plane (emoji) 3; a digit, a mark, a run of line ends 1.

    Args:
        text: any string.
    """
    total = 0
    for cjk, latin, foreign, beyond, _ in _COSTS.findall(text):
        if latin:
            total += -(-len(latin) // 6)
        elif foreign:
            total += -(-len(foreign) // 2)
        else:
            total += 3 if beyond and not cjk else 1
    return total


def _terms_of(readings: Sequence[Reading], text: str) -> list[str]:
    found = [term for terms, _ in readings for term in terms]
    return found or [term for token in _tokens(text) for term in _unfiltered(token)]


def _keywords_of(readings: Sequence[Reading], limit: int) -> list[str]:
    found = dict.fromkeys([term for _, candidates in readings for term in candidates])
    return sorted(found, key=_salience, reverse=True)[: max(limit, 0)]


def _readings(text: str, *, terms: bool = True, candidates: bool = True) -> list[Reading]:
    """Return what each token says; of plain English each run between spaces, which no token crosses.

    What is not wanted may be left out, since the segmenter cuts Chinese once for either.
    """
    if text.isascii():
        return [_known(run) if len(run) <= _RUN else _read(run) for run in text.split()]
    return [(_token_terms(token) if terms else (), _candidates(token) if candidates else ()) for token in _tokens(text)]


def _read(run: str) -> Reading:
    """Read ASCII text without spaces."""
    each = [_word_terms(token) for token in _ASCII_TOKEN.findall(run)]
    return tuple(chain.from_iterable(each)), tuple(terms[0] for terms in each if terms)


_known = lru_cache(maxsize=_CACHED)(_read)


def _tokens(text: str) -> list[str]:
    """Return words, identifiers, unspaced runs and emoji, letter case kept."""
    if text.isascii():
        return _ASCII_TOKEN.findall(text)
    text = unicodedata.normalize("NFKC", text)
    return _TOKEN.findall(text.replace("\u2019", "'").replace("\u2010", "-"))


@lru_cache(maxsize=_CACHED)
def _word_terms(token: str) -> tuple[str, ...]:
    """Return the terms of one word or identifier of a spaced script."""
    word = _fold(token)
    if word in _STOP or word.endswith("n't"):
        return ()
    if word.isalpha():
        return (_stem(word),)
    parts = [part for part in _BETWEEN_PARTS.split(word) if part]
    stems = tuple(_stem(part) for part in parts if part not in _STOP)
    return stems if parts == [word] else (word, *stems)


def _token_terms(token: str) -> Sequence[str]:
    """Return the terms of a token of any script."""
    if token.isascii():
        return _word_terms(token)
    if _HAN.match(token):
        return _chinese_terms(token)
    return _pairs(token) or [token] if _UNSPACED.match(token) else _word_terms(token)


def _chinese_terms(run: str) -> list[str]:
    """Return the longer words, the characters and the pairs of a Chinese run."""
    words = [word for word in _segmenter().cut_for_search(run) if len(word) > _PAIR]
    return [*filter(_tells, words), *filter(_tells, run), *filter(_tells, _pairs(run))]


def _unfiltered(token: str) -> Sequence[str]:
    """Return what stands for a token when its whole text is stop words."""
    return [*token, *_pairs(token)] if _HAN.match(token) else (_fold(token),)


def _candidates(token: str) -> Sequence[str]:
    """Return those terms of a token that can be keywords: of Chinese the words as they are cut."""
    if _HAN.match(token):
        return [word for word in _segmenter().cut(token) if _tells(word)]
    return _token_terms(token)[:1]


@lru_cache(maxsize=_CACHED)
def _salience(term: str) -> int:
    """Return the weight of a term by the rule that `keywords` states."""
    if _HAN.match(term):
        return 3 * len(term)
    return len(term) + 10 * (len(term) >= _NUMBER and not term.isalpha())


def _fold(token: str) -> str:
    """Return a word without letter case, Latin accents and the contracted verb."""
    word = token.lower()
    if not word.isascii():
        word = unicodedata.normalize("NFKC", token.casefold())
        word = unicodedata.normalize("NFC", _LATIN_ACCENT.sub("", unicodedata.normalize("NFD", word)))
    return _CONTRACTION.sub("", word) if "'" in word else word


def _stem(word: str) -> str:
    """Return the English stem of a plain word, any other word as it is."""
    # A stemmer keeps state while it works: one for each cache miss needs no lock, and costs half a microsecond.
    return str(Stemmer("english", 0).stemWord(word)) if word.isascii() and word.isalpha() else word


def _pairs(run: str) -> list[str]:
    """Return all overlapping pairs of characters."""
    return [run[at : at + _PAIR] for at in range(len(run) - 1)]


def _tells(word: str) -> bool:
    """Say whether a Chinese word or pair carries meaning, by looking at nothing but itself."""
    if word in _STOP or len(word) > _LONGEST:
        return False
    return len(word) != _PAIR or not (_PARTICLES.intersection(word) or _STOP.issuperset(word))


@cache
def _segmenter() -> "rjieba.Jieba":
    """Return a segmenter of our own: words that others add to rjieba's must not reach our index."""
    import rjieba  # here, since loading the dictionary takes 0.2 s that English text never needs

    return rjieba.Jieba()
