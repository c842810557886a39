//! The rule that decides whether a file or an output is text, and so is searched for secrets.

/// Bytes at the start that decide.
pub const LOOKED_AT: usize = 64 << 10;

/// Whether over 10 % of the bytes are NUL or invalid UTF-8. Some are normal: `env -0` ends each entry with NUL.
pub fn is_binary(bytes: &[u8]) -> bool {
    let begun = bytes.get(..LOOKED_AT).unwrap_or(bytes);
    let zeros = begun.iter().filter(|byte| **byte == 0).count();
    let invalid: usize = begun.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
    (invalid + zeros) * 10 > begun.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_byte_in_ten_that_is_no_text_makes_a_binary() {
        for (bytes, is) in [
            (&b""[..], false),
            ("한글 and more".as_bytes(), false),
            (b"HOME=/home/me\0TOKEN=abcdefghijkl\0", false),
            (b"log: caf\xe9 and many more letters", false),
            (b"\x7fELF\0\0\0\0\xff\xfe", true),
            (b"\xff\xfea\0b\0c\0", true),
        ] {
            assert_eq!(is_binary(bytes), is, "{bytes:?}");
        }
        let late = [&b"a".repeat(LOOKED_AT)[..], &[0; 100_000]].concat();
        assert!(!is_binary(&late));
    }
}
