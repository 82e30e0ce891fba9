"""How failures word what they are: patterns over plain texts (small letters, words alone, apostrophes left out).

A pattern matches a title, a heading or a sentence whole. Few are sentences of one product: most put together a thing
that lacks and what became of it, because that is how every product, in every language, says it.
"""

from __future__ import annotations

import re
from typing import Final

_BARE_CODE: Final = (
    r"(?:(?:https?|error|status|code|fehler|erreur|erro|errore|ошибка|エラー|오류|错误) )*[45]\d\d(?: \d{1,2})?"
)
_CODE: Final = rf"(?:server )?(?:error )?{_BARE_CODE}"

_THING: Final = (
    r"(?:(?:the|this|that|your|our) )?(?:requested |specified )?(?:web ?page|web ?app(?:lication)?|page|site|website"
    r"|url|file|resource|document|server|address|file or directory|link|content|account|key|bucket|deployment|domain"
    r"|app|application|route|path)(?: (?:that )?you ?(?:have )?(?:requested|visited|entered|(?:a|we)?re (?:looking for"
    r"|trying to \w+)))?"
)
_LACK: Final = (
    rf"(?:{_THING} )?(?:(?:was|is|could|can) )?(?:not|cannot|cant|couldnt|isnt|wasnt) (?:be )?"
    r"(?:found|available|accessed|displayed|loaded|served)(?: right now| here| at .*)?",
    rf"{_THING} (?:either )?(?:does not|doesnt|no longer|may not) exists?(?: anymore| or .*)?",
    rf"{_THING} (?:has been|was|is) (?:disabled|suspended|removed|deleted|blocked)",
    r"we (?:cant|cannot|couldnt|could not)(?: seem to)? find (?:that|the|this|your) (?:page|url|content)(?: .*)?",
    r"there isnt an? .{1,40} here",
)
_DENIALS: Final = (
    r"bad request|unauthori[sz]ed|authori[sz]ation required|payment required|method not allowed|not acceptable",
    r"(?:access |error )?forbidden|(?:access|permission) (?:is |was )?denied|no access|blocked",
    r"(?:request )?time ?out|gone|(?:request entity|content|payload) too large|request uri too long"
    r"|too many requests",
)
_BREAKDOWNS: Final = (
    r"(?:an? )?(?:internal|unexpected|unknown|unhandled) (?:\w+ ){0,2}(?:error|exception)(?: (?:has )?occurred)?",
    r"server error(?: in (?:.* )?application)?|not implemented|bad gateway|proxy error|gateway time ?out",
    r"(?:the )?(?:service |server |site |website )?(?:is )?(?:currently |temporarily )?unavailable",
    r"backend fetch failed|loop detected|web server is (?:down|returning an unknown error)|connection timed out",
    r"origin is unreachable|a timeout occurred|ssl handshake failed|invalid ssl certificate|origin dns error",
    r"error|database error|error establishing a database connection|no healthy upstream|upstream connect error .*",
    r"fastly error .*|whitelabel error page|routing error|no route found for .*|page expired",
    r"there (?:has been|was) an? (?:\w+ )?error(?: .*)?|an error (?:has )?occurred(?: while .*)?",
    r"application error(?: a client side exception has occurred.*)?",
    r"(?:fatal|parse) error (?:uncaught|call to|allowed memory|syntax error|maximum execution|require|include).*",
    r"(?:were sorry but )?something went wrong|(?:error )?the request(?:ed url)? could not be (?:satisfied"
    r"|retrieved)",
    r"problem loading page|privacy error|pardon our interruption",
    r"(?:well|we will) be (?:right )?back(?: soon| shortly| online)*|will be right back",
    r"(?:(?:this|the|our) )?(?:site|website|page|service|system|app|we)? ?(?:is|are|re)? ?(?:currently "
    r"|temporarily )?"
    r"(?:(?:down|closed|offline|unavailable) for|under(?:going)?) (?:\w+ )?maintenance",
)
_ABROAD: Final = (
    # German, Dutch
    r".{0,40}\b(?:seite|datei|url|adresse|inhalt|dokument)\b.{0,60}\b(?:nicht (?:gefunden|verfügbar|vorhanden)"
    r"|existiert (?:leider )?nicht)(?: .{0,40})?|zugriff verweigert"
    r"|(?:es ist )?(?:ein )?(?:interner )?(?:server ?)?fehler"
    r"(?: ist)?(?: aufgetreten)?|(?:etwas|da) ist (?:etwas )?schief ?gelaufen|(?:der )?(?:dienst"
    r"|server) .*nicht verfügbar"
    r"|wartungsarbeiten|pagina niet gevonden|toegang geweigerd|er is iets (?:mis|fout) ?gegaan",
    # French
    r"(?:cette |la )?page .{0,60}(?:introuvable|non trouvée|nexiste (?:pas|plus)|pas été trouvée)(?: .{0,40})?"
    r"|accès (?:refusé|interdit)|(?:une )?erreur (?:interne )?(?:du serveur|est survenue|sest produite)"
    r"|page (?:introuvable|non trouvée)|service (?:temporairement )?indisponible|site en maintenance"
    r"|une erreur (?:\w+ )?(?:est survenue|sest produite)|erreur interne(?: du serveur)?",
    # Spanish, Portuguese, Italian
    r"(?:la |a |esta )?p[aá]gina .{0,60}(?:no (?:existe|encontrada|disponible|se (?:encuentra|encontró))"
    r"|não (?:existe|encontrada|disponível|foi encontrada))(?: .{0,40})?|p[aá]gina (?:no|não) encontrada"
    r"|acceso denegado|acesso (?:negado|bloqueado)|(?:error|erro) interno (?:del|do) servidor"
    r"|(?:se ha producido un|ocurrió un|ocorreu um) erro?r?(?: .{0,40})?|algo (?:salió mal|deu errado)"
    r"|servi[cç][io]o? (?:temporalmente |temporariamente )?(?:no disponible|indisponível)|(?:site"
    r"|sitio) em? manuten\w+"
    r"|pagina non trovata|accesso negato|qualcosa è andato storto|errore (?:interno )?del server",
    # Russian
    r"(?:запрашиваемая |эта |такая )?страница .{0,40}(?:не (?:найдена|существует)|удалена)(?: .{0,40})?"
    r"|(?:такой )?страницы (?:\w+ )?не существует|доступ (?:запрещ[её]н|ограничен)|внутренняя ошибка сервера"
    r"|(?:произошла|возникла) (?:\w+ )?ошибка|что то пошло не так|сервис (?:временно )?недоступен",
    # Chinese
    r"(?:\S{0,8} )?\S{0,16}(?:页面|网页|网站|页|文件|内容|链接|地址|資源|资源|頁面|網頁)\S{0,8}"
    r"(?:不存在|未找到|找不到|不见了|走丢了|丢失了?|已?被?删除|无法访问|出错了?|失效|不可用)\S{0,4}"
    r"|\S{0,12}(?:未找到|找不到)\S{0,12}(?:页面|网页|頁面|網頁)|访问被拒绝|拒绝访问|没有权限访问\S{0,8}"
    r"|(?:服务器|系统|伺服器)\S{0,6}(?:错误|异常|繁忙|维护|開小差|开小差)\S{0,6}|出错了|网页出错了|\S{0,6}维护中",
    # Japanese, Korean
    r".{0,24}(?:ページ|ファイル|url|サイト|コンテンツ).{0,16}(?:見つかりません(?:でした)?|存在しません|見つかりません"
    r"|表示できません(?:でした)?|ありません)|アクセスが拒否されました|アクセス権限?がありません|(?:サーバー ?"
    r"|内部)?エラーが発生しました|メンテナンス中.{0,12}|(?:.{0,20} )?페이지(?:를|가)? ?(?:.{0,20} )?(?:찾을 수 없습니다"
    r"|존재하지 않습니다|없습니다)|접근이? ?(?:거부되었습니다|금지되었습니다|권한이 없습니다)"
    r"|(?:서버 ?)?오류가 발생했습니다"
    r"|서비스 ?점검 ?중.{0,12}",
)
MEANING: Final = "|".join((*_LACK, *_DENIALS, *_BREAKDOWNS, *_ABROAD))
_SIGH: Final = (
    r"whoops|o+ps|uh oh|sorry|hmm|error|ой|упс|抱歉|很抱歉|对不起|哎呀|ups|désolé|oups|hoppla|ops|lo sentimos"
)

