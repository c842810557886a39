//! Ids are content addresses: a ULID whose 80 "random" bits are a hash of the bubb and of its prev.
//!
//! So an id checks its own file, and a conv is a hash chain back to its root. This is integrity,
//! not authenticity: 80 bits find accidents, they do not stop a forger. Format: lepo-store(5).

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};
use ulid::Ulid;

use super::content_hash::ContentHash;
use lepo_base::role::Role;

/// The largest time that fits in an id: 48 bits of milliseconds since 1970.
pub const MAX_TIME: u64 = (1 << 48) - 1;

/// The id of a message: a ULID that contains a hash of the message and of all before it.
///
/// ```
/// let id: lepo_store::BubbId = "01jb3z0q4n8v2k5t7w9x1y3z5a".parse().unwrap();
/// assert_eq!(id.to_string(), "01JB3Z0Q4N8V2K5T7W9X1Y3Z5A");
/// assert!("no id".parse::<lepo_store::BubbId>().is_err());
/// ```
///
/// Ids sort by time, and along a conversation they only grow.
// Stored as bytes: a `u128` would pad a name to 48 bytes, and a forest contains a million names.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct BubbId([u8; 16]);

/// The error for a text that is not an id.
///
/// ```
/// let error = "no id".parse::<lepo_store::BubbId>().unwrap_err();
/// assert_eq!(error.to_string(), "it is not an id of 26 characters");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoId;

const NO_DIGIT: u8 = u8::MAX;

/// The value of each byte as a Crockford digit, or [`NO_DIGIT`].
const VALUES: [u8; 256] = {
    let digits = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    let mut values = [NO_DIGIT; 256];
    let mut value = 0;
    while value < digits.len() {
        values[digits[value] as usize] = value as u8;
        values[digits[value].to_ascii_lowercase() as usize] = value as u8;
        value += 1;
    }
    values
};

impl BubbId {
    /// Length of a written id in characters.
    pub const LEN: usize = ulid::ULID_LEN;

    /// Returns the id of a bubb written at `time` (milliseconds since 1970, at most [`MAX_TIME`]).
    pub fn new(time: u64, role: Role, hidden: bool, prev: Option<BubbId>, content: &ContentHash) -> BubbId {
        let hash = Sha256::new()
            .chain_update(b"lepo\0")
            .chain_update(&time.to_be_bytes()[2..])
            .chain_update([role.letter() as u8, if hidden { b'1' } else { b'0' }])
            .chain_update(prev.map_or([0; 16], |p| p.0))
            .chain_update(content.bytes())
            .finalize();
        let mut id = [0; 16];
        id[..6].copy_from_slice(&time.to_be_bytes()[2..]);
        id[6..].copy_from_slice(&hash[..10]);
        BubbId(id)
    }

    /// Parses 26 characters of Crockford's base 32 in any case. Fails on another length and on a first digit above
    /// `7`.
    #[inline]
    pub fn parse(text: &[u8]) -> Option<BubbId> {
        let text: &[u8; Self::LEN] = text.try_into().ok()?;
        // The `ulid` crate needs a `str` and computes in 128 bits, which is too slow for a scan with two ids a name.
        let mut all = 0;
        let mut part = |digits: &[u8]| {
            digits.iter().fold(0u64, |number, digit| {
                let value = VALUES[*digit as usize];
                all |= value;
                number << 5 | u64::from(value)
            })
        };
        let (time, high, low) = (part(&text[..10]), part(&text[10..18]), part(&text[18..]));
        if all == NO_DIGIT || text[0] > b'7' {
            return None;
        }
        Some(BubbId((u128::from(time) << 80 | u128::from(high) << 40 | u128::from(low)).to_be_bytes()))
    }

    /// Returns the id with these 16 bytes, most significant first.
    pub fn from_bytes(bytes: [u8; 16]) -> BubbId {
        BubbId(bytes)
    }

    /// Returns the 16 bytes, most significant first.
    pub fn bytes(self) -> [u8; 16] {
        self.0
    }

