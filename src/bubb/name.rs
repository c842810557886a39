//! The name of a bubb's file: `{ULID}-{kind}{hidden}-{PREV}.md`, all there is to know without opening it.

use std::fmt;

use super::{BubbId, Kind};

/// What a file name says of a bubb.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name {
    /// Its id.
    pub id: BubbId,
    /// Who speaks.
    pub kind: Kind,
    /// Not shown unless asked for.
    pub hidden: bool,
    /// The bubb before; `None` for a root, whose name says `head`.
    pub prev: Option<BubbId>,
}

impl Name {
    /// Parses a file name. Any other form is foreign: `None`.
    pub fn parse(name: &[u8]) -> Option<Name> {
        const L: usize = BubbId::LEN;
        let (id, rest) = name.split_at_checked(L)?;
        let [b'-', kind, hidden, b'-', prev @ ..] = rest else {
            return None;
        };
        let prev = prev.strip_suffix(b".md")?;
        Some(Name {
            id: BubbId::parse(id)?,
            kind: Kind::of_letter(*kind)?,
            hidden: match hidden {
                b'0' => false,
                b'1' => true,
                _ => return None,
            },
            prev: if prev == b"head" { None } else { Some(BubbId::parse(prev)?) },
        })
    }

    /// `u0`, `s1`: kind and hidden as in the file name.
    pub fn tag(&self) -> String {
        format!("{}{}", self.kind.letter(), u8::from(self.hidden))
    }
}

impl fmt::Display for Name {
    /// The file name, ids in upper case.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}{}-", self.id, self.kind.letter(), u8::from(self.hidden))?;
        match self.prev {
            Some(prev) => write!(f, "{prev}.md"),
            None => f.write_str("head.md"),
        }
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
            assert_eq!(Name::parse(name.as_bytes()).unwrap().to_string(), name);
        }
        let lower = Name::parse(format!("{}-a0-{}.md", B.to_lowercase(), A.to_lowercase()).as_bytes());
        assert_eq!(lower.unwrap().to_string(), format!("{B}-a0-{A}.md"));
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
            assert!(Name::parse(name.as_bytes()).is_none(), "{name}");
        }
        assert!(Name::parse(b"\xff\xfe-u0-head.md").is_none());
    }
}