STATUS: Final = re.compile(
    rf"(?:(?:{_SIGH}) )?(?:{_CODE}|(?:{_CODE} )?(?:{MEANING})(?: {_CODE}| 1)?)"
    r"|iis \d+ \d+ detailed error"
)
"""What a server or an app answers in the place of what was asked for."""
AMBIGUOUS: Final = re.compile(
    rf"{_BARE_CODE}|{_SIGH}|forbidden|blocked|gone|unavailable|time ?out|unauthori[sz]ed|no access|fehler|erreur"
)
"""What may as well be the name of something."""

CHALLENGE_TITLE: Final = re.compile(
    r"just a moment|attention required|access to this page has been denied|robot or human|pardon our interruption"
    r"|are you (?:not )?(?:a )?(?:human|robot)|(?:human |security |bot |robot )(?:verification|check|challenge)"
    r"|.*\bused cloudflare to restrict access|\S*(?:安全|人机|人機)(?:验证|驗證)|验证码拦截"
)
CHALLENGE: Final = re.compile(
    r"(?:sorry )?you have been blocked|access to this page has been denied.*|your request has been blocked .*"
    r"|you are being rate limited|.*\bunusual (?:traffic|activity|behaviou?r) (?:on|from) (?:either )?your (?:network"
    r"|browser|ip|device).*|(?:please )?select (?:the )?(?:following )?(?:graphics|images|pictures|icons) .*(?:order"
    r"|contain|with|show).*|.* unusual (?:traffic|activity) (?:coming )?from your (?:computer|device|network|ip"
    r"|connection|browser)\b.{0,40}|request unsuccessful incapsula incident .*|pardon our interruption|(?:please |lets "
    r"|sorry )?(?:we just need to )?(?:confirm|verify|prove|check|mak(?:e|ing) sure)(?:ing)? (?:that )?(?:you are"
    r"|youre)(?: really)? (?:(?:a |a real )?(?:human|person)(?: being)?|not a (?:ro)?bot)(?: by .*| this may .*"
    r"| for best .*)?|(?:press|click|activate) (?:and )?(?:press )?hold .*(?:confirm|verify).*"
    r"|.*needs to review the security of your connection.*|checking your browser before accessing .*"
    r"|please enable js and disable any ad blocker|please verify yourself to continue"
    r"|checking if the site connection is secure|checking your browser|(?:please )?(?:enter|type) the (?:characters"
    r"|letters|text) (?:you )?(?:see|shown|in the image).*|(?:please )?(?:solve|complete) (?:the|this) (?:captcha"
    r"|security check|puzzle|(?:following )?challenge)(?: (?:to|below|so) .*)?|select all (?:images|squares) (?:with"
    r"|containing).*|(?:drag|slide|swipe) .*(?:puzzle|to secure your access|to verify|right place|correct position).*"
    r"|(?:please )?(?:click|tick|check) the box (?:below )?to .*not a robot"
    r"|as you were browsing something about your browser made us think you (?:were|might be) a bot.*|.*(?:请完成.*验证"
    r"|(?:拖动|按住|滑动|拖動|滑動).{0,4}滑[块塊]).*|请?(?:依次)?点击.{0,12}(?:文字|图形|图片).{0,12}"
    r"|подтвердите что (?:запросы отправляли вы|вы|вы не).*(?:робот|человек)"
    r"|(?:bitte )?bestätigen sie dass sie (?:ein mensch|kein (?:ro)?bot(?:er)?) sind.*|(?:veuillez )?(?:confirme[rz]"
    r"|vérifie[rz]) que vous (?:êtes|nêtes pas) .{0,12}(?:humain|robot).*|(?:por favor )?(?:confirm[ae]"
    r"|verifi[cq]\w+) que (?:você |usted )?(?:no|não)? ?(?:eres|es|é) .{0,8}(?:human[oa]|robot?).*"
    r"|.{0,12}(?:ロボットではない|人間である)こと.{0,12}|.{0,12}로봇이 아닙니다.{0,12}|.{0,12}사람인지 확인.{0,12}"
)
"""What challenges ask for, and what walls say."""
CHALLENGE_HEADING: Final = re.compile(
    r"are you (?:not )?(?:a )?(?:human|robot)|robot or human|pardon our interruption|(?:human|bot"
    r"|robot) (?:verification|check)|client challenge"
)
ROBOT: Final = re.compile(
    r"im not a robot|(?:i am|im) human|verify you are human|я не робот|ich bin kein roboter|je ne suis pas un robot"
    r"|no soy un robot|não sou um robô|进行人机身份验证|私はロボットではありません|로봇이 아닙니다"
)

