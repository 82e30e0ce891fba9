"""Keys that tell by their form whose they are: a fixed beginning, then so many characters of an alphabet.

The forms are public facts, taken from the vendors' documentation and from keys as they are seen.
"""

from __future__ import annotations

import re

from curation.secrets.boundaries import back_over, shifted
from curation.secrets.checks import token
from curation.secrets.plausible import is_made_up
from curation.secrets.rule import Rank, Rule, Run
from curation.secrets.triggers import DIGIT, Trigger, exact, one_of

_LONGEST_HOST = 110
_UUID = "[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}"
_FIRST_RUN = re.compile(r"(\[[^\]]+\]|\\[wd])\{(\d+)")


def _genuine(match: re.Match[bytes]) -> bool:
    return not is_made_up(match["body"])


def _key(kind: str, prefixes: str, body: str, *, rank: Rank = Rank.VENDOR) -> Rule:
    """A rule for keys that begin with one of the prefixes (by blanks)."""
    beginnings = prefixes.split()
    alternatives = "|".join(map(re.escape, beginnings))
    return Rule(
        name=beginnings[0],
        kind=kind,
        triggers=tuple(map(exact, beginnings)),
        pattern=re.compile(f"(?:{alternatives})(?P<body>{body})(?![A-Za-z0-9])".encode()),
        accepts=_genuine,
        alone=True,
        follows=_first_run(body),
        rank=rank,
    )


def _first_run(body: str) -> Run | None:
    """What a body begins with, where its pattern says so at once: so many of a class."""
    first = _FIRST_RUN.match(body)
    if first is None:
        return None
    members = re.compile(first[1].encode())
    return Run(frozenset(byte for byte in range(256) if members.match(bytes([byte]))), int(first[2]))


def _marked(kind: str, name: str, mark: Trigger, before: int, pattern: str) -> Rule:
    """A rule for keys that have their mark inside, ``before`` bytes from the beginning."""
    return Rule(
        name=name,
        kind=kind,
        triggers=(mark,),
        pattern=re.compile(f"(?P<body>{pattern})(?![A-Za-z0-9])".encode()),
        accepts=_genuine,
        begin=shifted(before),
        alone=True,
        rank=Rank.VENDOR,
    )


def _in_url(kind: str, mark: str, body: str) -> Rule:
    """A rule for URLs that are secrets, of any host of a vendor: ``mark`` is what all of them have inside."""
    return Rule(
        name=mark,
        kind=kind,
        triggers=(exact(mark),),
        pattern=re.compile(rf"https://[\w.-]{{1,100}}{re.escape(mark)}(?P<body>{body})(?![A-Za-z0-9])".encode()),
        accepts=_genuine,
        begin=_begin_of_url,
        rank=Rank.VENDOR,
    )


def _begin_of_url(data: bytes, position: int) -> int | None:
    begin = data.rfind(b"https://", max(0, position - _LONGEST_HOST), position)
    return begin if begin >= 0 else None


