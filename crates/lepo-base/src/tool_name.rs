//! Names of tools as models write them: with a prefix, in capitals, or with characters that are not part of the name.

/// Prefixes that models add to the name of a tool.
const PREFIXES: &[&str] =
    &["functions.", "functions:", "function.", "default_api.", "default_api:", "tools.", "tool.", "api."];

/// Removes white space, quotes, a prefix, a number after a colon, and everything from a mark of the model's template
/// on.
pub fn bare_name(name: &str) -> &str {
    let name = name.split("<|").next().unwrap_or_default();
    let mut name = name.trim_matches(|c: char| c.is_whitespace() || c.is_control() || "\"'`()".contains(c));
    if let Some((before, number)) = name.rsplit_once(':')
        && !number.is_empty()
        && number.chars().all(|c| c.is_ascii_digit())
    {
        name = before;
    }
    PREFIXES
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))
        .filter(|rest| !rest.is_empty())
        .unwrap_or(name)
}

/// Returns a name in lower case with letters and digits only, so that spellings with different separators are equal.
pub fn folded_name(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_within_what_stands_around_it() {
        for (name, bare, folded) in [
            ("functions.run_command:0", "run_command", "runcommand"),
            (" `Run-Command()` ", "Run-Command", "runcommand"),
            ("run<|channel|>x", "run", "run"),
            ("a:b", "a:b", "ab"),
        ] {
            assert_eq!((bare_name(name), folded_name(bare)), (bare, folded.to_string()), "{name}");
        }
    }
}
