"""Pages that stand in the place of what was asked for: a challenge, an answer with an error, an error of the browser.

What such a page says of itself is its title or its heading, whole, and there is little else on it. The same words in a
sentence, among others in a list, or above an article are what a page is about.
"""

from __future__ import annotations

import re
from typing import Final

from curation.filters.screen_labels import Screen, read_screen

MOST_WORDS: Final = 400
"""No failure says more: the longest are shops' pages with all their menus."""
_MOST_PROSE: Final = 110
"""Words in sentences on a page whose title is an HTTP status."""
_PROSE_WORDS: Final = 7
_LITTLE: Final = 60
"""Words on a page whose title says nothing of a failure, and whose heading does."""
_FIRST: Final = 3
_MOST_PARTS: Final = 2

_CODE: Final = r"(?:(?:https?|server|error|status|code) )*[45]\d\d(?: \d{1,2})?"
_THING: Final = (
    r"(?:(?:the|this|that|your) )?(?:requested )?"
    r"(?:web ?page|page|site|website|url|file|resource|document|server|address|file or directory|link|content|account)"
    r"(?: (?:that )?you (?:requested|visited|entered|are looking for|were looking for|re looking for))?"
)
_MEANINGS: Final = (
    rf"(?:{_THING} )?(?:(?:was|is|could|can) )?(?:not|cannot|cant|couldnt|isnt|wasnt) (?:be )?"
    r"(?:found|available)(?: right now)?",
    rf"{_THING} (?:does not|doesnt|no longer) exists?(?: anymore| or .*)?",
    r"bad request|unauthori[sz]ed|authori[sz]ation required|payment required|method not allowed|not acceptable",
    r"(?:access |error )?forbidden|(?:access|permission) (?:is |was )?denied|no access|blocked",
    r"(?:request )?time ?out|gone|(?:request entity|content|payload) too large|request uri too long|too many requests",
    r"internal (?:server )?error|server error|not implemented|bad gateway|proxy error|gateway time ?out",
    r"(?:service |server )?(?:is )?(?:temporarily )?unavailable|backend fetch failed|loop detected",
    r"web server is (?:down|returning an unknown error)|connection timed out|origin is unreachable|a timeout occurred",
    r"ssl handshake failed|invalid ssl certificate|origin dns error",
    r"error|unknown error|database error|error establishing a database connection|no healthy upstream",
    r"fastly error .*|whitelabel error page|routing error|no route found for .*|page expired",
    r"upstream connect error .*|there (?:has been|was) an? (?:\w+ )?error(?: .*)?",
    r"an error (?:has )?occurred(?: while .*)?",
    r"application error(?: a client side exception has occurred.*)?",
    r"(?:were sorry but )?something went wrong|(?:an )?unexpected error(?: has)? occurred",
    r"(?:error )?the request(?:ed url)? could not be (?:satisfied|retrieved)",
    r"problem loading page|privacy error|cannot (?:get|post|put|delete) \S.*",
    r"seite nicht gefunden|zugriff verweigert|p[aá]gina no encontrada|acceso denegado|page (?:introuvable|non trouvée)",
    r"accès refusé|pagina non trovata|страница не найдена|доступ запрещен|页面不存在|页面未找到|访问被拒绝",
)
_MEANING: Final = "|".join(_MEANINGS)
_STATUS: Final = re.compile(
    rf"(?:(?:whoops|o+ps|uh oh|sorry|hmm|error) )?(?:{_CODE}|(?:{_CODE} )?(?:{_MEANING})(?: {_CODE}| 1)?)"
    rf"|(?:{_MEANING}) error code [45]\d\d|iis \d+ \d+ detailed error"
)
_AMBIGUOUS: Final = re.compile(rf"{_CODE}|error|forbidden|blocked|gone|unavailable|time ?out|unauthori[sz]ed|no access")
"""What may as well be the name of something."""
_CHALLENGE_TITLE: Final = re.compile(
    r"just a moment|attention required|access to this page has been denied|robot or human"
    r"|are you (?:not )?(?:a )?(?:human|robot)|(?:human |security |bot |robot )(?:verification|check|challenge)"
    r"|.*\bused cloudflare to restrict access|\S*(?:安全|人机)验证|验证码拦截"
)
_CHALLENGE: Final = re.compile(
    r"(?:sorry )?you have been blocked|your request has been blocked .*|you are being rate limited"
    r"|.* unusual traffic from your (?:computer )?network|request unsuccessful incapsula incident .*"
    r"|(?:please |lets |sorry )?(?:we just need to )?(?:confirm|verify|prove|make sure)(?:ing)? (?:that )?"
    r"(?:you are|youre) (?:a |really )?(?:human|not a (?:ro)?bot)(?: by .*| this may .*| for best .*)?"
    r"|(?:press|click|activate) (?:and )?(?:press )?hold .*(?:confirm|verify).*"
    r"|.*needs to review the security of your connection.*|checking your browser before accessing .*"
    r"|please enable js and disable any ad blocker|please verify yourself to continue"
    r"|checking if the site connection is secure|checking your browser"
    r"|(?:please )?(?:enter|type) the (?:characters|letters|text) (?:you )?(?:see|shown|in the image).*"
    r"|(?:please )?(?:solve|complete) the (?:captcha|security check|puzzle|(?:following )?challenge)"
    r"(?: (?:to|below) .*)?|select all (?:images|squares) (?:with|containing).*"
    r"|(?:drag|slide) .*(?:puzzle|to secure your access|to verify).*"
    r"|.*(?:请完成.*验证|(?:拖动|按住)滑块).*"
)
"""What challenges ask for, and what walls say."""
_ROBOT: Final = re.compile(r"im not a robot|(?:i am|im) human|verify you are human")
_BROWSER: Final = re.compile(
    r"this (?:site|page|webpage) (?:cant|cannot) be (?:reached|found|displayed)|this page isnt working"
    r"|\S.* refused to connect|hmm were having trouble finding that site|unable to connect|server not found"
    r"|no internet(?: connection| access)?|youre offline|you are offline|no (?:network )?connection"
    r"|your connection is(?: not|nt) private|warning potential security risk ahead|web ?page not available|aw snap"
    r"|check if there is a typo in .*|safari cant .*|failed to open page|hmm+ cant reach this page"
    r"|connect to the internet|your connection was interrupted|the connection was reset"
    r"|(?:cant|cannot|couldnt|could not|unable to|failed to) (?:reach|connect|load|open|find)"
    r"(?: (?:to|the|your|this|that|our|page|server|network|internet|data|content|url|site)\b.*)?"
    r"|.* could not be loaded"
    r"|\S.* (?:keeps stopping|has stopped|isnt responding)|unfortunately \S.* has stopped"
)
_CODES: Final = re.compile(
    r"(?:net )?err (?:name|connection|internet|address|timed|ssl|cert|empty|too many|tunnel|http|network)\b.*"
    r"|dns probe (?:finished|possible|started)\b.*|http error [45]\d\d|error 1\d\d\d(?: ray id .*)?"
    r"|.*there has been a critical error on this website"
    rf"|(?:error )?(?:code|status|statuscode) [45]\d\d (?:message|error) .*|(?:message|detail) (?:{_MEANING})"
)
_SEPARATOR: Final = re.compile(r"\s+[-–—|·•»›:/]+\s+|\s*\|\s*|:\s+(?=[A-Z\d])|(?<=\d): ")
_SENTENCE: Final = re.compile(r"[.!?:]\s+")
_APOSTROPHE: Final = re.compile(r"['’‘ʼ`´]")
_NO_WORD: Final = re.compile(r"[\W_]+")

