//! `.gitignore` of a store: the whole store, until the user deletes that line, and lepo's own files on separate
//! lines. The journal changes after every answer, and git refuses to check out, rebase or pull over a changed tracked
//! file.

use std::io::{self, Write};

use super::attributes::{ATTRIBUTES, LISTED};
use super::handle::Store;
use super::meta_files::MARK;
use lepo_base::error::Result;

/// Makes git ignore the whole store.
const ALL: &str = "*";

/// Makes git ignore the journal.
const JOURNAL: &str = "/_journal.ndjson";

const OWN: [&str; 7] = ["/_tmp/", "/_cache/", "/_wire/", "/_from/", JOURNAL, CHANGES[0], CHANGES[1]];

/// Makes git ignore what can be taken back.
const CHANGES: [&str; 2] = ["/_removed/", "/_undo.ndjson"];

/// In `.gitattributes`: records that the line of the journal was removed once.
const JOURNAL_IS_KEPT: &str = "# .gitignore: the journal is for git, too";

#[doc(hidden)]
impl Store {
    pub(super) fn new_ignores(&self) -> String {
        [ALL].iter().chain(&OWN).map(|line| format!("{line}\n")).collect()
    }

    /// Adds the lines of lepo's own files to a `.gitignore` that never had them. Returns whether git's behaviour
    /// changes, which it does not if the whole store is ignored.
    pub fn complete_ignores(&self) -> Result<bool> {
        let attributes = self.meta_text(ATTRIBUTES)?;
        if attributes.as_ref().is_none_or(|text| has_line(text, LISTED)) {
            return Ok(false);
        }
        let Some(text) = self.meta_text(MARK)? else { return Ok(false) };
        let missing: String =
            OWN.iter().filter(|line| !has_line(&text, line)).map(|line| format!("{line}\n")).collect();
        let between = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        if !missing.is_empty() {
            self.write_meta(MARK, &format!("{text}{between}{missing}"))?;
        }
        self.add_attribute_mark(LISTED)?;
        Ok(!missing.is_empty() && !has_line(&text, ALL))
    }

    /// Adds the lines of what can be taken back, when the store gets its first change of that kind.
    pub(super) fn ignore_changes(&self) -> Result<()> {
        let Some(text) = self.meta_text(MARK)? else { return Ok(()) };
        let missing: String =
            CHANGES.iter().filter(|line| !has_line(&text, line)).map(|line| format!("{line}\n")).collect();
        let between = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        if missing.is_empty() { Ok(()) } else { self.write_meta(MARK, &format!("{text}{between}{missing}")) }
    }

    /// Lets git track the journal, once: without it a clone has no recorded answers. Returns whether git's behaviour
    /// changes.
    pub fn track_journal(&self) -> Result<bool> {
        self.remove_ignores(&[JOURNAL])
    }

    /// Lets git track the messages and the journal. Returns whether git's behaviour changes.
    pub fn track_messages(&self) -> Result<bool> {
        self.remove_ignores(&[ALL, JOURNAL])
    }

    /// Whether `.gitignore` has the line of the journal.
    pub fn ignores_journal(&self) -> Result<bool> {
        Ok(self.meta_text(MARK)?.is_some_and(|text| has_line(&text, JOURNAL)))
    }

    fn remove_ignores(&self, lines: &[&str]) -> Result<bool> {
        let is_kept = self.meta_text(ATTRIBUTES)?.is_none_or(|text| has_line(&text, JOURNAL_IS_KEPT));
        let Some(text) = self.meta_text(MARK)? else { return Ok(false) };
        let goes = |line: &str| lines.contains(&line.trim()) && !(is_kept && line.trim() == JOURNAL);
        let rest: String = text.lines().filter(|line| !goes(line)).map(|line| format!("{line}\n")).collect();
        let changes = rest.lines().count() < text.lines().count();
        if changes {
            self.write_meta(MARK, &rest)?;
        }
        self.add_attribute_mark(JOURNAL_IS_KEPT)?;
        Ok(changes && !has_line(&rest, ALL))
    }