BROWSER: Final = re.compile(
    r"this (?:site|page|webpage) (?:cant|cannot) be (?:reached|found|displayed)|this page isnt working"
    r"|\S.* refused to connect|hmm were having trouble finding that site|unable to connect|server not found"
    r"|no internet(?: connection| access)?|youre offline|you are offline|no (?:network )?connection|(?:your"
    r"|this) connection is(?: not|nt) (?:private|secure)|warning potential security risk ahead|web ?page not available"
    r"|aw snap|(?:gah )?your tab (?:just )?crashed|check if there is a typo in .*|(?:safari|firefox|chrome|edge"
    r"|the browser) (?:cant|cannot|couldnt) (?:find|open|connect to|establish) .*|failed to open page"
    r"|hmm+ cant reach this page|secure connection failed|did not connect .*security issue|connect to the internet"
    r"|your connection was interrupted|the connection (?:was reset|has timed out)|(?:cant|cannot|couldnt|could not"
    r"|unable to|failed to) (?:reach|connect|load|open|find|refresh)(?: (?:to|the|your|this|that|our|page|server"
    r"|network|internet|data|content|url|site)\b.*)?|.* could not be loaded|(?:network|connection|server) error"
    r"|(?:connection|network) (?:lost|failed|unavailable)|(?:die |diese )?web(?:site|seite) ist nicht erreichbar"
    r"|keine (?:internet)?verbindung(?: .*)?|(?:diese |die )?verbindung ist nicht (?:privat|sicher)"
    r"|(?:fehler: )?(?:verbindung|netzwerk) (?:fehlgeschlagen|fehler)|ce site est inaccessible|(?:pas de"
    r"|aucune) connexion(?: .*)?|votre connexion nest pas privée|(?:no se puede|não é possível) (?:acceder|acessar"
    r"|conectar|se conectar) .*|(?:sin|no hay|sem) conex(?:ión|ão)(?: .*)?|(?:impossibile raggiungere il sito"
    r"|nessuna connessione)(?: .*)?|не удается (?:получить доступ|открыть|найти|установить) .*|нет (?:подключения"
    r"|соединения|интернета)(?: .*)?|无法(?:访问此网站|访问该网页|显示此页|连接.{0,12})|.{0,6}(?:网络|網路|網絡)(?:连接"
    r"|連線)?(?:异常|错误|不给力|不可用|失败|已断开|未连接|異常).{0,16}|(?:无|没有)(?:网络|互联网)连接?.{0,8}"
    r"|您的连接不是私密连接|このサイトにアクセスできません|インターネットに接続(?:されて|でき)(?:い)?ません.{0,8}"
    r"|(?:通信|ネットワーク)エラー.{0,12}|(?:이 )?사이트에 연결할 수 없(?:음|습니다)|인터넷(?:에)? ?연결.{0,12}(?:없|않"
    r"|끊).{0,8}|네트워크 (?:오류|연결).{0,16}"
)
"""What a browser or an app says that reached nothing."""
CODES: Final = re.compile(
    r"(?:net )?err (?:name|connection|internet|address|timed|ssl|cert|empty|too many|tunnel|http|network|blocked"
    r"|proxy|cleartext|unsafe|response|failed|aborted|file|bad|quic|cache|invalid response)\b.*"
    r"|dns probe (?:finished|possible|started)\b.*|http error [45]\d\d|error 1\d\d\d(?: ray id .*)?"
    r"|.*there has been a critical error on this website|server error in (?:.* )?application"
    rf"|(?:{MEANING}) error code [45]\d\d"
)
"""What stands under such a page's heading and nowhere else."""
JSON: Final = re.compile(
    rf"(?:\w+ )?(?:(?:timestamp|path|instance|type|trace|request) \S.*? )?(?:code|status|statuscode) [45]\d\d "
    rf"(?:message|error|title|detail) .*|(?:success false )?(?:error |status error )?(?:message|detail"
    rf"|error) (?:{MEANING})"
)
"""An answer with an error as a program is given it."""

