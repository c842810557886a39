//! Names of clones, their refs, and the URLs that lepo passes to git.

use super::secrets::PushSecrets;
use lepo_base::error::{Error, Result};
use lepo_store::store::{LONGEST_CLONE, is_clone_name};

/// Where the refs of clones are on the remote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Namespace {
    /// `refs/lepo/NAME`.
    Own,
    /// `refs/heads/lepo/NAME`, for hosts that refuse other refs.
    Heads,
}

impl Namespace {
    /// Returns the prefix of all refs of clones.
    pub fn prefix(self) -> &'static str {
        match self {
            Namespace::Own => "refs/lepo/",
            Namespace::Heads => "refs/heads/lepo/",
        }
    }

    /// Returns the other namespace.
    pub fn other(self) -> Namespace {
        match self {
            Namespace::Own => Namespace::Heads,
            Namespace::Heads => Namespace::Own,
        }
    }

    /// Returns the ref of a clone on the remote.
    pub fn ref_name(self, clone: &str) -> String {
        format!("{}{clone}", self.prefix())
    }
}

/// Checks the name of a clone: `[a-z0-9-]{1,40}`, starting with a letter or digit.
pub fn check_clone_name(name: &str) -> Result<()> {
    match is_clone_name(name) {
        true => Ok(()),
        false => Err(Error::usage(format!("{name:?} is not a valid clone name"))
            .hint("up to 40 lower-case letters, digits and hyphens, as in laptop-2")),
    }
}

/// Derives a name for this clone from the host name.
pub fn default_clone_name(host: &str) -> String {
    let host = host.split('.').next().unwrap_or_default().to_lowercase();
    let kept: String =
        host.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(30).collect();
    let kept = kept.trim_matches('-');
    if kept.is_empty() { "clone".into() } else { kept.into() }
}

/// Returns `wanted`, or `wanted-2` and so on if the name is in use.
pub fn free_clone_name(wanted: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let mut name = wanted.to_string();
    let mut number = 2;
    while is_taken(&name) {
        let end = format!("-{number}");
        let kept: String = wanted.chars().take(LONGEST_CLONE - end.len()).collect();
        name = format!("{kept}{end}");
        number += 1;
    }
    name
}

/// Refuses text that git could parse as an option or another transport, and URLs with a password.
pub fn check_url(url: &str) -> Result<()> {
    let refuse =
        |why: &str, hint: &str| Err(Error::usage(format!("refused remote: {why}")).hint(hint.to_string()));
    if url.is_empty() || url.starts_with('-') {
        return refuse("it begins with a hyphen or is empty", "give a URL or the name of a git remote");
    }
    if url.chars().any(char::is_control) {
        return refuse("it has control characters", "give a URL or the name of a git remote");
    }
    if url.contains("::") {
        return refuse("it names a transport helper", "use https, ssh, file or a path");
    }
    if let Some((_, rest)) = url.split_once("://") {
        let authority = rest.split('/').next().unwrap_or_default();
        let user = authority.rsplit_once('@').map(|(user, _)| user).unwrap_or_default();
        if user.contains(':') {
            return refuse(
                "it holds a password",
                "take the password out: git's credential helpers keep it (git help credentials)",
            );
        }
        if is_token(user) {
            return refuse(
                "it holds a token",
                "take the token out: git's credential helpers keep it (git help credentials)",
            );
        }
    }
    Ok(())
}

/// Whether the user of a URL is rather a token: of a known format, or long, with letters and digits.
fn is_token(user: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let has = |is: fn(&u8) -> bool| user.bytes().any(|byte| is(&byte));
    let is_long = user.len() >= 20 && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
    (is_long && user.bytes().all(is_part)) || PushSecrets::new([]).find(user.as_bytes()).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_urls_are_checked() {
        for (name, good) in [
            ("laptop", true),
            ("a-2", true),
            ("", false),
            ("-x", false),
            ("Laptop", false),
            ("a/b", false),
            ("..", false),
            ("a.lock", false),
            ("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", true),
            ("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false),
        ] {
            assert_eq!(check_clone_name(name).is_ok(), good, "{name}");
        }
        for (url, good) in [
            ("https://host/x.git", true),
            ("https://me@host/x.git", true),
            ("git@host:me/x.git", true),
            ("ssh://me@host:22/x", true),
            ("/srv/x.git", true),
            ("file:///srv/x.git", true),
            ("https://me:secret@host/x.git", false),
            ("https://ghp_0123456789abcdefghijklmnopqrstuvwxyz@host/x.git", false),
            ("http://glpat-0123456789abcdefghij@host/x.git", false),
            ("https://0123456789abcdef0123456789abcdef01234567@host/x.git", false),
            ("https://a-person-with-a-long-name@host/x.git", true),
            ("https://first.last%40example.com@host/x.git", true),
            ("-oProxyCommand=x", false),
            ("ext::sh -c x", false),
            ("a\nb", false),
            ("", false),
        ] {
            assert_eq!(check_url(url).is_ok(), good, "{url}");
        }
    }

    #[test]
    fn a_clone_is_named_for_its_host_and_numbered_where_taken() {
        for (host, name) in
            [("Laptop.local", "laptop"), ("my_box", "my-box"), ("한글", "clone"), ("", "clone")]
        {
            assert_eq!(default_clone_name(host), name);
        }
        assert_eq!(free_clone_name("a", |name| ["a", "a-2"].contains(&name)), "a-3");
        assert_eq!(
            free_clone_name(&"a".repeat(40), |name| name.len() == 40 && !name.ends_with("-2")).len(),
            40
        );
    }
}
