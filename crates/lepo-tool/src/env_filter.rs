//! The environment of a command: lepo's own, without secrets.

use std::ffi::OsStr;

use super::Access;
use lepo_process::{Environment, environment};

/// Which variables are removed from a command's environment, and which are not.
#[derive(Debug, Clone, Copy, Default)]
pub struct EnvFilter<'a> {
    /// Names of the variables that contain lepo's keys: no command gets them.
    pub hidden: &'a [String],
    /// lepo's keys: no command gets them under another name.
    pub keys: &'a [String],
    /// Names of variables that the configuration passes on although they look secret.
    pub passed: &'a [String],
}

impl EnvFilter<'_> {
    /// Returns the environment of a command. Variables that look secret go only to a command with full access.
    pub fn of_command(&self, access: Access) -> Environment {
        let is_one = |names: &[String], name: &OsStr| names.iter().any(|one| name == one.as_str());
        let mut env = environment(|name| is_one(self.hidden, name));
        let keys: Vec<&str> =
            self.keys.iter().map(String::as_str).filter(|key| key.len() >= SHORTEST).collect();
        env.retain(|(_, value)| {
            let value = value.to_string_lossy();
            !keys.iter().any(|key| value.contains(key))
        });
        if access < Access::Full {
            env.retain(|(name, value)| is_one(self.passed, name) || !is_secret_variable(name, value));
        }
        env
    }
}

/// Shorter keys are not searched for in values, in bytes: a value may contain one by chance.
const SHORTEST: usize = 8;

fn is_secret_variable(name: &OsStr, value: &OsStr) -> bool {
    let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
    // Their names look secret, but they contain paths and the author of commits.
    let harmless = ["PWD", "OLDPWD", "XAUTHORITY"].contains(&&*name) || name.contains("AUTHOR_");
    let is_login = name.starts_with("OP_SESSION") || name.ends_with("PW");
    let is_address =
        is_login || name.ends_with("DATABASE_URL") || name.contains("WEBHOOK") || has_password(&value);
    // git's settings in variables may contain authorization headers.
    let is_of_git = name.starts_with("GIT_CONFIG_");
    !harmless
        && (is_secret_name(&name) || is_of_bundler(&name) || is_address || is_of_git || holds_secret(&value))
}

/// Whether a variable is Bundler's login for a host, as in `BUNDLE_GEMS__EXAMPLE__COM`, where `__` means a dot.
fn is_of_bundler(name: &str) -> bool {
    let host = name.strip_prefix("BUNDLE_").filter(|rest| rest.contains("__"));
    // Flags for building a gem, and paths of gems in development.
    host.is_some_and(|host| !host.starts_with("BUILD__") && !host.starts_with("LOCAL__"))
}

/// Whether a value is a URL with a password, or with a token as its user name.
fn has_password(value: &str) -> bool {
    let Some((scheme, rest)) = value.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#']).next();
    let user = authority.and_then(|authority| authority.rsplit_once('@')).map(|(user, _)| user);
    user.is_some_and(|user| user.contains(':') || (scheme.starts_with("http") && !user.is_empty()))
}

/// Whether a value is a private key or a connection string with a password, or contains a token of a large service.
fn holds_secret(value: &str) -> bool {
    let folded = value.to_ascii_lowercase();
    let within = [
        "private key-----",
        "private key block-----",
        "putty-user-key-file",
        "age-secret-key-",
        "accountkey=",
        "accesskey=",
        "sharedaccesssignature",
        "password=",
        "pwd=",
        "/api/webhooks/",
        "hooks.slack.com/",
        // Headers, and a login in Docker's configuration.
        "authorization:",
        "api-key:",
        "bearer ",
        "\"auth\"",
        "identitytoken",
        "registrytoken",
    ];
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    within.iter().any(|mark| folded.contains(mark)) || value.split(|c| !is_part(c)).any(is_token)
}

/// Whether `word` has the prefix and the length of a token, or is a JSON Web Token.
fn is_token(word: &str) -> bool {
    let is_jwt = word.starts_with("eyJ") && word.split('.').count() == 3;
    word.len() >= 16 && (is_jwt || TOKENS.iter().any(|start| word.starts_with(start)))
}

/// Prefixes of tokens of GitHub, GitLab, Slack, npm, AWS, Stripe, Google, OpenAI and services with its format, Groq,
/// xAI, Hugging Face, PyPI, SendGrid, DigitalOcean, Vault, Shopify, Atlassian.
#[rustfmt::skip]
const TOKENS: &[&str] = &[
    "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "xapp-", "npm_", "AKIA", "ASIA",
    "sk_live_", "rk_live_", "sk_test_", "rk_test_", "AIzaSy", "ya29.", "sk-", "gsk_", "xai-", "hf_", "pypi-", "SG.",
    "dop_v1_", "hvs.", "shpat_", "ATATT3", "ATCTT3", "ATBB",
];

