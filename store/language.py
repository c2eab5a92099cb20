"""Which language a query is in, as far as search must know: English, Chinese, or one that it cannot answer."""

import re
import unicodedata

ENGLISH, CHINESE = "English", "Chinese"
_MOST = 0.3
"""Share of the letters that must be of a script for the text to be in it."""
_SCRIPTS = {
    "Japanese": re.compile("[\u3040-\u30ff\uff66-\uff9f]"),
    "Korean": re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]"),
    "Russian or another language in Cyrillic script": re.compile("[\u0400-\u052f]"),
    "Greek": re.compile("[\u0370-\u03ff\u1f00-\u1fff]"),
    "Arabic or Persian": re.compile("[\u0600-\u06ff\u0750-\u077f]"),
    "Hebrew": re.compile("[\u0590-\u05ff]"),
    "Hindi or another language in Devanagari script": re.compile("[\u0900-\u097f]"),
    "Thai": re.compile("[\u0e00-\u0e7f]"),
}
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_WORDS = {
    ENGLISH: "the a an of to and in is are for with that on by it not from when as at be this my our which after "
             "how why every each one only but has have does than".split(),
    "German": "der die das und ist nicht mit für ein eine auf von zu den dem des im wird werden sich auch wie bei nur "
              "zwischen jeder jede jedes wenn warum wegen sind kann langsam".split(),
    "French": "le la les des une est pas avec pour dans sur que qui du au aux sont ne se ce cette comment trop très "
              "chaque entre pourquoi par".split(),
    "Spanish": "el la los las una es con para en que del por se cada muy como cuando entre al su más porque son "
               "lento".split(),
    "Portuguese": "os as uma não com para em que do da dos das por cada muito como quando entre ao mais são é".split(),
    "Italian": "il lo gli una è non con per di che del della dei delle ogni molto come quando tra sono perché".split(),
    "Dutch": "het een en niet met voor van op zijn wordt worden elke te bij naar maar hoe waarom".split(),
    "Polish": "jest nie się na do że jak przez każdy dla są oraz czy".split(),
    "Turkish": "ve bir bu için ile çok her neden nasıl değil olarak kadar daha".split(),
    "Vietnamese": "là của và không các một cho với được trong khi tại sao mỗi".split(),
}

_KNOWN = {language: frozenset(words) for language, words in _WORDS.items()}


def language_of(text: str) -> str:
    """The language of a text: `ENGLISH`, `CHINESE`, or the name of another. Short texts count as English."""
    joined = "".join(filter(str.isalpha, unicodedata.normalize("NFKC", text)))
    if not joined:
        return ENGLISH
    for language, script in () if joined.isascii() else _SCRIPTS.items():
        # A few kana make a text Japanese whatever the number of its kanji.
        if len(script.findall(joined)) >= _MOST * len(joined) * (0.4 if language == "Japanese" else 1.0):
            return language
    if _HAN.search(joined):
        return CHINESE
    words = re.findall(r"[^\W\d_]+", text.lower())
    counts = {language: sum(map(known.__contains__, words)) for language, known in _KNOWN.items()}
    likely = max(counts, key=lambda language: counts[language])
    return likely if counts[likely] >= 2 and counts[likely] > 2 * counts[ENGLISH] else ENGLISH