WORDS: Final = (
    r"not.{0,4} (be )?found|forbidden|denied|unauthori|bad (request|gateway)|error|unavailable|time-?out|timed out"
    r"|too (many|large|long)|captcha|robot|human|be (reached|displayed|satisfied|retrieved|loaded)|(n.{1,3}t|not) exist"
    r"|no longer exist|not (available|implemented|acceptable|private)|refused to|unable to|could not|couldn.{1,3}t"
    r"|can.{0,3}t (reach|connect|load|open|find)|failed to|trouble finding|cannot (get|post|put|delete)|offline"
    r"|no (internet|route|healthy|access|(network )?connection)|connect to the|err_|dns_probe|went wrong|blocked"
    r"|rate limited|just a moment|unusual traffic|security (check|verification|risk)|verif(y|ication)|challenge"
    r"|attention required|before accessing|characters you|letters you|select all|slide|\bdrag\b|hold|enable js"
    r"|stopping|has stopped|responding|aw, snap|isn.{1,3}t working|server is|handshake|unreachable|unsuccessful"
    r"|problem loading|\bgone\b|loop detected|reach this|interrupted|was reset|safari can|expired"
    r"|nicht gefunden|verweigert|no encontrada|denegado|introuvable|non trouv|refusé|не найдена|запрещен"
    r"|验证|滑块|不存在|未找到|拒绝|['\">\t][45]\d\d\b"
)
"""A regular expression, in small letters, that something in every failure's text matches."""


