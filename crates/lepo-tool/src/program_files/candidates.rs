//! Parts of an argument or a variable that could be the path of a file.

/// Longest path that systems accept, in bytes.
const LONGEST: usize = 4096;

/// Most parts of a word to examine.
const MOST: usize = 500;

/// Characters between the words of a shell line, or of a program in an argument.
const BETWEEN_WORDS: &str = "\"'`;&|(){}<>,$";

/// Characters between the paths of a list, and between a file and an object in it (`server.py:app`).
const BETWEEN_PATHS: [char; 3] = [':', ',', ';'];

/// Returns the word itself, the value of an option (`--config=FILE`, `-rFILE`, `@FILE`), the paths of a list, and the
/// words of a shell line.
pub(super) fn candidates(word: &str) -> Vec<&str> {
    let is_between = |c: char| c.is_whitespace() || BETWEEN_WORDS.contains(c);
    let mut found = Vec::new();
    for part in std::iter::once(word).chain(word.split(is_between)) {
        let value = part.split_once('=').map(|(_, value)| value);
        for text in [Some(part), value, short_option(part)].into_iter().flatten() {
            let text = text.strip_prefix('@').unwrap_or(text);
            let path = text.strip_prefix("file://").unwrap_or(text);
            found.push(path);
            found.extend(path.split(BETWEEN_PATHS));
        }
    }
    found.retain(|path| !path.is_empty() && path.len() <= LONGEST && !path.contains('\0'));
    let mut seen = std::collections::HashSet::new();
    found.retain(|path| seen.insert(*path));
    found.truncate(MOST);
    found
}

/// Returns the value directly after a one-letter option.
fn short_option(word: &str) -> Option<&str> {
    let rest = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'))?;
    let mut chars = rest.chars();
    chars.next().filter(char::is_ascii_alphabetic)?;
    Some(chars.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_in_which_a_path_stands_is_a_candidate() {
        for (word, path) in [
            ("tools/server.py", "tools/server.py"),
            ("--config=a b.json", "a b.json"),
            ("-rlib/x.rb", "lib/x.rb"),
            ("@args.txt", "args.txt"),
            ("--import=file:///w/hook.mjs", "/w/hook.mjs"),
            ("a.jar:b.jar", "b.jar"),
            ("server.py:app", "server.py"),
            ("exec python3 'tools/server.py' --x", "tools/server.py"),
            ("cd tools && ./run.sh;true", "./run.sh"),
            ("FOO=1 bash run.sh", "run.sh"),
            ("require('./hook.js')", "./hook.js"),
            ("--require ./hook.js", "./hook.js"),
        ] {
            assert!(candidates(word).contains(&path), "{word}: {:?}", candidates(word));
        }
        assert_eq!(candidates(""), Vec::<&str>::new());
        assert!(candidates(&"x ".repeat(10_000)).len() <= MOST);
    }
}
