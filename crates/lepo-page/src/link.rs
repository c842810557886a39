//! The URLs that a page may link to.

/// Returns the URL if it is a web or mail address; anything else (scripts, data, files, relative URLs) is not linked.
pub fn safe(address: &str) -> Option<&str> {
    let has =
        |scheme: &str| address.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme));
    let known = ["https://", "http://", "mailto:"].into_iter().any(has);
    // A browser drops tabs and newlines within a URL, and spaces around it.
    let odd = address.contains(|c: char| c.is_control() || c.is_whitespace() || c == '\\');
    (known && !odd).then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_web_and_mail_are_linked() {
        for (address, good) in [
            ("https://example.org/?q=1#a", true),
            ("HTTP://example.org", true),
            ("mailto:a@example.org", true),
            ("https://예시.한국/길", true),
            ("javascript:alert(1)", false),
            ("JaVaScRiPt:alert(1)", false),
            ("java\nscript:alert(1)", false),
            ("\u{1}javascript:alert(1)", false),
            ("data:text/html,<script>alert(1)</script>", false),
            ("vbscript:x", false),
            ("blob:https://example.org/x", false),
            ("file:///etc/passwd", false),
            ("//example.org/x", false),
            ("/etc/passwd", false),
            ("#top", false),
            ("https:/\\example.org", false),
            ("https://a\tb", false),
            ("", false),
        ] {
            assert_eq!(safe(address).is_some(), good, "{address:?}");
        }
    }
}
