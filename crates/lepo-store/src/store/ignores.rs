//! `.gitignore` of a store: all of it, until the user deletes that line, and lepo's own files by lines of their own. The
//! journal changes after every answer, and git refuses to check out, rebase or pull over a tracked file that changed.

use std::io::{self, Write};

use super::attributes::{ATTRIBUTES, LISTED};
use super::furniture::{Furniture, MARK};
use lepo_base::error::Result;

/// The line that keeps the whole store out of version control.
const ALL: &str = "*";

/// The line that keeps the journal out of it.
const JOURNAL: &str = "/_journal.ndjson";

/// The lines of lepo's own files.
const OWN: [&str; 5] = ["/_tmp/", "/_cache/", "/_wire/", "/_from/", JOURNAL];

/// In `.gitattributes`: the line of the journal was taken out once.
const JOURNAL_IS_KEPT: &str = "# .gitignore: the journal is for git, too";

impl Furniture<'_> {
    /// The text of a new one.
    pub(super) fn new_ignores(&self) -> String {
        [ALL].iter().chain(&OWN).map(|line| format!("{line}\n")).collect()
    }

    /// Adds the lines of lepo's own files to a `.gitignore` that never had them. True if that changes what git does: in
    /// a store that is ignored as a whole it does not.
    pub fn complete_ignores(&self) -> Result<bool> {
        let attributes = self.text_of(ATTRIBUTES)?;
        if attributes.as_ref().is_none_or(|text| has_line(text, LISTED)) {
            return Ok(false);
        }
        let Some(text) = self.text_of(MARK)? else { return Ok(false) };
        let missing: String =
            OWN.iter().filter(|line| !has_line(&text, line)).map(|line| format!("{line}\n")).collect();
        let between = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        if !missing.is_empty() {
            self.write(MARK, &format!("{text}{between}{missing}"))?;
        }
        self.mark(LISTED)?;
        Ok(!missing.is_empty() && !has_line(&text, ALL))
    }

    /// Lets git have the journal, once: without it nothing that was recorded is found in a clone. True if that changes
    /// what git does.
    pub fn keep_journal(&self) -> Result<bool> {
        self.without(&[JOURNAL])
    }

    /// Lets git have the messages and the journal.
    pub fn commit(&self) -> Result<bool> {
        self.without(&[ALL, JOURNAL])
    }

    /// True if `.gitignore` has the line of the journal.
    pub fn ignores_journal(&self) -> Result<bool> {
        Ok(self.text_of(MARK)?.is_some_and(|text| has_line(&text, JOURNAL)))
    }

    fn without(&self, lines: &[&str]) -> Result<bool> {
        let is_kept = self.text_of(ATTRIBUTES)?.is_none_or(|text| has_line(&text, JOURNAL_IS_KEPT));
        let Some(text) = self.text_of(MARK)? else { return Ok(false) };
        let goes = |line: &str| lines.contains(&line.trim()) && !(is_kept && line.trim() == JOURNAL);
        let rest: String = text.lines().filter(|line| !goes(line)).map(|line| format!("{line}\n")).collect();
        let changes = rest.lines().count() < text.lines().count();
        if changes {
            self.write(MARK, &rest)?;
        }
        self.mark(JOURNAL_IS_KEPT)?;
        Ok(changes && !has_line(&rest, ALL))
    }

    /// Adds a line to `.gitattributes`, if that is there without it.
    fn mark(&self, line: &str) -> Result<()> {
        match self.text_of(ATTRIBUTES)? {
            Some(text) if !text.is_empty() && !has_line(&text, line) => {
                let between = if text.ends_with('\n') { "" } else { "\n" };
                self.write(ATTRIBUTES, &format!("{text}{between}{line}\n"))
            }
            _ => Ok(()),
        }
    }

    /// The text of a file for git, empty where it is not there; none of a link, or of what is no text.
    fn text_of(&self, file: &str) -> Result<Option<String>> {
        Ok(match self.store.dir.kind_of(file)? {
            None => Some(String::new()),
            Some(true) => self.store.dir.read_file(file)?.and_then(|bytes| String::from_utf8(bytes).ok()),
            Some(false) => None,
        })
    }

    fn write(&self, file: &str, text: &str) -> Result<()> {
        let write = || -> io::Result<()> {
            let mut tmp = self.store.dir.temporary("furniture")?;
            tmp.file.write_all(text.as_bytes())?;
            tmp.file.sync_all()?;
            tmp.replace(&self.store.dir.fd, file)
        };
        write().map_err(|error| self.store.dir.error("cannot write", file, error))
    }
}

