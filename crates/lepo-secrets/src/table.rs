//! The table of kinds with a recognisable format.
//!
//! Sources of the formats:
//! - GitHub: github.blog, "Behind GitHub's new authentication token formats" (prefix, 30 characters, six of a CRC32 in
//!   base 62) and the changelog of 2026-05-15 (`ghs_` with a web token); docs.github.com, "About authentication to
//!   GitHub"
//! - npm: github.blog, "Announcing npm's new access token format": as GitHub's
//! - GitLab: docs.gitlab.com/security/tokens, "Token prefixes"; length 20, or a payload with `.` and a checksum
//! - AWS: docs.aws.amazon.com, IAM User Guide, "Unique identifiers" (AKIA, ASIA); secrets are 40 characters of base64
//! - Google: `AIza` and 35 characters, cloud.google.com/docs/authentication/api-keys; `ya29.` and `GOCSPX-` in
//!   developers.google.com/identity/protocols/oauth2; a service account is JSON with `private_key`
//! - Azure: learn.microsoft.com, Purview's "Azure storage account key" (`AccountKey=`, 86 characters and `==`) and
//!   "Microsoft Entra client secret" (three characters, a digit, `Q~`, 31 to 34 characters). The portal displays the
//!   first three as a hint
//! - Slack: docs.slack.dev/authentication/tokens; hooks.slack.com URLs in "Sending messages using incoming webhooks"
//! - Stripe: docs.stripe.com/keys (`sk_live_`, `rk_live_`), docs.stripe.com/webhooks (`whsec_`)
//! - Twilio: twilio.com/docs/iam/api-keys (`SK` and 32 hexadecimal digits); the token of an account has no prefix
//! - SendGrid: sendgrid.com/docs, "API keys": `SG.`, 22 characters, `.`, 43 characters
//! - PyPI: warehouse's documentation, "Tokens": a macaroon whose base64 starts with its location
//! - Hugging Face: huggingface.co/docs/hub/security-tokens (`hf_`, 34 characters), before that `api_org_`
//! - OpenAI: `sk-`, `sk-proj-`, `sk-svcacct-`, `sk-admin-`, mostly with `T3BlbkFJ` in it (base64 of its name); other
//!   vendors that speak its protocol issue `sk-` with letters and digits, and `sk-or-v1-` with 64 hexadecimal digits
//! - Anthropic: `sk-ant-`, then `api03-`, `admin01-`, `oat01-`
//! - Telegram: core.telegram.org/bots/api, "Authorizing your bot": the bot's number, `:`, 35 characters that start with
//!   AA
//! - Docker: docs.docker.com/security/access-tokens (`dckr_pat_`, `dckr_oat_`)
//! - Web tokens: RFC 7519 and RFC 7515, three parts of base64url; the first is a JSON object
//! - Private keys: RFC 7468, RFC 9580 (armour), and OpenSSH's PROTOCOL.key (see `pem.rs`)
//! - age: C2SP's age specification, "X25519 recipient": bech32 of BIP 173
//! - Passwords in URLs: RFC 3986, section 3.2.1. Authorization: RFC 9110, section 11.6.2

use super::check;
use super::shape::ShapePart::{Exactly, From, Run, Text, To};
use super::shape::{Class, Shape, is_word};

const ALNUM: Class = |byte| byte.is_ascii_alphanumeric();
const ALNUM_: Class = |byte| byte.is_ascii_alphanumeric() || byte == b'_';
const WORD: Class = is_word;
const DOTTED: Class = |byte| is_word(byte) || byte == b'.';
const BASE64: Class = |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
const HEX: Class = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
const CAPITAL: Class = |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit();
const AZURE: Class = |byte| is_word(byte) || matches!(byte, b'~' | b'.');
const SLACK: Class = |byte| matches!(byte, b'a' | b'b' | b'c' | b'd' | b'e' | b'o' | b'p' | b'r' | b's');
const PATH: Class = |byte| byte.is_ascii_alphanumeric() || byte == b'/';
const USER: Class = |byte| byte.is_ascii_alphanumeric() || b"-._~!&'()*+,;=%".contains(&byte);
const PASSWORD: Class = |byte| byte.is_ascii_alphanumeric() || b"-._~!$&*+,;=:%#?^|".contains(&byte);
const HOST: Class = |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
const TOKEN68: Class = |byte| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
const SEPARATOR: Class = |byte| b"\"'\\ :=".contains(&byte);
const LETTER: Class = |byte| byte.is_ascii_alphabetic();
const SPACE: Class = |byte| byte == b' ';

/// An id of AWS is not secret without its key.
pub const AWS_ID: &str = "aws-key-id";
pub const AWS_KEY: &str = "aws-secret-key";
pub const TWILIO: &str = "twilio-token";
/// The value of a variable that is secret by its name.
pub const ENV_VALUE: &str = "env-value";
/// A key from the configuration.
pub const CONFIG_KEY: &str = "config-key";
pub const PRIVATE_KEY: &str = "private-key";
/// The key of a service account.
pub const SERVICE_ACCOUNT: &str = "google-service-account";
/// The start of a private key's armour.
pub const BEGIN: &str = "-----BEGIN ";

/// Returns the kinds of secrets, as masks name them, sorted.
pub fn kinds() -> Vec<&'static str> {
    let beside = [AWS_KEY, TWILIO, PRIVATE_KEY, SERVICE_ACCOUNT, ENV_VALUE, CONFIG_KEY];
    let mut kinds: Vec<&'static str> = SHAPES.iter().map(|shape| shape.kind).chain(beside).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

