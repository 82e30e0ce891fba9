"""Pages that stand in the place of what was asked for: a challenge, an answer with an error, an error of the browser.

What such a page says of itself is its title or its heading, whole, and there is little else on it. The same words in a
sentence, among others in a list, or above an article are what a page is about.
"""

from __future__ import annotations

import re
from typing import Final

from curation.filters.failure_talk import (
    first_sentence,
    is_little_else,
    is_nothing_but_a_challenge,
    is_nothing_but_trouble,
    plain,
)
from curation.filters.failure_wordings import (
    AMBIGUOUS,
    BROWSER,
    CHALLENGE,
    CHALLENGE_HEADING,
    CHALLENGE_TITLE,
    CODES,
    JSON,
    REMEDY,
    ROBOT,
    START_PAGE,
    STATUS,
    STOPPED,
    UNCAPTURED,
    WITHOUT_SCRIPTS,
)
from curation.filters.screen_labels import Screen, num_words, read_screen

MOST_WORDS: Final = 400
"""No failure says more: the longest are shops' pages with all their menus."""
_MOST_PROSE: Final = 110
"""Words in sentences on a page whose title is an HTTP status."""
_PROSE_WORDS: Final = 7
_LITTLE: Final = 60
"""Words on a page whose title says nothing of a failure, and whose heading does."""
_NEXT_TO_NOTHING: Final = 14
"""Words of the note that there is no state, or no script."""
_FIRST: Final = 3
_MOST_PARTS: Final = 2
_LINK_WORDS: Final = 4
"""Of the names of a site's parts: links of more words are what the page shows."""
_LONGEST: Final = 300
"""Characters of what a page says of itself: what is longer tells a story, and is not worth the patterns."""

_RAW: Final = re.compile(
    r"Cannot (?:GET|HEAD|POST|PUT|PATCH|DELETE) /\S*|[\w.]*(?:Error|Exception|DoesNotExist) (?:at|in) (?:(?:GET"
    r"|POST) )?/\S*"
)
"""What loses its meaning without its punctuation."""
_SEPARATOR: Final = re.compile(r"\s+[-–—|·•»›:/]+\s+|\s*\|\s*|:\s+(?=[A-Z\d])|(?<=\d): ")
_HOST: Final = re.compile(r"[\w-]+(?:\.[\w-]+)+(?::\d+)?")

_ABOUT_PART: Final = re.compile(
    r"search|issues?|tickets?|bugs?|pull|merge|posts?|threads?|articles?|wiki\w*|mdn|questions?|stack|tutorial|lyrics"
)
"""Words of a title's other parts that name a place where failures are spoken of."""
_ABOUT_HEADING: Final = re.compile(
    r"description|syntax|examples?|specifications?|see also|directives|status|notes?|references?|comments?|related.*"
    r"|overview|history|(?:possible )?(?:causes?|solutions?)|how (?:to|do|it) .*|steps? .*|discussion|activity|labels"
    r"|(?:\d+ )?(?:answers?|comments?|replies|questions?|reviews)|symptoms?|resolution|contents"
)
_ABOUT_ACTION: Final = re.compile(
    r"add to (?:cart|basket|bag|wish ?list|list)|buy(?: now)?|reply|(?:add (?:a )?)?comments?|upvote|clap|save|edit"
    r"|delete(?: \S+)?|close issue|new issue|merge|approve|assign|resolve|archive|play|run|export|blame|raw|forward"
    r"|add (?:an? )?answer|mark as .*|contact seller"
)
_ABOUT_TEXT: Final = re.compile(
    r"(?:asked|viewed|modified|answered|posted|published|opened|created|updated|reported|issue created"
    r"|last \w+)\b.{0,60}"
    r"\b(?:ago|today|yesterday|times|by|\d{4})\b.*"
    r"|(?:\S+ ){0,3}(?:\d[\d ]*k?|one) (?:comments?|answers?|replies|reviews?|points|upvotes|votes|events?|hits"
    r"|followers|views|likes|issues?)(?: \S+){0,2}|\d+ min(?:ute)?s? read|(?:assignee|reporter|priority|labels?"
    r"|milestone)(?: .{1,40})?"
    r"|in stock|paperback|out of stock|sort(?:ed)? by.*|see also|related (?:articles|posts|questions)"
    r"|.*\b(?:status|response|error|message|code)\b.{0,60}\b(?:indicates|means|tells)\b.*"
    r"|.*\bthis (?:article|guide|post|tutorial|chapter|lesson|video|thread)\b.*"
)
_ABOUT_RAW: Final = re.compile(r"[$€£¥₽₹]\s?\d|\d\s?(?:€|USD|EUR|zł)(?!\w)|^[Bb]y [A-Z]\w+ [A-Z]|^by [A-Z]\. [A-Z]")
_QUESTION: Final = re.compile(r"怎么|如何|什么|原因|方法|とは|対処|원인|방법|해결|[?？]")
_STATUS_CODE: Final = re.compile(r"\b(?:40[0-9]|41[0-9]|42[29]|451|50[0-8])\b")
_MOST_CODES: Final = 2
"""Different statuses on one page: what lists more is a list."""
_FORM_FREE: Final = re.compile(r".*(?:address|search|url|character|captcha|letter|code|answer|symbol|验证码).*")
"""Inputs that pages have which ask for nothing but an answer."""