fn has_line(text: &str, line: &str) -> bool {
    text.lines().any(|found| found.trim() == line)
}

#[cfg(test)]
mod tests {
    use super::super::oracle::store;
    use super::*;

    #[test]
    fn the_lines_are_added_once_and_stay_away_once_the_user_took_them_out() {
        let dir = tempfile::tempdir().unwrap();
        let store = store(&dir);
        let furniture = store.furniture();
        let [ignores, attributes] = [MARK, ATTRIBUTES].map(|file| dir.path().join(".lepo").join(file));
        let read = |file: &std::path::Path| std::fs::read_to_string(file).unwrap();
        assert_eq!(read(&ignores), furniture.new_ignores());
        let own = OWN.join("\n") + "\n";
        for (before, after, changes) in [
            ("*\n", format!("*\n{own}"), false),
            ("", own.clone(), true),
            (
                "/_tmp/\r\n# mine\n/_cache/",
                "/_tmp/\r\n# mine\n/_cache/\n/_wire/\n/_from/\n/_journal.ndjson\n".into(),
                true,
            ),
            (own.as_str(), own.clone(), false),
        ] {
            std::fs::write(&attributes, "* -text\n").unwrap();
            std::fs::write(&ignores, before).unwrap();
            assert_eq!(furniture.complete_ignores().unwrap(), changes, "{before:?}");
            assert_eq!(read(&ignores), after, "{before:?}");
            assert_eq!(read(&attributes), format!("* -text\n{LISTED}\n"));
            for taken in ["*\n", ""] {
                std::fs::write(&ignores, taken).unwrap();
                assert!(!furniture.complete_ignores().unwrap());
                assert_eq!(read(&ignores), taken);
            }
            std::fs::remove_file(&ignores).unwrap();
            assert!(!furniture.complete_ignores().unwrap() && !ignores.exists());
        }
        // What is no file of lepo's is left alone.
        std::fs::remove_file(&attributes).unwrap();
        std::os::unix::fs::symlink("_insts.toml", &attributes).unwrap();
        std::fs::write(&ignores, "*\n").unwrap();
        assert!(!furniture.complete_ignores().unwrap());
        assert_eq!(read(&ignores), "*\n");
    }

    #[test]
    fn a_journal_that_is_kept_for_git_stays_so_unless_the_user_takes_it_back() {
        let dir = tempfile::tempdir().unwrap();
        let store = store(&dir);
        let furniture = store.furniture();
        let ignores = dir.path().join(".lepo").join(MARK);
        let read = || std::fs::read_to_string(&ignores).unwrap();
        assert!(furniture.ignores_journal().unwrap());
        assert!(!furniture.keep_journal().unwrap(), "the whole store is ignored still");
        assert_eq!(read(), furniture.new_ignores().replace("/_journal.ndjson\n", ""));
        assert!(!furniture.ignores_journal().unwrap());
        // Put back, it stays.
        std::fs::write(&ignores, furniture.new_ignores()).unwrap();
        assert!(!furniture.keep_journal().unwrap() && furniture.ignores_journal().unwrap());
        assert!(furniture.commit().unwrap());
        assert_eq!(read(), furniture.new_ignores().replace("*\n", ""));
        assert!(!furniture.commit().unwrap());
    }
}
