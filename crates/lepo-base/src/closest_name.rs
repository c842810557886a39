//! Suggests a name for a mistyped one.

use strsim::osa_distance;

/// Returns the name most similar to `word` if it is similar enough to be a typing error.
pub fn closest_name<'n>(word: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let (distance, name) = names.map(|name| (osa_distance(word, name), name)).min()?;
    let most = if word.chars().count() <= 4 { 1 } else { 2 };
    (distance <= most && distance < word.chars().count()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_keys_is_seen() {
        let names = ["do", "ls", "show", "log", "branch", "export", "rm", "fsck"];
        for (word, meant) in [
            ("shwo", Some("show")),
            ("sho", Some("show")),
            ("brnach", Some("branch")),
            ("exprot", Some("export")),
            ("lgo", Some("log")),
            ("hello", None),
            ("x", None),
            ("코드", None),
        ] {
            assert_eq!(closest_name(word, names.into_iter()), meant, "{word}");
        }
    }
}