STOPPED: Final = re.compile(
    r"\S.* (?:keeps stopping|(?:has )?stopped (?:working|unexpectedly)|has stopped|(?:isnt|is not) responding)"
    r"|unfortunately \S.* has stopped|.*\b(?:quit|closed|exited|terminated) unexpectedly"
    r"|(?:due to an error )?\S.* (?:has )?crashed|sorry \S.* (?:closed|experienced) .*|oh no something has gone wrong"
    r"|the application was unable to start correctly.*|\S+ (?:exe )?application error|your (?:pc|computer|device"
    r"|mac) (?:ran into a problem|was restarted because of a problem).*|\S.* (?:wurde (?:beendet|angehalten)"
    r"|reagiert nicht|wird (?:immer wieder|wiederholt) beendet|funktioniert nicht mehr)|\S.* (?:sest arrêtée?"
    r"|ne répond (?:pas|plus)|sarrête (?:systématiquement|sans cesse)|a cessé de fonctionner)|\S.* (?:se (?:ha )?detuvo"
    r"|se ha detenido|no responde|(?:se detiene|falla) continuamente|dejó de funcionar)|\S.* (?:parou(?: de funcionar)?"
    r"|não (?:está respondendo|responde)|apresenta falhas continuamente)|\S.* (?:si è (?:arrestata|bloccata|interrotta)"
    r"|non risponde)|\S.* (?:не отвечает|остановлено|перестало работать)|.*(?:снова )?произошел сбой.*|.{1,24}(?:无响应"
    r"|没有响应|無回應|已停止(?:运行|執行)?|(?:屡次|一直|持續)停止(?:运行)?)|.{1,24}(?:応答していません"
    r"|(?:繰り返し)?停止し(?:ています|ました))|.{1,24}(?:응답하지 않(?:음|습니다)|(?:계속 )?중단(?:됨|되었습니다"
    r"|됩니다)|중지(?:됨|되었습니다))"
)
"""What the system says of an app that failed."""
REMEDY: Final = re.compile(
    r"close(?: app| program| the program)?|wait|ok(?:ay)?|(?:app )?info|open (?:app )?again|(?:re)?open|restart|retry"
    r"|try again|(?:send |give )?feedback|(?:dont |do not )?send(?: (?:error )?report)?|(?:show|view) details|details"
    r"|ignore.*|report.*|force (?:quit|close|stop)|(?:quit|restart)(?: \w+)?|cancel|mute.*|debug|learn more|relaunch.*"
    r"|continue|log ?out|leave closed|end task|volver.*|(?:re)?abrir.*|r?ouvrir.*|erneut.*|app erneut.*|открыть.*"
    r"|(?:重新|再次)打开.*|もう一度.*|앱 다시 열기|app schließen|schließen|warten|app info|fermer.*|attendre|infos .*"
    r"|cerrar.*|esperar|informaci.*|aceptar|fechar.*|aguardar|chiudi.*|attendi|закрыть.*|подождать|о приложении|ок"
    r"|关闭.*|等待|确定|應用.*|应用信息|閉じる.*|アプリを閉じる|待機|アプリ情報|앱 닫기|닫기|대기|앱 정보|확인|重试"
    r"|reintentar|réessayer|erneut versuchen|повторить"
)
"""The buttons of such a dialog: what else there is to press belongs to a world."""