_CLOUDS = (
    _key("aws-key", "AKIA ASIA ABIA ACCA", "[A-Z0-9]{16}"),
    _key("aws-bedrock-key", "ABSK", "[A-Za-z0-9+/]{109,269}={0,2}"),
    _key("google-key", "AIza", r"[\w-]{35}"),
    _key("google-key", "AQ.Ab8RN6", r"[\w-]{40,64}"),
    _key("google-key", "GOCSPX-", r"[\w-]{28}"),
    _key("google-token", "ya29. ya29.c. ya29.d.", r"[\w-]{20,1024}"),
    _key("google-token", "1//0", r"[\w-]{40,256}"),
    _key("alibaba-key", "LTAI", "[A-Za-z0-9]{16,26}"),
    _key("tencent-key", "AKID", "[A-Za-z0-9]{32}"),
    _key("yandex-key", "AQVN", r"[\w-]{35,38}"),
    _key("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", "[a-f0-9]{64}"),
    _key("cloudflare-key", "v1.0-", "[a-f0-9]{24}-[a-f0-9]{146}"),
    _key("heroku-key", "HRKU-", r"[\w-]{36,64}"),
    _key("fly-token", "fo1_", r"[\w-]{43}"),
    _key("fly-token", "fm1_ fm1a_ fm1r_ fm2_", "[A-Za-z0-9+/]{100,2048}={0,3}"),
    _key("netlify-token", "nfp_", "[A-Za-z0-9]{36,40}"),
    _key("render-key", "rnd_", "[A-Za-z0-9]{32}"),
    _key("supabase-key", "sbp_", "[a-f0-9]{40}"),
    _key("supabase-key", "sb_secret_", r"[\w-]{20,64}"),
    _key("planetscale-token", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[\w.=-]{32,64}"),
    _key(
        "tailscale-key",
        "tskey-auth- tskey-api- tskey-client- tskey-scim- tskey-webhook-",
        "[A-Za-z0-9]{6,24}-[A-Za-z0-9]{16,64}",
    ),
    _key("daytona-key", "dtn_", "[A-Za-z0-9]{32,128}"),
    _key("e2b-key", "e2b_", "[a-f0-9]{40}"),
    _key("databricks-token", "dapi", r"[a-f0-9]{32}(?:-\d)?"),
)

_CODE_HOSTS = (
    _key("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", "[A-Za-z0-9]{36,251}"),
    _key("github-token", "github_pat_", r"\w{60,244}"),
    _key(
        "gitlab-token",
        "glpat- gldt- glrt- glptt- glcbt- glsoat- glft- glagent- glimt- gloas- glffct-",
        r"[\w.-]{20,300}",
    ),
    _key("gitlab-token", "GR1348941", r"[\w-]{20}"),
    _key("bitbucket-token", "ATBB", "[A-Za-z0-9]{32}"),
    _key("atlassian-token", "ATATT3x ATCTT3x", r"[\w=-]{60,400}"),
    _key("npm-token", "npm_", "[A-Za-z0-9]{36}"),
    _key("pypi-token", "pypi-AgEIcHlwaS5vcmc pypi-AgENdGVzdC5weXBpLm9yZw", r"[\w-]{50,1000}"),
    _key("rubygems-key", "rubygems_", "[a-f0-9]{48}"),
    _key("docker-token", "dckr_pat_ dckr_oat_", r"[\w-]{27,64}"),
    _key("artifactory-key", "AKCp", "[A-Za-z0-9]{69}"),
    _key("sonar-token", "sqp_ squ_ sqa_", "[a-f0-9]{40}"),
    _key("sourcegraph-token", "sgp_", "(?:[a-f0-9]{16}_|local_)?[a-f0-9]{40}"),
    _key("circleci-token", "CCIPAT_ CCIPRJ_", r"\w{20,64}_[a-f0-9]{40}"),
    _key("buildkite-token", "bkua_", "[a-z0-9]{40}"),
    _key("pulumi-token", "pul-", "[a-f0-9]{40}"),
    _key("nuget-key", "oy2", "[a-z0-9]{43}"),
    _key("crates-token", "cio", "[A-Za-z0-9]{32}"),
    _key("clojars-token", "CLOJARS_", "[a-f0-9]{60}"),
    _key("harness-token", "pat.", r"[\w-]{22}\.[a-f0-9]{24}\.[A-Za-z0-9]{20}"),
    _key("swarm-token", "SWMTKN-1-", "[a-z0-9]{49,51}-[a-z0-9]{25}"),
    _key("k3s-token", "K10", "[a-f0-9]{64}::[a-z]{4,10}:[a-z0-9.]{16,64}"),
    _key("prefect-key", "pnu_ pnb_", "[A-Za-z0-9]{36}"),
    _key("openshift-token", "sha256~", r"[\w-]{43}"),
)

_MODELS = (
    _key("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-None-", r"[\w-]{40,220}"),
    _key("openai-key", "sk-", "[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}"),
    _key("anthropic-key", "sk-ant-", r"[a-z]{3,8}\d\d-[\w-]{32,128}"),
    _key("openrouter-key", "sk-or-v1-", "[a-f0-9]{64}"),
    _key("langfuse-key", "sk-lf-", _UUID),
    _key("model-key", "sk-", "[A-Za-z0-9]{32,64}", rank=Rank.NAMED),
    _key("huggingface-token", "hf_", "[A-Za-z0-9]{34,40}"),
    _key("huggingface-token", "api_org_", "[A-Za-z]{34}"),
    _key("groq-key", "gsk_", "[A-Za-z0-9]{52}"),
    _key("xai-key", "xai-", "[A-Za-z0-9]{70,90}"),
    _key("perplexity-key", "pplx-", "[A-Za-z0-9]{40,56}"),
    _key("replicate-token", "r8_", "[A-Za-z0-9]{37,40}"),
    _key("fireworks-key", "fw_", "[A-Za-z0-9]{22,32}"),
    _key("together-key", "tgp_v1_", r"[\w-]{43}"),
    _key("nvidia-key", "nvapi-", r"[\w-]{60,70}"),
    _key("langsmith-key", "lsv2_pt_ lsv2_sk_", "[a-f0-9]{32}_[a-f0-9]{10}"),
    _key("wandb-key", "wandb_v1_", r"\w{40,100}"),
    _key("pinecone-key", "pcsk_", r"\w{50,80}"),
    _key("tavily-key", "tvly-", "(?:dev-|prod-)?[A-Za-z0-9]{20,40}"),
    _key("firecrawl-key", "fc-", "[a-f0-9]{32}"),
    _key("cerebras-key", "csk-", "[a-z0-9]{40,60}"),
    _key("jina-key", "jina_", r"[a-f0-9]{32}[\w-]{28}"),
    _key("voyage-key", "pa-", r"[\w-]{43}"),
    _key("runpod-key", "rpa_", "[A-Z0-9]{32}[A-Za-z0-9]{8,16}"),
    _key("brave-key", "BSA", r"[\w-]{28}"),
    _key("axiom-token", "xaat- xapt-", _UUID),
    _key("elevenlabs-key", "sk_", "[a-f0-9]{48}"),
)

_SERVICES = (
    _key("slack-token", "xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxe- xoxe.xoxp- xoxe.xoxb-", r"[A-Za-z0-9-]{20,250}"),
    _key("slack-token", "xapp-", r"\d-[A-Za-z0-9]{8,16}-\d{8,16}-[a-f0-9]{40,80}"),
    _key("slack-token", "xoxd-", "[A-Za-z0-9%+/=]{40,400}"),
    _key("slack-webhook", "https://hooks.slack.com/", r"(?:services|workflows|triggers)/[\w/]{30,90}"),
    _key(
        "discord-webhook",
        "https://discord.com/api/webhooks/ https://discordapp.com/api/webhooks/",
        r"\d{17,20}/[\w-]{60,80}",
    ),
    _in_url(
        "teams-webhook",
        ".webhook.office.com/webhookb2/",
        rf"{_UUID}@{_UUID}/IncomingWebhook/[a-f0-9]{{32}}/{_UUID}(?:/[\w-]{{20,64}})?",
    ),
    _key(
        "feishu-webhook",
        "https://open.feishu.cn/open-apis/bot/v2/hook/ https://open.larksuite.com/open-apis/bot/v2/hook/",
        _UUID,
    ),
    _key("wecom-webhook", "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=", _UUID),
    _key("dingtalk-webhook", "https://oapi.dingtalk.com/robot/send?access_token=", "[a-f0-9]{64}"),
    _key("stripe-key", "sk_live_ rk_live_ sk_test_ rk_test_", "[A-Za-z0-9]{16,128}"),
    _key("stripe-webhook-key", "whsec_", "[A-Za-z0-9+/]{32,64}={0,2}"),
    _key("square-token", "sq0atp- sq0csp-", r"[\w-]{22,43}"),
    _key("braintree-token", "access_token$production$ access_token$sandbox$", r"[a-z0-9]{16}\$[a-f0-9]{32}"),
    _key("razorpay-key", "rzp_live_ rzp_test_", "[A-Za-z0-9]{14}"),
    _key(
        "plaid-token",
        "access-production- access-sandbox- access-development-",
        _UUID,
    ),
    _key("shopify-token", "shpat_ shpca_ shppa_ shpss_", "[a-fA-F0-9]{32}"),
    _key("sendgrid-key", "SG.", r"[\w-]{22}\.[\w-]{43}"),
    _key("twilio-key", "SK AC", "[a-f0-9]{32}"),
    _key("mailgun-key", "key-", "[a-f0-9]{32}"),
    _key("brevo-key", "xkeysib- xsmtpsib-", "[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    _key("resend-key", "re_", "[A-Za-z0-9]{8}_[A-Za-z0-9]{24}"),
    _key("newrelic-key", "NRAK-", "[A-Z0-9]{27}"),
    _key("newrelic-key", "NRII- NRJS- NRIQ-", r"[\w-]{19,32}"),
    _key("grafana-token", "glsa_", "[A-Za-z0-9]{32}_[a-fA-F0-9]{8}"),
    _key("grafana-token", "glc_", "[A-Za-z0-9+/]{32,400}={0,2}"),
    _key("sentry-token", "sntrys_", r"[\w+/=-]{60,400}"),
    _key("sentry-token", "sntryu_", "[a-f0-9]{64}"),
    _key("dynatrace-token", "dt0c01. dt0s01. dt0s16.", r"[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    _key("vault-token", "hvs. hvb. hvr.", r"[\w-]{24,300}"),
    _key(
        "doppler-token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", r"(?:[a-z0-9_-]{1,35}\.)?[A-Za-z0-9]{40,44}"
    ),
    _key("linear-key", "lin_api_ lin_oauth_", "[A-Za-z0-9]{40,64}"),
    _key("notion-token", "secret_", "[A-Za-z0-9]{43}"),
    _key("notion-token", "ntn_", "[A-Za-z0-9]{40,60}"),
    _key("postman-key", "PMAK-", "[a-f0-9]{24}-[a-f0-9]{34}"),
    _key("figma-token", "figd_", r"[\w-]{40,48}"),
    _key("airtable-token", "pat", r"[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    _key("hubspot-token", "pat-na pat-eu", r"\d-[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}"),
    _key("contentful-token", "CFPAT-", r"[\w-]{43}"),
    _key("dropbox-token", "sl.", r"[\w-]{130,1500}"),
    _key("typeform-token", "tfp_", r"[\w.-]{40,64}"),
    _key("facebook-token", "EAAG EAAC EAAB EAAE EAAM", "[A-Za-z0-9]{80,300}"),
    _key("age-key", "AGE-SECRET-KEY-1", "[0-9A-Z]{58}"),
    _key("1password-token", "ops_eyJ", r"[\w-]{200,2000}={0,2}"),
    _key("trello-token", "ATTA", "[a-f0-9]{64}[A-F0-9]{8}"),
    _key("clickup-token", "pk_", r"\d{6,9}_[A-Z0-9]{32}"),
    _key("launchdarkly-key", "sdk- mob- api-", _UUID),
    _key("riot-key", "RGAPI-", _UUID),
    _key("honeycomb-key", "hcaik_ hcamk_", "[a-z0-9]{52,64}"),
    _key("mapbox-token", "sk.eyJ", r"[\w-]{60,120}\.[\w-]{22}"),
    _key("square-token", "EAAA", r"[\w-]{60}"),
    _key("salesforce-token", "00D", "[A-Za-z0-9]{12,15}![A-Za-z0-9._]{80,120}"),
    _key("twitter-token", "AAAAAAAAAAAAAAAAAAAAA", "[A-Za-z0-9%]{60,120}"),
    _key("flutterwave-key", "FLWSECK-", "[a-f0-9]{32}-X"),
    _key("easypost-key", "EZAK EZTK", "[A-Za-z0-9]{54}"),
    _key("readme-key", "rdme_", "[a-z0-9]{70}"),
    _key("infura-key", "infura.io/v3/", "[a-f0-9]{32}"),
    _in_url("alchemy-key", ".alchemy.com/v2/", r"[\w-]{32}"),
    _key("asana-token", "1/ 2/", r"\d{16}(?:/\d{16})?:[a-f0-9]{32}"),
)

_DISCORD = Rule(
    name="base64 number",
    kind="discord-token",
    triggers=(one_of("MNO") + one_of("DTjz") + one_of("AEIMQUYcgk") + one_of("wxyz012345"),),
    pattern=re.compile(
        rb"(?P<body>(?:[MNO][DTjz][AEIMQUYcgk][wxyz0-5]){3}[\w-]{11,16}\.[\w-]{6}\.[\w-]{27,45})(?![A-Za-z0-9])"
    ),
    accepts=_genuine,
    alone=True,
    follows=_first_run(r"[\w-]{19}"),
    rank=Rank.VENDOR,
)
"""It begins with the account's number, which has 17 to 19 digits, in base64."""

_MARKED_INSIDE = (
    _marked("terraform-token", ".atlasv1.", exact(".atlasv1."), 14, r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,70}"),
    _marked("mailchimp-key", "-us", exact("-us") + DIGIT, 32, r"[a-f0-9]{32}-us\d{1,2}"),
    _marked("newrelic-key", "NRAL", exact("NRAL"), 36, "[a-f0-9]{36}NRAL"),
    _marked("azure-client-secret", "Q~", one_of("78") + exact("Q~"), 3, r"[\w~.-]{3}[78]Q~[\w~.-]{31,34}"),
    _marked("azure-key", "+ASt", exact("+ASt"), 76, r"[A-Za-z0-9+/]{76}\+ASt[A-Za-z0-9+/]{6}=="),
    _marked("azure-key", "ACDb", exact("ACDb"), 76, r"[A-Za-z0-9+/]{76}ACDb[A-Za-z0-9+/]{6}=="),
    _marked("azure-key", "AzFu", exact("AzFu"), 44, r"[\w-]{44}AzFu[\w-]{5}[AQgw]=="),
    _marked("azure-key", "AzSe", exact("AzSe"), 42, "[A-Za-z0-9]{42}AzSe[A-D][A-Za-z0-9]{5}"),
    _marked("firebase-key", ":APA91b", exact(":APA91b"), 11, r"AAAA[\w-]{7}:APA91b[\w-]{134}"),
    _marked("azure-devops-token", "AZDO", exact("AZDO"), 76, "[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}"),
)

_VAULT = Rule(
    name="s.",
    kind="vault-token",
    triggers=(exact("s."),),
    pattern=re.compile(rb"(?P<secret>s\.[A-Za-z0-9]{24})(?![A-Za-z0-9])"),
    accepts=token,
    alone=True,
    follows=_first_run("[A-Za-z0-9]{24}"),
    rank=Rank.NAMED,
)
"""As they were before version 1.10."""

_TELEGRAM = Rule(
    name=":AA",
    kind="telegram-token",
    triggers=(exact(":AA"),),
    pattern=re.compile(rb"(?:bot)?(?P<secret>\d{8,10}:(?P<body>AA[\w-]{33}))(?![\w-])"),
    accepts=_genuine,
    begin=back_over(b"0123456789bot", 13),
    rank=Rank.VENDOR,
)

VENDOR_RULES = (*_CLOUDS, *_CODE_HOSTS, *_MODELS, *_SERVICES, *_MARKED_INSIDE, _DISCORD, _VAULT, _TELEGRAM)
