//! The name of a bubb's file, `{ULID}-{kind}{hidden}-{PREV}.md`: everything known about a bubb without opening it.

use std::fmt;

use super::BubbId;
use lepo_base::role::Role;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BubbName {
    pub id: BubbId,
    pub role: Role,
    /// Hidden bubbs are listed only on request.
    pub hidden: bool,
    /// The previous bubb; `None` for a root, whose file name has `head` there.
    pub prev: Option<BubbId>,
}

impl BubbName {
    /// Parses a file name; `None` if it is not in the form of a bubb's name.
    #[inline]
    pub fn parse(name: &[u8]) -> Option<BubbName> {
        const L: usize = BubbId::LEN;
        let (id, rest) = name.split_at_checked(L)?;
        let [b'-', role, hidden, b'-', prev @ ..] = rest else {
            return None;
        };
        let prev = prev.strip_suffix(b".md")?;
        Some(BubbName {
            id: BubbId::parse(id)?,
            role: Role::from_letter(*role)?,
            hidden: match hidden {
                b'0' => false,
                b'1' => true,
                _ => return None,
            },
            prev: if prev == b"head" { None } else { Some(BubbId::parse(prev)?) },
        })
    }

    /// Whether the ids in a bubb's file name are in upper case, as lepo writes them.
    #[inline]
    pub fn is_canonical(file: &[u8]) -> bool {
        // A lower-case letter has both of these bits. Testing every byte is faster than stopping at the first.
        let lower = |id: &[u8]| id.iter().fold(0, |bits, byte| bits | (byte & byte << 1)) & 0x40 != 0;
        let (id, prev) = Self::written_ids(file);
        !lower(id) && !lower(prev)
    }

    /// Whether the bubb may be older than its prev, checked without parsing. Also true for a name in lower case and
    /// for one that is not a bubb's.
    pub fn may_precede_its_prev(file: &[u8]) -> bool {
        let (id, prev) = Self::written_ids(file);
        !prev.is_empty() && (prev >= id || !Self::is_canonical(file))
    }

    /// Returns the id and the prev as written; the prev is empty for `head`.
    fn written_ids(file: &[u8]) -> (&[u8], &[u8]) {
        const L: usize = BubbId::LEN;
        match file.len() {
            n if n == 2 * L + "-u0-.md".len() => (&file[..L], &file[L + "-u0-".len()..][..L]),
            _ => (file.get(..L).unwrap_or_default(), &[]),
        }
    }

    /// Whether the message steers the model but is rarely seen by the user: hidden or a system message.
    pub fn is_steering(&self) -> bool {
        self.hidden || self.role == Role::System
    }

    /// Whether the message is proven when it is written. Calls and results are not: later questions do not follow
    /// them.
    pub fn is_proven_when_written(&self) -> bool {
        self.is_steering() && !matches!(self.role, Role::Assistant | Role::Tool)
    }

    /// Returns kind and hidden as in the file name: `u0`, `s1`.
    pub fn tag(&self) -> String {
        format!("{}{}", self.role.letter(), u8::from(self.hidden))
    }
}

impl fmt::Display for BubbName {
    /// Writes the file name, with ids in upper case, in a single call, because a listing prints very many.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const L: usize = BubbId::LEN;
        let mut text = *b"00000000000000000000000000-u0-00000000000000000000000000.md";
        text[..L].copy_from_slice(&self.id.ascii());
        text[L + 1] = self.role.letter() as u8;
        text[L + 2] = b'0' + u8::from(self.hidden);
        let len = match self.prev {
            Some(prev) => {
                text[L + 4..][..L].copy_from_slice(&prev.ascii());
                text.len()
            }
            None => {
                text[L + 4..][..7].copy_from_slice(b"head.md");
                L + 4 + 7
            }
        };
        f.write_str(std::str::from_utf8(&text[..len]).unwrap_or_default())
    }
}

#[cfg(test)]
#[allow(clippy::string_slice)]
mod tests {
    use super::*;

    const A: &str = "01JB3Z0Q4N8V2K5T7W9X1Y3Z5A";
    const B: &str = "01JB3Z0Q4N8V2K5T7W9X1Y3Z5B";

    #[test]
    fn a_good_name_reads_and_writes_itself() {
        for name in [format!("{A}-s1-head.md"), format!("{B}-u0-{A}.md"), format!("{B}-t1-{A}.md")] {
            assert_eq!(BubbName::parse(name.as_bytes()).unwrap().to_string(), name);
        }
        let lower = BubbName::parse(format!("{}-a0-{}.md", B.to_lowercase(), A.to_lowercase()).as_bytes());
        assert_eq!(lower.unwrap().to_string(), format!("{B}-a0-{A}.md"));
    }

    #[test]
    fn case_and_order_are_told_without_parsing() {
        let (a, b) = (A.to_lowercase(), B.to_lowercase());
        for (name, canonical, may_precede) in [
            (format!("{A}-s1-head.md"), true, false),
            (format!("{a}-s1-head.md"), false, false),
            (format!("{B}-u0-{A}.md"), true, false),
            (format!("{A}-u0-{B}.md"), true, true),
            (format!("{A}-u0-{A}.md"), true, true),
            (format!("{b}-u0-{A}.md"), false, true),
            (format!("{B}-u0-{a}.md"), false, true),
            ("README.md".into(), true, false),
        ] {
            assert_eq!(BubbName::is_canonical(name.as_bytes()), canonical, "{name}");
            assert_eq!(BubbName::may_precede_its_prev(name.as_bytes()), may_precede, "{name}");
        }
    }

    #[test]
    fn every_wrong_form_is_foreign() {
        for name in [
            "".to_string(),
            "README.md".into(),
            "ARST-s1-head.md".into(),
            format!("{A}-x0-head.md"),
            format!("{A}-S0-head.md"),
            format!("{A}-u2-head.md"),
            format!("{A}-u-head.md"),
            format!("{A}-u0-HEAD.md"),
            format!("{A}-u0-.md"),
            format!("{A}-u0-{B}"),
            format!("{A}-u0-{B}.MD"),
            format!("{A}-u0-{B}.md~"),
            format!("{A}-u0-{B}x.md"),
            format!(" {A}-u0-{B}.md"),
            format!("{A}_u0_{B}.md"),
            format!("8{}-u0-head.md", &A[1..]),
        ] {
            assert!(BubbName::parse(name.as_bytes()).is_none(), "{name}");
        }
        assert!(BubbName::parse(b"\xff\xfe-u0-head.md").is_none());
    }

    #[test]
    fn hidden_and_system_messages_steer() {
        for (name, is_steering, at_once) in [
            ("s1", true, true),
            ("s0", true, true),
            ("u1", true, true),
            ("u0", false, false),
            ("a0", false, false),
            ("a1", true, false),
            ("t1", true, false),
            ("t0", false, false),
        ] {
            let name =
                BubbName::parse(format!("01JB3Z0Q4N8V2K5T7W9X1Y3Z5A-{name}-head.md").as_bytes()).unwrap();
            assert_eq!((name.is_steering(), name.is_proven_when_written()), (is_steering, at_once), "{name}");
        }
    }
}