def is_failure(written: str) -> bool:
    """Whether a screen, as it is written down, is such a page, or an empty one."""
    screen = read_screen(written, MOST_WORDS)
    if _is_nothing(screen):
        return True
    if screen.num_words > MOST_WORDS or _is_about_something(screen):
        return False
    return any(_is_failing_title(title, screen) for title in screen.titles) or _says_it_failed(screen)


def _is_nothing(screen: Screen) -> bool:
    """Whether nothing is there, or only the note that it was not recorded; what is still loading will be there."""
    if screen.num_words == 0:
        return screen.num_nodes <= 1 and not any(map(START_PAGE.fullmatch, map(str.lower, screen.titles)))
    if screen.num_words > _NEXT_TO_NOTHING or screen.inputs or screen.checkboxes:
        return False
    said = [plain(text) for text in (*screen.headings, *screen.texts, *screen.buttons, *screen.links, *screen.pictures)]
    if said and all(map(WITHOUT_SCRIPTS.fullmatch, said)):
        return True
    return not screen.titles and len(said) == 1 and bool(UNCAPTURED.fullmatch(said[0]))


def _is_about_something(screen: Screen) -> bool:
    """Whether there is what stands beside a subject: replies, prices, chapters, a list of many failures."""
    said = (*screen.headings, *screen.texts)
    codes = {code for text in said if len(text) <= _LONGEST for code in _STATUS_CODE.findall(text)}
    return (
        len(codes) > _MOST_CODES
        or any(_ABOUT_HEADING.fullmatch(plain(text)) for text in screen.headings)
        or any(_ABOUT_ACTION.fullmatch(plain(text)) for text in (*screen.buttons, *screen.links, *screen.texts))
        or any(_ABOUT_TEXT.fullmatch(plain(text)) or _ABOUT_RAW.search(text) for text in said if len(text) <= _LONGEST)
    )


def _is_failing_title(title: str, screen: Screen) -> bool:
    """Whether a title tells of a failure, and of nothing more but whose page it is."""
    if len(title) > _LONGEST:
        return False
    whole, *parts = map(plain, (title, *_SEPARATOR.split(title)))
    if any(wording.fullmatch(text) for wording in (CHALLENGE_TITLE, CHALLENGE) for text in (whole, *parts)):
        return len(parts) <= _MOST_PARTS
    others = [part for part in parts if not STATUS.fullmatch(part)]
    told = [part for part in (whole, *parts) if STATUS.fullmatch(part)]
    if _RAW.fullmatch(title):
        told = [whole]
    if not told or (told[0] != whole and len(others) > 1):
        return False
    if any(_ABOUT_PART.fullmatch(word) for part in others for word in part.split()):
        return False
    if all(map(AMBIGUOUS.fullmatch, told)):
        return not others and screen.num_words <= _LITTLE
    return _num_prose_words(screen) <= _MOST_PROSE