/// A row whose anchor starts a word.
const fn at_word(
    kind: &'static str,
    anchors: &'static [&'static str],
    parts: &'static [super::shape::ShapePart],
    check: fn(&super::shape::ShapeMatch<'_>) -> bool,
) -> Shape {
    Shape { kind, anchors, parts, check, at_word: true }
}

/// A row whose anchor may be inside a word.
const fn inside_word(
    kind: &'static str,
    anchors: &'static [&'static str],
    parts: &'static [super::shape::ShapePart],
    check: fn(&super::shape::ShapeMatch<'_>) -> bool,
) -> Shape {
    Shape { kind, anchors, parts, check, at_word: false }
}

/// All shapes. If two matches have equal length, the earlier row decides the kind. No shape may be longer than the text
/// that a stream withholds.
pub static SHAPES: &[Shape] = &[
    at_word(
        "github-token",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
        &[Run(ALNUM, 36, 255)],
        check::has_checksum62,
    ),
    // The checksum belongs to the first 36 characters, whatever letter follows.
    inside_word(
        "github-token",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
        &[Exactly(ALNUM, 36)],
        check::has_checksum62,
    ),
    at_word("github-token", &["ghs_"], &[Run(DOTTED, 100, 4000)], check::is_stateless),
    at_word("github-token", &["github_pat_"], &[Run(ALNUM_, 40, 255)], check::is_random),
    at_word(
        "gitlab-token",
        &[
            "glpat-",
            "gldt-",
            "glrt-",
            "glrtr-",
            "glptt-",
            "glft-",
            "glsoat-",
            "glcbt-",
            "glimt-",
            "glagent-",
            "gloas-",
            "glffct-",
            "glwt-",
            "GR1348941",
        ],
        &[Run(DOTTED, 20, 400)],
        check::is_random,
    ),
    inside_word("npm-token", &["npm_"], &[Exactly(ALNUM, 36)], check::has_checksum62),
    at_word(
        "pypi-token",
        &["pypi-AgEIcHlwaS5vcmc", "pypi-AgENdGVzdC5weXBpLm9yZw"],
        &[Run(WORD, 20, 4000)],
        check::is_random,
    ),
    at_word("huggingface-token", &["hf_"], &[Run(ALNUM, 30, 40)], check::is_two_cased),
    at_word("huggingface-token", &["api_org_"], &[Run(ALNUM, 30, 40)], check::is_two_cased),
    at_word("anthropic-key", &["sk-"], &[Text("ant-"), Run(WORD, 20, 400)], check::is_random),
    at_word("openai-key", &["sk-"], &[Run(WORD, 32, 400)], check::is_sk),
    at_word("google-api-key", &["AIza"], &[Run(WORD, 35, 35)], check::is_mixed),
    at_word("google-token", &["ya29."], &[Run(DOTTED, 20, 2048)], check::is_random),
    at_word("google-client-secret", &["GOCSPX-"], &[Run(WORD, 28, 28)], check::is_two_cased),
    at_word("slack-token", &["xox"], &[Run(SLACK, 1, 1), Text("-"), Run(WORD, 10, 400)], check::is_random),
    at_word("slack-token", &["xapp-"], &[Run(WORD, 20, 400)], check::is_random),
    inside_word("slack-webhook", &["hooks.slack.com/services/"], &[From, Run(PATH, 36, 200)], check::is_hook),
    at_word("stripe-key", &["sk_live_", "rk_live_"], &[Run(ALNUM, 20, 255)], check::is_random),
    at_word("stripe-key", &["whsec_"], &[Run(BASE64, 32, 128)], check::is_random),
    at_word("twilio-key", &["SK"], &[Run(HEX, 32, 32)], check::is_random),
    at_word("sendgrid-key", &["SG."], &[Run(WORD, 22, 22), Text("."), Run(WORD, 43, 43)], check::is_mixed),
    at_word("docker-token", &["dckr_pat_", "dckr_oat_"], &[Run(WORD, 20, 64)], check::is_two_cased),
    inside_word("telegram-token", &[":AA"], &[Run(WORD, 30, 35)], check::is_bot),
    inside_word("azure-client-secret", &["Q~"], &[Run(AZURE, 31, 34)], check::is_azure),
    inside_word("azure-storage-key", &["AccountKey="], &[From, Run(BASE64, 88, 88)], check::is_mixed),
    at_word("age-key", &["AGE-SECRET-KEY-1"], &[Run(CAPITAL, 58, 58)], check::has_bech32),
    at_word(
        "jwt",
        &["eyJ"],
        &[Run(WORD, 10, 1024), Text(".eyJ"), Run(WORD, 5, 5000), Text("."), Run(WORD, 20, 1024)],
        check::is_signed,
    ),
    inside_word(
        "url-password",
        &["://"],
        &[Run(USER, 0, 128), Text(":"), From, Run(PASSWORD, 3, 256), To, Text("@"), Run(HOST, 1, 253)],
        check::is_password,
    ),
    inside_word(
        "authorization",
        &["Authorization", "authorization", "AUTHORIZATION"],
        &[Run(SEPARATOR, 1, 8), Run(LETTER, 3, 12), Run(SPACE, 1, 2), From, Run(TOKEN68, 12, 4096)],
        check::is_credential,
    ),
    inside_word(
        "authorization",
        &["Authorization", "authorization", "AUTHORIZATION"],
        &[Run(SEPARATOR, 1, 8), From, Run(TOKEN68, 24, 4096)],
        check::is_credential,
    ),
    // Reported only near a key, or in a search that includes ids.
    at_word(AWS_ID, &["AKIA", "ASIA"], &[Run(CAPITAL, 16, 16)], check::is_aws_id),
];
