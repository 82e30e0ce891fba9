"""Small screens that talk of nothing but a failure, whatever their words: told by what each sentence is about.

The first says what is in trouble and that it is; or what is to be proved and how. The others give advice, or say what
an engineer may want to know; the buttons try again or go away. Where more than a few words are about something else,
or a button does something with it, there is a world.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from curation.filters.screen_labels import num_words

_MOST_OTHER_WORDS: Final = 6
_MOST_OTHER_TEXTS: Final = 2
_STATEMENT_WORDS: Final = 18
_OPENING: Final = 2

_TROUBLE: Final = re.compile(
    r"\b(?:not|cannot|cant|couldnt|isnt|doesnt|wasnt|arent|havent|didnt|unable|fail(?:ed|s|ure)?|errors?|trouble"
    r"|problems?|unavailable|missing|invalid|broken?|crash(?:ed)?|wrong|denied|blocked|restricted|refused|rejected"
    r"|removed|deleted|disabled|suspended|expired|unresponsive|unreachable|interrupted|lost|timed out|down|offline"
    r"|deceptive|dangerous|unsafe|insecure|overloaded|busy|too (?:many|long)|no longer|ahead|behind|stopped|exception"
    r"|maintenance)\b"
)
_THING: Final = re.compile(
    r"\b(?:page|site|website|app|application|program|server|service|url|link|address|domain|host|resource|content"
    r"|request|response|route|connection|connect(?:ed)?|network|internet|browser|tab|gateway|upstream|system|deployment"
    r"|device|access|client|permission|clock|something|certificate|function|process|this item|software|endpoint|shop"
    r"|store|load(?:ed|ing)?|we)s?\b"
)
_NOTHING_LEFT: Final = re.compile(r"\b(?:no|empty|results?|cart|list|your (?:search|order|booking|account))\b")
"""What is empty because nothing was put there."""
_ABROAD: Final = re.compile(
    r"bestaat niet|niet (?:gevonden|bereikbaar|beschikbaar)|nie (?:znaleziono|istnieje|można)|brak dostępu|bulunamadı"
    r"|erişilemiyor|hata oluştu|fehler (?:ist )?(?:aufgetreten|beim)|nicht (?:gefunden|erreichbar|verfügbar|geladen)"
    r"|erreur (?:est survenue|sest produite|lors)|introuvable|nexiste (?:pas|plus)|indisponible|impossible (?:de|d"
    r"|dafficher)\b|no se (?:ha )?(?:encontr|pu[de]d?o)|ha ocurrido un|(?:ocurrió|ocorreu) um? erro|não foi (?:possível"
    r"|encontrad)|non (?:è stat[ao]|trovat[ao]|disponibile|è possibile)|si è verificato un errore|\bошибк|не (?:найден"
    r"|удал)|недоступ|hittades inte|kunde inte|ikke (?:funnet|fundet)|ei löyt|nenalezena|nem található|не знайдено|错误"
    r"|錯誤|失败|失敗|异常|異常|无法|無法|开小差|繁忙|不存在|找不到|エラー|できません|集中しています|混み合|ありません"
    r"|오류|없습니다|실패|لم يتم العثور|غير متاح|לא נמצא|ไม่พบ|không tìm thấy|không thể"
)
_APOSTROPHE: Final = re.compile(r"['’‘ʼ`´]")
_SENTENCE: Final = re.compile(r"[.!]\s+|[。！，]\s*")
_NO_WORD: Final = re.compile(r"[\W_]+")
_QUESTION: Final = re.compile(
    r"(?i:\b(?:how|why|what|whats|ways?|fix(?:es|ing)?|know|guide|explained|understanding|handling|mean(?:s|ing)?|tips"
    r"|solved|after|since|post mortem|outage|alert|wie|warum|comment|pourquoi|cómo|por qué|como|come|perché|как|почему"
    r"|что такое)\b)|#\d|[\"“”«»„‚「『]|[?？]|^\w+: |^[$>] |怎么|如何|什么|方法|とは|対処|방법|무엇"
)
"""What is asked or quoted is spoken of."""
_ASKS_READER: Final = re.compile(
    r"(?i)^(?:error|warning|fatal|oops|sorry): |are you |what happened|what can i do|why (?:have|am|did|do) (?:i"
    r"|this|we)|what should"
)

_PROOF: Final = re.compile(
    r"\b(?:human|robot|bot|captcha|automated|(?:verifying|checking) (?:your|the) browser|security check)s?\b"
)
_ASKED: Final = re.compile(
    r"\b(?:verify(?:ing)?|confirm|complete|solve|prove|check(?:ing)?|drag|slide|press|hold|required|needed|detected"
    r"|select|click|tick|enter|type|make sure|are you)\b"
)

_ADVICE: Final = re.compile(
    r"\b(?:try|trying|please|check(?:ing)?|contact|refresh|reload|retry|wait|(?:go|take you) back|(?:back|return) to"
    r"|again later|make sure|home ?page|support|administrators?|owner|logs?|learn more|sorry|apologi[sz]e|inconvenience"
    r"|(?:few|\d+) (?:moments?|minutes|seconds)|if you|you can|this is your|notified|working on (?:it|this|the)|details"
    r"|server|proxy|firewall|cookies|javascript|protected|attackers|automated|detected|solve|captcha|bot|robot|human"
    r"|traffic|security|verification|reference|incident|trace|why am i seeing|happened|logged|notification|to continue"
    r"|which of the (?:pictures|images)|pick the \w+|попробуйте|обновите|позже|erneut|startseite|plus tard|réessaye[rz]"
    r"|accueil|más tarde|vuelva|inténtalo|novamente|riprova|opnieuw|startpagina|strona główna|terug)\b|稍后|重试|返回"
    r"|刷新|もう一度|再度|しばらく|トップ|다시|잠시|홈으로"
)
_TECHNICAL: Final = re.compile(
    r"\b(?:ID|IP|Ref|Reference|Ray|[Cc]ode|Error|Exception|Version|Request|UR[LI]|Path|Time|Type|Value|Method|Message"
    r"|Status|Reason|Host|Server)\b[^:]{0,20}:|\w(?:Error|Exception)\b|\d+\.\d+\.\d+|https?://|::|^\S*[\d_./]\S*$"
    r"|^[A-Z_\d:]+$"
)
_WAY_OUT: Final = re.compile(
    r"\b(?:retry|try|again|reload|refresh|back|home|close|ok|okay|cancel|report|restart|quit|exit|details?|help|support"
    r"|settings|wait|learn|contact|start|verify|press|begin|continue|submit|next|skip|audio|restore|dismiss|got it"
    r"|log ?in|log ?out|sign in|sign up|search|menu|yes|no|advanced|more|feedback|diagnostics|send|minimi[sz]e"
    r"|maximi[sz]e)\b|重试|返回|刷新|首页|确定|关闭|再試行|閉じる|戻る|다시|확인|닫기|повторить|назад|закрыть|erneut"
    r"|zurück|schließen|réessayer|retour|fermer|reintentar|volver|cerrar|tentar|voltar|fechar|riprova|chiudi|opnieuw"
    r"|ponów|tekrar"
)


def is_nothing_but_trouble(opening: Sequence[str], said: Sequence[str], buttons: Sequence[str]) -> bool:
    """Whether what a small screen says first, its ``opening``, tells of trouble, and nothing else is there."""
    told = any(_tells_of_trouble(text) and not _is_spoken_of(text) for text in opening[:_OPENING])
    return told and not _is_spoken_of(opening[0]) and is_little_else(said, buttons)


def is_nothing_but_a_challenge(opening: Sequence[str], said: Sequence[str], buttons: Sequence[str]) -> bool:
    """Whether a small screen asks whoever reads its ``opening`` to prove to be a human, and nothing else is there."""
    told = any(map(_asks_for_proof, opening))
    return told and not _is_spoken_of(opening[0]) and is_little_else(said, buttons)


def is_little_else(said: Sequence[str], buttons: Sequence[str]) -> bool:
    """Whether but for a few words all that is said belongs to a failure, and all buttons lead out of it."""
    others = [num_words(text) for text in said if not _belongs_to_failure(text)]
    if len(others) > _MOST_OTHER_TEXTS or sum(others) > _MOST_OTHER_WORDS:
        return False
    return all(_WAY_OUT.search(plain(button)) for button in buttons)


def first_sentence(text: str) -> str:
    """What stands before the first full stop."""
    return _SENTENCE.split(text, maxsplit=1)[0]


def plain(text: str) -> str:
    """Its words alone, in small letters, apostrophes left out."""
    return _NO_WORD.sub(" ", _APOSTROPHE.sub("", text)).strip().lower()


def _tells_of_trouble(text: str) -> bool:
    words = plain(first_sentence(text))
    if len(words.split()) > _STATEMENT_WORDS:
        return False
    if _ABROAD.search(words):
        return True
    return bool(_TROUBLE.search(words) and _THING.search(words) and not _NOTHING_LEFT.search(words))


def _asks_for_proof(text: str) -> bool:
    words = plain(text)
    return len(words.split()) <= _STATEMENT_WORDS and bool(_PROOF.search(words) and _ASKED.search(words))


def _is_spoken_of(text: str) -> bool:
    return bool(_QUESTION.search(text) and not _ASKS_READER.search(text))


def _belongs_to_failure(text: str) -> bool:
    return _tells_of_trouble(text) or bool(_ADVICE.search(plain(text)) or _TECHNICAL.search(text))