    fn add_attribute_mark(&self, line: &str) -> Result<()> {
        match self.meta_text(ATTRIBUTES)? {
            Some(text) if !text.is_empty() && !has_line(&text, line) => {
                let between = if text.ends_with('\n') { "" } else { "\n" };
                self.write_meta(ATTRIBUTES, &format!("{text}{between}{line}\n"))
            }
            _ => Ok(()),
        }
    }

    /// Reads a file for git: empty if it is missing, `None` if it is a link, not a regular file or not UTF-8.
    fn meta_text(&self, file: &str) -> Result<Option<String>> {
        Ok(match self.dir.kind_of(file)? {
            None => Some(String::new()),
            Some(true) => self.dir.read_file(file)?.and_then(|bytes| String::from_utf8(bytes).ok()),
            Some(false) => None,
        })
    }

    fn write_meta(&self, file: &str, text: &str) -> Result<()> {
        let write = || -> io::Result<()> {
            let mut tmp = self.dir.temporary("furniture")?;
            tmp.file.write_all(text.as_bytes())?;
            tmp.file.sync_all()?;
            tmp.replace(&self.dir.fd, file)
        };
        write().map_err(|error| self.dir.error("cannot write", file, error))
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
        let [ignores, attributes] = [MARK, ATTRIBUTES].map(|file| dir.path().join(".lepo").join(file));
        let read = |file: &std::path::Path| std::fs::read_to_string(file).unwrap();
        assert_eq!(read(&ignores), store.new_ignores());
        let own = OWN.join("\n") + "\n";
        for (before, after, changes) in [
            ("*\n", format!("*\n{own}"), false),
            ("", own.clone(), true),
            (
                "/_tmp/\r\n# mine\n/_cache/",
                "/_tmp/\r\n# mine\n/_cache/\n/_wire/\n/_from/\n/_journal.ndjson\n/_removed/\n/_undo.ndjson\n"
                    .into(),
                true,
            ),
            (own.as_str(), own.clone(), false),
        ] {
            std::fs::write(&attributes, "* -text\n").unwrap();
            std::fs::write(&ignores, before).unwrap();
            assert_eq!(store.complete_ignores().unwrap(), changes, "{before:?}");
            assert_eq!(read(&ignores), after, "{before:?}");
            assert_eq!(read(&attributes), format!("* -text\n{LISTED}\n"));
            for taken in ["*\n", ""] {
                std::fs::write(&ignores, taken).unwrap();
                assert!(!store.complete_ignores().unwrap());
                assert_eq!(read(&ignores), taken);
            }
            std::fs::remove_file(&ignores).unwrap();
            assert!(!store.complete_ignores().unwrap() && !ignores.exists());
        }
        // A file that is not lepo's stays unchanged.
        std::fs::remove_file(&attributes).unwrap();
        std::os::unix::fs::symlink("_insts.toml", &attributes).unwrap();
        std::fs::write(&ignores, "*\n").unwrap();
        assert!(!store.complete_ignores().unwrap());
        assert_eq!(read(&ignores), "*\n");
    }

    #[test]
    fn a_journal_that_is_kept_for_git_stays_so_unless_the_user_takes_it_back() {
        let dir = tempfile::tempdir().unwrap();
        let store = store(&dir);
        let ignores = dir.path().join(".lepo").join(MARK);
        let read = || std::fs::read_to_string(&ignores).unwrap();
        assert!(store.ignores_journal().unwrap());
        assert!(!store.track_journal().unwrap(), "the whole store is ignored still");
        assert_eq!(read(), store.new_ignores().replace("/_journal.ndjson\n", ""));
        assert!(!store.ignores_journal().unwrap());
        // Once the user puts the line back, it stays.
        std::fs::write(&ignores, store.new_ignores()).unwrap();
        assert!(!store.track_journal().unwrap() && store.ignores_journal().unwrap());
        assert!(store.track_messages().unwrap());
        assert_eq!(read(), store.new_ignores().replace("*\n", ""));
        assert!(!store.track_messages().unwrap());
    }
}