def is_failure(written: str) -> bool:
    """Whether a screen, as it is written down, is such a page, or an empty one."""
    screen = read_screen(written, MOST_WORDS)
    if screen.num_words == 0 and not any(screen.titles):
        return screen.num_nodes <= 1
    if screen.num_words > MOST_WORDS:
        return False
    return any(_is_failing_title(title, screen) for title in screen.titles) or _says_it_failed(screen)


def _is_failing_title(title: str, screen: Screen) -> bool:
    """Whether a title tells of a failure, and of nothing more but whose page it is."""
    whole, *parts = map(_plain, (title, *_SEPARATOR.split(title)))
    if any(wording.fullmatch(text) for wording in (_CHALLENGE_TITLE, _CHALLENGE) for text in (whole, *parts)):
        return len(parts) <= _MOST_PARTS
    others = [part for part in parts if not _STATUS.fullmatch(part)]
    told = [part for part in (whole, *parts) if _STATUS.fullmatch(part)]
    if not told or (told[0] != whole and len(others) > 1) or any("search" in part.split() for part in others):
        return False
    if all(map(_AMBIGUOUS.fullmatch, told)):
        return not others and screen.num_words <= _LITTLE
    return _num_prose_words(screen) <= _MOST_PROSE


def _says_it_failed(screen: Screen) -> bool:
    """Whether a page whose title does not tell it says that it failed, and little else."""
    if any(_ROBOT.fullmatch(_plain(box)) for box in screen.checkboxes):
        return True
    titles = " ".join(map(_plain, screen.titles))
    if screen.num_words <= _LITTLE:
        if any(_tells(heading, titles, _STATUS, _BROWSER) for heading in screen.headings[:1]):
            return True
        first = () if screen.headings else screen.texts[: 1 if screen.titles else _FIRST]
        if any(_tells(text, titles, _STATUS, _BROWSER) and not _AMBIGUOUS.fullmatch(_plain(text)) for text in first):
            return True
    return any(_tells(text, titles, _CHALLENGE, _CODES) for text in (*screen.headings, *screen.texts))


def _tells(text: str, titles: str, *wordings: re.Pattern[str]) -> bool:
    """Whether a text, or the first sentence of it, is one of these; not where it is what a page is about."""
    for said in {text, _SENTENCE.split(text, maxsplit=1)[0]}:
        plain = _plain(said)
        is_about = plain in titles and len(titles.split()) > len(plain.split())
        if not is_about and any(wording.fullmatch(plain) for wording in wordings):
            return True
    return False


def _num_prose_words(screen: Screen) -> int:
    lengths = (len(text.split()) for text in (*screen.headings, *screen.texts))
    return sum(length for length in lengths if length >= _PROSE_WORDS)


def _plain(text: str) -> str:
    """Its words alone, in small letters, apostrophes left out."""
    return _NO_WORD.sub(" ", _APOSTROPHE.sub("", text)).strip().lower()
