//! The paths in a clone's tree, computed from ids and names: `2026-03/04/FILE`, `_blobs/ab/SHA256`, `_branches/NAME`,
//! `_titles`, `_gone`.

use lepo_store::bubb::{BubbName, ContentHash, Day};

pub const REMOVED: &str = "_gone";

pub const TITLES: &str = "_titles";

/// A parsed path in a clone's tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TreePath {
    /// A bubb, in the folder of its day.
    Bubb(BubbName),
    /// A blob, by its SHA-256.
    Blob(ContentHash),
    /// A branch, by its file name.
    Branch(String),
    Titles,
    Removed,
}

impl TreePath {
    /// Parses a path; `None` for any path that lepo does not write.
    pub fn parse(path: &[u8]) -> Option<TreePath> {
        let text = std::str::from_utf8(path).ok()?;
        if text == REMOVED {
            return Some(TreePath::Removed);
        }
        if text == TITLES {
            return Some(TreePath::Titles);
        }
        if let Some(rest) = text.strip_prefix("_blobs/") {
            let (short, hash) = rest.split_once('/')?;
            let is_folder = short.len() == 2 && hash.starts_with(short);
            return ContentHash::parse(hash).filter(|_| is_folder).map(TreePath::Blob);
        }
        if let Some(name) = text.strip_prefix("_branches/") {
            return lepo_store::store::check_branch_name(&decoded(name)?)
                .is_ok()
                .then(|| TreePath::Branch(name.into()));
        }
        let (folder, file) = text.rsplit_once('/')?;
        let name = BubbName::parse(file.as_bytes()).filter(|_| BubbName::is_canonical(file.as_bytes()))?;
        let (month, day) = folder.split_once('/')?;
        (Day::parse(month.as_bytes(), day.as_bytes()) == Some(Day::from_id(name.id)))
            .then_some(TreePath::Bubb(name))
    }

    pub fn path(&self) -> String {
        match self {
            TreePath::Bubb(name) => format!("{}/{name}", Day::from_id(name.id)),
            TreePath::Blob(hash) => format!("_blobs/{hash:.2}/{hash}"),
            TreePath::Branch(name) => format!("_branches/{name}"),
            TreePath::Titles => TITLES.into(),
            TreePath::Removed => REMOVED.into(),
        }
    }
}

/// Whether `path` is a folder that lepo writes: `2026-03`, `2026-03/04`, `_blobs`, `_blobs/ab`, `_branches`.
pub fn is_folder(path: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(path) else { return false };
    match text.split_once('/') {
        None => matches!(text, "_blobs" | "_branches") || Day::parse(path, b"01").is_some(),
        Some(("_blobs", short)) => {
            short.len() == 2 && short.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        }
        Some((month, day)) => Day::parse(month.as_bytes(), day.as_bytes()).is_some(),
    }
}

/// Encodes a branch's name as a file name: `/` becomes `%2F`, as in a store's `_branches/`, and `%` becomes `%25`.
pub fn encoded(name: &str) -> String {
    name.replace('%', "%25").replace('/', "%2F")
}

/// Decodes the name of a branch from its file name; `None` if [`encoded`] cannot have written it.
pub fn decoded(file: &str) -> Option<String> {
    if file.contains('/') {
        return None;
    }
    let name = file.replace("%2F", "/").replace("%25", "%");
    (encoded(&name) == file).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_what_lepo_would_write_or_nothing() {
        let name = "01JB3Z0Q4N8V2K5T7W9X1Y3Z5A-u0-head.md";
        let good = format!("2024-10/26/{name}");
        let parsed = TreePath::parse(good.as_bytes());
        assert!(
            matches!(parsed, Some(TreePath::Bubb(_))),
            "{:?}",
            Day::from_id(BubbName::parse(name.as_bytes()).unwrap().id).to_string()
        );
        assert_eq!(parsed.unwrap().path(), good);
        let hash = "ab".repeat(32);
        let fixed = ["_branches/main", "_branches/a%2Fb", "_titles", "_gone"].map(String::from);
        for path in [format!("_blobs/ab/{hash}")].into_iter().chain(fixed) {
            assert_eq!(TreePath::parse(path.as_bytes()).unwrap().path(), path);
        }
        for path in [
            format!("2024-10/27/{name}"),
            format!("2024-10/26/x/{name}"),
            name.to_string(),
            format!("../{name}"),
            format!("2024-10/26/{}", name.to_lowercase()),
            format!("_blobs/cd/{hash}"),
            format!("_blobs/ab/{}", hash.to_uppercase()),
            "_branches/../x".into(),
            "_branches/-x".into(),
            "_branches/a/b".into(),
            "_config.toml".into(),
            "_mcp.json".into(),
            "".into(),
        ] {
            assert_eq!(TreePath::parse(path.as_bytes()), None, "{path}");
        }
        assert_eq!(TreePath::parse(b"\xff"), None);
        for folder in ["2024-10", "2024-10/26", "_blobs", "_blobs/ab", "_branches"] {
            assert!(is_folder(folder.as_bytes()), "{folder}");
        }
        for none in [
            "",
            "x",
            "2024-13",
            "2024-10/32",
            "2024-10/26/01",
            "_blobs/abc",
            "_blobs/AB",
            "_branches/a",
            "_gone",
        ] {
            assert!(!is_folder(none.as_bytes()), "{none}");
        }
    }
}
