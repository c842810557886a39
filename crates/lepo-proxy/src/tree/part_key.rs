//! Hashes for comparing a request with a path: the kind and the stored text of each part, without white space at its ends
//! and without the digits of masks; for a call, its tool and arguments in canonical JSON.

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::layout::PartKind;
use lepo_base::role::Role;
use lepo_secrets::without_digits;
use lepo_store::bubb::BubbName;

/// The hash of a part, or of a path up to a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct PathHash([u8; 16]);

impl PathHash {
    /// Returns the hash of a part; `None` for thinking.
    pub fn from_part(kind: PartKind, text: &str) -> Option<PathHash> {
        let plain = without_digits(text);
        let (label, text) = match kind {
            PartKind::Thinking => return None,
            PartKind::Call => ("call", plain_call(&plain)),
            PartKind::Visible(kind) => (kind.as_str(), plain.trim().to_string()),
            PartKind::System => ("middle", plain.trim().to_string()),
            PartKind::Output => ("result", plain.trim().to_string()),
        };
        Some(PathHash::from_bytes(&[label.as_bytes(), text.as_bytes()]))
    }

    /// Returns the hash of a system prompt.
    pub fn from_system(text: &str) -> PathHash {
        PathHash::from_bytes(&[b"prompt", without_digits(text).trim().as_bytes()])
    }

    /// Returns the hash of this path with another part after it.
    pub fn with(self, part: PathHash) -> PathHash {
        PathHash::from_bytes(&[&self.0, &part.0])
    }

    fn from_bytes(parts: &[&[u8]]) -> PathHash {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update((part.len() as u64).to_be_bytes());
            hasher.update(part);
        }
        let mut short = [0; 16];
        let whole = hasher.finalize();
        short.iter_mut().zip(whole).for_each(|(to, from)| *to = from);
        PathHash(short)
    }
}

/// Returns the kind of part of a stored message, which is a call if it is hidden and the assistant's.
pub fn part_kind(name: &BubbName) -> PartKind {
    match (name.hidden, name.role) {
        (false, kind) => PartKind::Visible(kind),
        (true, Role::System | Role::User) => PartKind::System,
        (true, Role::Assistant) => PartKind::Call,
        (true, Role::Tool) => PartKind::Output,
    }
}

/// Returns a call with its arguments in one form: compact JSON, keys sorted.
fn plain_call(text: &str) -> String {
    let (name, input) = text.split_once('\n').unwrap_or((text, ""));
    let input = input.trim();
    let plain = serde_json::from_str::<Value>(input).map(|mut value| {
        value.sort_all_objects();
        value.to_string()
    });
    format!("{}\n{}", name.trim(), plain.unwrap_or_else(|_| input.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_equal_by_what_counts() {
        use PartKind::{Call, Output, System, Visible};
        for (one, other, is_equal) in [
            ((Visible(Role::User), "a"), (Visible(Role::User), " a\n"), true),
            ((Visible(Role::User), "a"), (Visible(Role::Assistant), "a"), false),
            ((Visible(Role::User), "a"), (Visible(Role::User), "b"), false),
            ((Visible(Role::System), "a"), (System, "a"), false),
            ((Output, "a"), (Output, "a\n"), true),
            ((Output, "a"), (Call, "a"), false),
            ((Call, "f\n{\"a\": 1, \"b\": [2]}"), (Call, "f\n{\"b\":[2],\"a\":1}"), true),
            ((Call, "f\n{\"a\":1}"), (Call, "g\n{\"a\":1}"), false),
            ((Call, "f\nnot json "), (Call, "f\nnot json"), true),
            ((Output, "[secret: github-token 3f1a]"), (Output, "[secret: github-token]"), true),
        ] {
            let [one_hash, other_hash] = [one, other].map(|(kind, text)| PathHash::from_part(kind, text));
            assert_eq!(one_hash == other_hash, is_equal, "{one:?} {other:?}");
        }
        assert_eq!(PathHash::from_part(PartKind::Thinking, "a"), None);
        let part = PathHash::from_part(Output, "a").unwrap();
        assert_ne!(PathHash::default().with(part), PathHash::default().with(part).with(part));
    }
}