WITHOUT_SCRIPTS: Final = re.compile(
    r"you need to enable javascript to run this app|.*\b(?:enable javascript to|requires javascript|javascript is "
    r"(?:disabled|required|not enabled))\b.*"
)
"""All that a page says which was made for a browser that runs scripts."""
START_PAGE: Final = re.compile(r"about:blank|new tab|neuer tab|nouvel onglet|nueva pestaña|about:newtab")
"""Titles of pages that are empty because nothing was asked for."""

_ABSENT: Final = (
    r"\b(?:failed|could ?nt|could not|couldnt|cannot|cant|unable|error|no|missing|empty|(?:un|not )available"
    r"|timed out|time ?out|null|none|without|lost|not (?:captured|found|recorded))\b"
)
_STATE: Final = (
    r"\b(?:accessibility(?: tree)?|a11y(?: tree)?|ax ?tree|ui (?:elements?|hierarchy|tree|dump|nodes?)|view hierarchy"
    r"|idle state|root node|screen ?shots?|page source|dom(?: tree| snapshot)?|observation"
    r"|(?:page|screen|browser|window|device|ui) (?:state|content|snapshot|dump))\b"
)
UNCAPTURED: Final = re.compile(
    rf"(?=.*{_ABSENT})(?=.*{_STATE}).*|state (?:is )?(?:unavailable|missing|not (?:available|captured))"
    r"|(?:no|missing|empty) state|null|none|undefined|nil|nan|n a|"
)
"""What a recorder writes in the place of a state it did not get."""

