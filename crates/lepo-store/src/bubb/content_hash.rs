//! The SHA-256 of a file's bytes: part of a message's id, and the name of a blob.
//!
//! Text becomes a hash only in [`ContentHash::parse`], so no name in a message or a record can lead out of `_blobs/`.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::digest::Output;
use sha2::{Digest, Sha256};

/// SHA-256 of the bytes of a message or a blob.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash([u8; 32]);

impl ContentHash {
    /// Length of a hash in hexadecimal digits.
    pub const LEN: usize = 64;

    pub fn from_content(bytes: &[u8]) -> ContentHash {
        Sha256::digest(bytes).into()
    }

    /// Parses 64 lower-case hexadecimal digits.
    pub fn parse(text: &str) -> Option<ContentHash> {
        if text.len() != Self::LEN {
            return None;
        }
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Some(byte - b'0'),
            b'a'..=b'f' => Some(byte - b'a' + 10),
            _ => None,
        };
        let mut hash = [0; 32];
        for (byte, pair) in hash.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            let [high, low] = pair else { return None };
            *byte = digit(*high)? << 4 | digit(*low)?;
        }
        Some(ContentHash(hash))
    }

    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl From<[u8; 32]> for ContentHash {
    fn from(bytes: [u8; 32]) -> ContentHash {
        ContentHash(bytes)
    }
}

impl From<Output<Sha256>> for ContentHash {
    fn from(output: Output<Sha256>) -> ContentHash {
        ContentHash(output.into())
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.pad(&lepo_base::hash::hex(&self.0))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, to)
    }
}

impl Serialize for ContentHash {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ContentHash {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<ContentHash, D::Error> {
        let text = String::deserialize(from)?;
        ContentHash::parse(&text)
            .ok_or_else(|| serde::de::Error::custom(format!("{text:?} is not a SHA-256 hash")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_64_lower_case_digits_are_a_hash() {
        let good = "0123456789abcdef".repeat(4);
        assert_eq!(ContentHash::parse(&good).map(|hash| hash.to_string()), Some(good.clone()));
        assert_eq!(
            ContentHash::from_content(b"").to_string(),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
        for wrong in [
            String::new(),
            good.to_uppercase(),
            format!("{good}0"),
            good.chars().skip(1).collect(),
            format!("../{}", "a".repeat(61)),
            "../../.ssh/id".to_string(),
            format!("/{}", "a".repeat(63)),
            "글".repeat(21) + "a",
            "+".repeat(64),
        ] {
            assert_eq!(ContentHash::parse(&wrong), None, "{wrong}");
            let json = serde_json::to_string(&wrong).unwrap();
            assert!(serde_json::from_str::<ContentHash>(&json).is_err(), "{wrong}");
        }
        let json = serde_json::to_string(&ContentHash::parse(&good)).unwrap();
        assert_eq!(json, format!("\"{good}\""));
    }
}
