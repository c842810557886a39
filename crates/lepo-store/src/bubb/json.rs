//! Ids and file names as JSON strings in records that lepo acts on: any other string is an error.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::id::BubbId;
use super::name::BubbName;

impl Serialize for BubbId {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for BubbId {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<BubbId, D::Error> {
        let text = String::deserialize(from)?;
        BubbId::parse(text.as_bytes()).ok_or_else(|| D::Error::custom(format!("{text:?} is not an id")))
    }
}

impl Serialize for BubbName {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for BubbName {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<BubbName, D::Error> {
        let text = String::deserialize(from)?;
        BubbName::parse(text.as_bytes())
            .ok_or_else(|| D::Error::custom(format!("{text:?} is not the name of a message")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ids_and_names_are_read() {
        let name = "01JB3Z0Q4N8V2K5T7W9X1Y3Z5A-u0-head.md";
        for (text, is_id, is_name) in [
            ("01JB3Z0Q4N8V2K5T7W9X1Y3Z5A", true, false),
            (name, false, true),
            ("../../.ssh/id", false, false),
            ("../01JB3Z0Q4N8V2K5T7W9X1Y3Z5A-u0-head.md", false, false),
            ("", false, false),
        ] {
            let json = serde_json::to_string(text).unwrap();
            assert_eq!(serde_json::from_str::<BubbId>(&json).is_ok(), is_id, "{text}");
            assert_eq!(serde_json::from_str::<BubbName>(&json).is_ok(), is_name, "{text}");
        }
        let parsed: BubbName = serde_json::from_str(&format!("\"{name}\"")).unwrap();
        assert_eq!(
            serde_json::to_string(&(parsed, parsed.id)).unwrap(),
            format!("[\"{name}\",\"{}\"]", parsed.id)
        );
    }
}
