//! Scripts of shells outside of the tree in which they start: which programs their text names, and whether it leads into
//! that tree.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::families::is_shell_script;
use super::loaded::LONGEST_TEXT;

/// Most scripts to read, including those named by others.
const MOST_SCRIPTS: usize = 20;

/// Parts of a script that run what is only known when it runs, or name the folder in which it starts.
const DYNAMIC: &[&str] = &["eval", "pwd", "PWD", "OLDPWD", "rev-parse", "pushd"];

/// Folders of files that `.` reads, outside of the tree.
const FIXED_FOLDERS: &[&str] = &["dirname", "HOME", "BASH_SOURCE"];

/// Returns the programs and arguments in a script that starts in `dir`, and in the scripts of its folder that it names;
/// `None` if any may lead into `tree`, or cannot be read.
pub(super) fn words_outside(script: &Path, dir: &Path, tree: &Path) -> Option<Vec<String>> {
    let (mut words, mut seen) = (Vec::new(), BTreeSet::new());
    let mut left = vec![script.to_path_buf()];
    while let Some(script) = left.pop() {
        if !seen.insert(script.clone()) {
            continue;
        }
        let is_short = script.metadata().is_ok_and(|meta| meta.is_file() && meta.len() <= LONGEST_TEXT);
        if !is_short || seen.len() > MOST_SCRIPTS || script.starts_with(tree) {
            return None;
        }
        let text = std::fs::read_to_string(&script).ok()?;
        let found = words_of(&text);
        if leads_into(&found, dir, tree) {
            return None;
        }
        let folder = script.parent().unwrap_or(&script);
        let named = found.iter().map(|word| folder.join(word.trim_start_matches('/')));
        left.extend(named.filter(|path| path.is_file() && is_shell_script(path)).collect::<Vec<PathBuf>>());
        words.extend(found.into_iter().map(str::to_string));
    }
    Some(words)
}

/// Splits a script without its comments; a variable has its `$`.
fn words_of(text: &str) -> Vec<&str> {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    let is_end = |c: char| c.is_whitespace() || "\"'`()<>|&;=\\".contains(c);
    lines.flat_map(|line| line.split(is_end)).filter(|word| !word.is_empty() && *word != "$").collect()
}

fn leads_into(words: &[&str], dir: &Path, tree: &Path) -> bool {
    words.iter().enumerate().any(|(at, word)| {
        let before = at.checked_sub(1).and_then(|at| words.get(at)).copied().unwrap_or_default();
        let next = words.get(at + 1).copied().unwrap_or_default();
        let first = word.split('/').next().unwrap_or_default();
        if DYNAMIC.contains(&first.trim_matches(['$', '{', '}'])) || word.split('/').any(|part| part == "..")
        {
            return true;
        }
        match *word {
            "." | "source" => {
                let folder = next.split('/').next().unwrap_or_default().trim_matches(['$', '{', '}']);
                !next.starts_with(['/', '~']) && !FIXED_FOLDERS.contains(&folder)
            }
            word if word.contains('/') => {
                // A variable and `~` may be any folder above.
                let parts: Vec<&str> = word.split('/').collect();
                let known = parts.iter().rposition(|part| part.contains(['$', '~'])).map_or(0, |at| at + 1);
                let rest = parts.iter().skip(known).copied().collect::<Vec<_>>().join("/");
                let mut paths = dir.ancestors().map(|above| above.join(rest.trim_start_matches('/')));
                !rest.is_empty() && paths.any(|path| path.starts_with(tree) && path.exists())
            }
            word => {
                let path = dir.join(word);
                path.is_file() || before == "cd" && path.is_dir()
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_leads_into_the_tree_by_a_path_or_by_what_only_its_run_knows() {
        let temp_dir = tempfile::tempdir().unwrap();
        let home = temp_dir.path().canonicalize().unwrap();
        let tree = home.join("app");
        for name in ["app/tools/run.py", "app/test/x", "app/server", "bin/inner.sh", "bin/lib.sh"] {
            let path = home.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        std::fs::write(home.join("bin/inner.sh"), "exec python3 tools/run.py\n").unwrap();
        let absolute = format!("exec {}/tools/run.py", tree.display());
        for (text, leads) in [
            ("#!/bin/sh\n# runs tools/run.py\nexec claude -p \"$@\"\n", false),
            ("cd \"$(dirname \"$0\")\"\ncat > asked.$n\ncat answer.$n || exit 7\n", false),
            ("test -f /etc/passwd && exec curl -s https://example.org/v1\n", false),
            (". \"$(dirname \"$0\")/lib.sh\"\nexec llm\n", false),
            (". ~/.profile; exec llm", false),
            ("exec python3 tools/run.py", true),
            ("exec ./server", true),
            ("cat server | sh", true),
            ("exec python3 \"$HOME/app/tools/run.py\"", true),
            ("exec python3 ~/app/tools/run.py", true),
            ("X=app; exec \"$HOME/$X/tools/run.py\"", true),
            (absolute.as_str(), true),
            ("cd test && $X", true),
            ("cd \"$(git rev-parse --show-toplevel)\" && exec $X", true),
            ("eval \"$X\"", true),
            (". ./env", true),
            ("source env.sh", true),
            ("exec sh \"$PWD/x\"", true),
            ("find . -name '*.sh' -exec sh {} ';'", true),
            ("cd \"$(dirname \"$0\")/..\" && exec x", true),
            ("exec \"$(dirname \"$0\")/inner.sh\"", true),
        ] {
            let script = home.join("bin/ask.sh");
            std::fs::write(&script, text).unwrap();
            assert_eq!(words_outside(&script, &tree, &tree).is_none(), leads, "{text}");
        }
        std::fs::write(home.join("bin/ask.sh"), b"\xff").unwrap();
        assert!(words_outside(&home.join("bin/ask.sh"), &tree, &tree).is_none());
        assert!(words_outside(&tree.join("server"), &tree, &tree).is_none(), "it lies in the tree");
        let words = words_outside(&home.join("bin/lib.sh"), &tree, &tree);
        assert_eq!(words, Some(Vec::new()));
    }
}