/// Whether a variable or a header of this name contains a secret.
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let within = [
        "KEY",
        "TOKEN",
        "SECRET",
        "PASS",
        "AUTH",
        "CREDENTIAL",
        "COOKIE",
        "DSN",
        "MNEMONIC",
        "PHRASE",
        "EXTRAHEADER",
        "BEARER",
        "CONNECTIONSTRING",
        "CONNECTION_STRING",
        "CONN_STR",
        "CONNSTR",
    ];
    let whole = [
        "PRIVATE", "PAT", "PWD", "PW", "PSW", "JWT", "BINDPW", "SAS", "CRED", "CREDS", "OTP", "TOTP", "PIN",
        "SALT",
    ];
    within.iter().any(|word| name.contains(word))
        || name.split(|c: char| !c.is_ascii_alphabetic()).any(|part| whole.contains(&part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_secret_is_known_by_its_name_or_by_a_password_in_an_address() {
        for (name, value, secret) in [
            ("AWS_SECRET_ACCESS_KEY", "x", true),
            ("GITHUB_TOKEN", "x", true),
            ("NPM_TOKEN", "x", true),
            ("DATABASE_URL", "postgres://h/db", true),
            ("BROKER", "amqp://me:pw@host/v", true),
            ("HTTP_PROXY", "http://host:3128/a@b:c", false),
            ("SSH_AUTH_SOCK", "/run/x", true),
            ("CI_JOB_JWT", "x", true),
            ("LDAP_BINDPW", "x", true),
            ("GIT_CONFIG_VALUE_0", "x", true),
            ("GIT_CONFIG_PARAMETERS", "x", true),
            ("SLACK_WEBHOOK_URL", "https://h/x", true),
            ("AZURE_CONN", "AccountName=a;AccountKey=b", true),
            ("CERT_PEM", "-----BEGIN PRIVATE KEY-----", true),
            ("SSH_PRIVATE", "x", true),
            ("AZURE_STORAGE_CONNECTION_STRING", "x", true),
            ("SERVICEBUS_CONNECTION_STRING", "x", true),
            ("ConnectionStrings__Default", "x", true),
            ("AZURE_STORAGE_SAS", "x", true),
            ("BUNDLE_GEMS__EXAMPLE__COM", "x", true),
            ("BUNDLE_GITHUB__COM", "x", true),
            ("BUNDLE_BUILD__NOKOGIRI", "--use-system-libraries", false),
            ("BUNDLE_PATH", "vendor", false),
            ("DEPLOY_CREDS", "x", true),
            ("JENKINS_PSW", "x", true),
            ("REMOTE", "https://ghp_x@github.com/a/b", true),
            ("REMOTE", "ssh://git@github.com/a/b", false),
            ("JDBC_URL", "jdbc:postgresql://h/db?user=a&password=b", true),
            ("EVENTS", "Endpoint=sb://h/;SharedAccessKey=b", true),
            ("GH", "ghp_0123456789abcdef", true),
            ("GH", " token ghp_0123456789abcdef", true),
            ("V", "sk-ant-api03-abcdefghijklmnop", true),
            ("V", "eyJhbGciOi.eyJzdWIiOiIx.SflKxwRJSM", true),
            ("V", "-----BEGIN PGP PRIVATE KEY BLOCK-----", true),
            ("V", "https://discord.com/api/webhooks/1/x", true),
            ("V", "/usr/lib/task-sk-something-or-other", false),
            ("V", "ATATT3xFfGF0abcdefghij", true),
            ("V", r#"{"auths":{"ghcr.io":{"auth":"bWU6cHc="}}}"#, true),
            ("V", "AUTHORIZATION: bearer x", true),
            ("SEED_PHRASE", "x", true),
            ("GIT_HTTP_EXTRAHEADER", "x", true),
            ("SEED", "7", false),
            ("ROOTPW", "x", true),
            ("OP_SESSION_x", "x", true),
            ("XDG_SESSION_TYPE", "tty", false),
            ("REGION", "ASIA", false),
            ("GOPRIVATE", "example.com/x", false),
            ("PWD", "/w", false),
            ("GIT_AUTHOR_NAME", "Me", false),
            ("PATH", "/bin", false),
            ("LANG", "C.UTF-8", false),
        ] {
            assert_eq!(is_secret_variable(name.as_ref(), value.as_ref()), secret, "{name}");
        }
        for (name, expected) in [
            ("GITHUB_PAT", true),
            ("OPENAI_API_KEY", true),
            ("apiToken", true),
            ("DB_PASSWORD", true),
            ("PATTERN", false),
            ("HOME", false),
            ("PWD", true),
        ] {
            assert_eq!(is_secret_name(name), expected, "{name}");
        }
    }
}