def _says_it_failed(screen: Screen) -> bool:
    """Whether a page whose title does not tell it says that it failed, and little else."""
    titles = " ".join(map(plain, screen.titles))
    said = (*screen.headings, *screen.texts)
    if screen.num_words <= _LITTLE and (_opens_with_failure(screen, titles) or _talks_of_failure(screen, titles)):
        return True
    if screen.num_words <= _LITTLE and len(said) <= _MOST_PARTS and any(_tells(text, titles, JSON) for text in said):
        return True
    if not _is_form(screen):
        if any(ROBOT.fullmatch(plain(box)) for box in screen.checkboxes):
            return True
        if any(_tells(text, titles, CHALLENGE) for text in said):
            return True
    return _num_prose_words(screen) <= _MOST_PROSE and any(_tells(text, titles, CODES) for text in said)


def _opens_with_failure(screen: Screen, titles: str) -> bool:
    """Whether the first that a page says is a failure, signs and names that stand before left out."""
    if _is_form(screen):
        return False
    first = screen.texts[: _FIRST if screen.headings or not screen.titles else 1]
    if all(REMEDY.fullmatch(plain(label)) for label in screen.buttons):
        opening = (*screen.headings[:1], *first[: _FIRST if screen.buttons else 1])
        if any(_tells(text, titles, STOPPED) for text in opening):
            return True
    wordings = (STATUS, BROWSER, CHALLENGE_HEADING)
    for heading in screen.headings:
        if _tells(heading, titles, *wordings):
            return True
        if not _is_sign(heading):
            return False
    first = [text for text in first if not _is_sign(text)]
    told = [place for place, text in enumerate(first) if _tells(text, titles, *wordings)]
    return bool(told) and (told[0] == 0 or is_little_else(screen.texts, screen.buttons))


def _talks_of_failure(screen: Screen, titles: str) -> bool:
    """Whether all that a page says belongs to a failure, in words of its own."""
    if _is_form(screen) or any(map(_ABOUT_PART.fullmatch, titles.split())):
        return False
    headings = [heading for heading in screen.headings if not _is_sign(heading)]
    texts = [text for text in screen.texts if not _is_sign(text)]
    if any(_is_subject(plain(heading), titles) for heading in headings):
        return False
    links = (link for link in screen.links if num_words(link) > _LINK_WORDS)
    said = (*headings, *texts, *screen.entries, *links)
    return is_nothing_but_trouble(headings or texts, said, screen.buttons) or is_nothing_but_a_challenge(
        (*headings, *texts), said, screen.buttons
    )


def _is_form(screen: Screen) -> bool:
    return not all(_FORM_FREE.fullmatch(plain(name)) for name in screen.inputs)


def _is_subject(text: str, titles: str) -> bool:
    """Whether a text, as `plain` leaves it, is part of a longer title: then it is what the page is about."""
    return text in titles and len(titles.split()) > len(text.split())


def _is_sign(text: str) -> bool:
    """Whether a text says by itself neither what failed nor what there is."""
    return bool(AMBIGUOUS.fullmatch(plain(text)) or _HOST.fullmatch(text))


def _tells(text: str, titles: str, *wordings: re.Pattern[str]) -> bool:
    """Whether a text, or the first sentence of it, is one of these; not where it is what a page is about."""
    for said in dict.fromkeys((text, first_sentence(text))):
        words = plain(said)
        if _is_subject(words, titles) or len(said) > _LONGEST or (said != text and AMBIGUOUS.fullmatch(words)):
            continue
        if _RAW.fullmatch(said) or any(wording.fullmatch(words) for wording in wordings):
            return not _QUESTION.search(said) or bool(CHALLENGE_HEADING.fullmatch(words)) or STATUS not in wordings
    return False


def _num_prose_words(screen: Screen) -> int:
    lengths = (num_words(text) for text in (*screen.headings, *screen.texts))
    return sum(length for length in lengths if length >= _PROSE_WORDS)