WORDS: Final = (
    r"not.{0,4} (be )?(found|accessed|displayed)|forbidden|denied|unauthori|payment required|bad (request|gateway)"
    r"|error|unavailable|time-?out|timed out|too (many|large|long)|captcha|robot|human|person|exception|isn.{1,6}t a "
    r"|be (reached|displayed|satisfied|retrieved|loaded|found)|(n.{1,6}t|not) exist|no longer exist|(not"
    r"|n.{1,6}t) (available|implemented|acceptable|private|secure)|refused to|unable to|could not|couldn.{1,6}t"
    r"|can.{0,6}t (reach|connect|load|open|find|be)|failed to|trouble finding|cannot (get|post|put|delete|be)|offline"
    r"|no (internet|route|healthy|access|(network )?connection)|connect to the|connection (lost|failed)|err_|dns_probe"
    r"|went wrong|gone wrong|blocked|rate limited|just a moment|unusual (traffic|activity)|interruption|security (check"
    r"|verification|risk)|verif(y|ication)|challenge|has been (disabled|suspended)|maintenance|be (right )?back"
    r"|attention required|before accessing|characters you|letters you|select all|slide|swipe|\bdrag\b|hold|enable js"
    r"|stopping|stopped|responding|unexpectedly|crashed|ran into a problem|aw, snap|isn.{1,6}t working|server is"
    r"|handshake|unreachable|unsuccessful|problem loading|\bgone\b|loop detected|reach this|interrupted|was reset"
    r"|safari can|expired|javascript|trouble|problem|broke\b|unresponsive|n.{1,6}t (open|respond|published)|automated"
    r"|something|nicht (gefunden|verf|vorhanden|erreichbar|privat|sicher)|nicht$|existiert|verweigert|fehler|schief"
    r"|wartung|beendet|reagiert nicht|funktioniert nicht|angehalten|best.tigen|keine (internet)?verbindung"
    r"|niet gevonden|geweigerd|introuvable|non trouv|existe|refusé|interdit|erreur|indisponible|inaccessible|arrêt"
    r"|ne répond|confirmez|vérifiez|connexion|no encontrada|no se |no disponible|denegado|salió mal|detuvo|detenido"
    r"|detiene|no responde|erro |deu errado|não |negado|bloqueado|indispon|manuten|parou|conexi|non trovata|negato"
    r"|storto|errore|arrestata|non risponde|connessione|е найден|е существует|апрещ|граничен|шибка|едоступен"
    r"|пошло не так|не отвечает|становлено|бой|одтвердите|е удается|ет (подключения|соединения|интернета)|агрузка|验证"
    r"|驗證|滑块|滑塊|不存在|找不到|未找到|拒绝|删除|失效|无法|错误|出错|异常|維护|维护|不给力|响应|回應|停止"
    r"|点击.{0,12}图|加载|见つか|見つか|存在しません|表示でき|拒否|エラー|メンテナンス|応答|停止し|ロボット"
    r"|アクセスでき|接続|찾을 수|존재하지|거부|오류|점검|로봇|연결|응답하지|중단|중지|['\">\t][45]\d\d\b"
)
"""A regular expression, in small letters, that something in every failure's text matches, but for the shortest.

It is matched against bytes: only of ASCII does it know both cases, so words of other alphabets lack their first letter.
"""
