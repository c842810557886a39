//! `.gitattributes` of a store: git must not change a byte of a message, and a merge must preserve the lines of both
//! sides.

use std::io::{self, Write};

use super::handle::Store;
use lepo_base::error::Result;

pub(super) const ATTRIBUTES: &str = ".gitattributes";

/// Records that lepo's own files were added to `.gitignore` once. They are not added again if the user removes them.
pub(super) const LISTED: &str = "# .gitignore: lepo's own files were listed once";

/// Every byte counts: if git changed line ends, no id would be right. Written as the first line, so that a rule of
/// the user after it wins.
const NO_TEXT: &str = "* -text\n";

/// Files that only grow, or in which the greatest line counts, so a git merge may leave the lines of both sides.
const MERGES: &str = "_journal.ndjson merge=union\n_titles merge=union\n_branches/* merge=union\n";

#[doc(hidden)]
impl Store {
    /// Creates `.gitattributes`, or adds the rule against changed line ends if it is missing. Returns whether it
    /// wrote.
    pub fn complete_attributes(&self) -> Result<bool> {
        let there = match self.dir.kind_of(ATTRIBUTES)? {
            None => format!("{MERGES}{LISTED}\n"),
            Some(true) => match self.dir.read_file(ATTRIBUTES)?.map(String::from_utf8) {
                Some(Ok(text)) if !keeps_bytes(&text) => text.replace("\r\n", "\n"),
                _ => return Ok(false),
            },
            // A link or a special file is not lepo's and stays unchanged.
            Some(false) => return Ok(false),
        };
        let write = || -> io::Result<()> {
            let mut tmp = self.dir.temporary("furniture")?;
            tmp.file.write_all(NO_TEXT.as_bytes())?;
            tmp.file.write_all(there.as_bytes())?;
            tmp.file.sync_all()?;
            tmp.replace(&self.dir.fd, ATTRIBUTES)
        };
        write().map(|()| true).map_err(|error| self.dir.error("cannot write", ATTRIBUTES, error))
    }
}

/// Whether a rule for all files decides if they are text: lepo's rule or one of the user's.
fn keeps_bytes(text: &str) -> bool {
    text.lines().any(|line| {
        let mut words = line.split_ascii_whitespace();
        words.next() == Some("*") && words.any(|word| matches!(word, "-text" | "binary" | "text" | "!text"))
    })
}

#[cfg(test)]
mod tests {
    use super::super::oracle::store;
    use super::*;

    #[test]
    fn the_rule_is_added_once_and_the_users_own_stay() {
        let dir = tempfile::tempdir().unwrap();
        let store = store(&dir);
        let file = dir.path().join(".lepo/.gitattributes");
        let made = std::fs::read_to_string(&file).unwrap();
        assert_eq!(made, format!("{NO_TEXT}{MERGES}{LISTED}\n"));
        for (there, after) in [
            (MERGES, Some(format!("{NO_TEXT}{MERGES}"))),
            (
                "_titles merge=union\r\n*.md diff\r\n",
                Some(format!("{NO_TEXT}_titles merge=union\n*.md diff\n")),
            ),
            ("", Some(NO_TEXT.to_string())),
            ("*  binary\n", None),
            ("* diff -text\r\n", None),
            ("*.md -text\n", Some(format!("{NO_TEXT}*.md -text\n"))),
        ] {
            std::fs::write(&file, there).unwrap();
            assert_eq!(store.complete_attributes().unwrap(), after.is_some(), "{there:?}");
            assert_eq!(std::fs::read_to_string(&file).unwrap(), after.unwrap_or(there.into()), "{there:?}");
            assert!(!store.complete_attributes().unwrap(), "{there:?}");
        }
        std::fs::remove_file(&file).unwrap();
        assert!(store.complete_attributes().unwrap());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), made);
        std::fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink("_insts.toml", &file).unwrap();
        assert!(!store.complete_attributes().unwrap() && file.is_symlink());
    }
}