    /// Returns when the message was written, in milliseconds since 1970.
    ///
    /// ```
    /// let id: lepo_store::BubbId = "01JB3Z0Q4N8V2K5T7W9X1Y3Z5A".parse().unwrap();
    /// assert_eq!(id.time(), 1_729_931_271_317);
    /// ```
    pub fn time(self) -> u64 {
        self.ulid().timestamp_ms()
    }

    /// Returns the 26 characters in upper case.
    pub fn ascii(self) -> [u8; Self::LEN] {
        let mut text = [0; Self::LEN];
        self.ulid().array_to_str(&mut text);
        text
    }

    /// Returns the id as a number: its 26 characters are its base-32 digits.
    pub fn number(self) -> u128 {
        u128::from_be_bytes(self.0)
    }

    fn ulid(self) -> Ulid {
        Ulid::from_bytes(self.0)
    }
}

impl Ord for BubbId {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.number().cmp(&other.number())
    }
}

impl PartialOrd for BubbId {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for BubbId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = [0; Self::LEN];
        f.write_str(self.ulid().array_to_str(&mut text))
    }
}

impl FromStr for BubbId {
    type Err = NoId;

    fn from_str(text: &str) -> Result<BubbId, NoId> {
        BubbId::parse(text.as_bytes()).ok_or(NoId)
    }
}

impl fmt::Display for NoId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it is not an id of 26 characters")
    }
}

impl std::error::Error for NoId {}

impl fmt::Debug for BubbId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formula_is_the_one_in_the_manual() {
        // The expected ids were computed with the shell lines of lepo-store(5) and sha256sum.
        let content = ContentHash::from_content(b"hello");
        let root = BubbId::new(1_700_000_000_000, Role::User, false, None, &content);
        let mut bytes = b"lepo\0".to_vec();
        bytes.extend([0x01, 0x8b, 0xcf, 0xe5, 0x68, 0x00, b'u', b'0']);
        bytes.extend([0; 16]);
        bytes.extend(content.bytes());
        let hash = Sha256::digest(&bytes);
        assert_eq!(root.0[6..], hash[..10]);
        assert_eq!(root.time(), 1_700_000_000_000);
    }

    #[test]
    fn everything_an_id_is_made_of_changes_it() {
        let content = [7; 32].into();
        let a = BubbId::new(5, Role::User, false, None, &content);
        for other in [
            BubbId::new(6, Role::User, false, None, &content),
            BubbId::new(5, Role::Tool, false, None, &content),
            BubbId::new(5, Role::User, true, None, &content),
            BubbId::new(5, Role::User, false, Some(a), &content),
            BubbId::new(5, Role::User, false, None, &[8; 32].into()),
        ] {
            assert_ne!(a, other);
        }
    }

    #[test]
    fn reads_any_case_and_nothing_else() {
        for (text, good) in [
            ("01JB3Z0Q4N8V2K5T7W9X1Y3Z5A", true),
            ("01jb3z0q4n8v2k5t7w9x1y3z5a", true),
            ("7ZZZZZZZZZZZZZZZZZZZZZZZZZ", true),
            ("8ZZZZZZZZZZZZZZZZZZZZZZZZZ", false),
            ("01JB3Z0Q4N8V2K5T7W9X1Y3Z5U", false),
            ("01JB3Z0Q4N8V2K5T7W9X1Y3Z5", false),
            ("01JB3Z0Q4N8V2K5T7W9X1Y3Z5AA", false),
            ("", false),
            ("가나다라마바사아자차카타파하", false),
            ("01JB3Z0Q4N8V2K5T7W9X1Y3Z가", false),
        ] {
            let parsed = BubbId::parse(text.as_bytes());
            assert_eq!(parsed.is_some(), good, "{text}");
            assert_eq!(parsed.map(BubbId::ulid), Ulid::from_string(text).ok().filter(|_| good), "{text}");
        }
    }

    #[test]
    fn is_written_in_upper_case() {
        let id = BubbId::parse(b"01jb3z0q4n8v2k5t7w9x1y3z5a").unwrap();
        assert_eq!(id.to_string(), "01JB3Z0Q4N8V2K5T7W9X1Y3Z5A");
        assert_eq!(&id.ascii(), b"01JB3Z0Q4N8V2K5T7W9X1Y3Z5A");
    }
}
