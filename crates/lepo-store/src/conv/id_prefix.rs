//! Ranges of ids with a common prefix.

use crate::bubb::BubbId;

/// Returns the first and the last id that start with `text`, in any case; `None` if no id can.
pub fn ids_beginning(text: &str) -> Option<(BubbId, BubbId)> {
    let left = BubbId::LEN.checked_sub(text.len())?;
    let end = |digit: &str| BubbId::parse(format!("{text}{}", digit.repeat(left)).as_bytes());
    match text {
        // The first digit of an id is at most 7.
        "" => Some((end("0")?, ids_beginning("7")?.1)),
        _ => Some((end("0")?, end("Z")?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_covers_all_ids_that_have_it() {
        let id = |text: &str| BubbId::parse(text.as_bytes()).unwrap();
        let padded = |text: &str, digit: &str| id(&format!("{text}{}", digit.repeat(26 - text.len())));
        for text in ["0", "7", "01JB", "01jb3z0q4n8v2k5t7w9x1y3z5", "01JB3Z0Q4N8V2K5T7W9X1Y3Z5A"] {
            assert_eq!(ids_beginning(text), Some((padded(text, "0"), padded(text, "Z"))), "{text}");
        }
        assert_eq!(ids_beginning(""), Some((padded("", "0"), padded("7", "Z"))));
        for text in ["8", "main", "01JB3Z0Q4N8V2K5T7W9X1Y3Z5A0", "한글", "01 "] {
            assert_eq!(ids_beginning(text), None, "{text}");
        }
    }
}
