//! Maps letters typed with the Korean layout to their keys: for an answer of one letter the key counts.

/// Replaces each Hangul letter by its key (`ㅛ` is `y`); other characters are unchanged.
pub fn latin_keys(text: &str) -> String {
    const LETTERS: &str = "ㅂㅈㄷㄱㅅㅛㅕㅑㅐㅔㅁㄴㅇㄹㅎㅗㅓㅏㅣㅋㅌㅊㅍㅠㅜㅡ";
    const KEYS: &str = "qwertyuiopasdfghjklzxcvbnm";
    let key = |c: char| LETTERS.chars().position(|letter| letter == c).and_then(|at| KEYS.chars().nth(at));
    text.chars().map(|c| key(c).unwrap_or(c)).collect()
}

/// Whether the answer is `y` or `yes`, in any case. Every other answer means no.
pub fn is_yes(answer: &str) -> bool {
    matches!(latin_keys(answer).to_ascii_lowercase().as_str(), "y" | "yes")
}

#[cfg(test)]
mod tests {
    use super::latin_keys;

    #[test]
    fn a_hangul_letter_is_its_key() {
        for (text, keys) in [
            ("ㅛ", "y"),
            ("ㅜ", "n"),
            ("ㄷ", "e"),
            ("ㅁ", "a"),
            ("ㅛㄷㄴ", "yes"),
            ("ㅡ", "m"),
            ("예", "예"),
            ("y?", "y?"),
        ] {
            assert_eq!(latin_keys(text), keys);
        }
    }
}
