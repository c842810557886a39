//! Letters typed with the Korean layout on: the keys are the same, and an answer of one letter means the key.

/// The keys of a text, where it is single Hangul letters: `ㅛ` is `y`. Other text stays as it is.
pub fn latin_keys(text: &str) -> String {
    const LETTERS: &str = "ㅂㅈㄷㄱㅅㅛㅕㅑㅐㅔㅁㄴㅇㄹㅎㅗㅓㅏㅣㅋㅌㅊㅍㅠㅜㅡ";
    const KEYS: &str = "qwertyuiopasdfghjklzxcvbnm";
    let key = |c: char| LETTERS.chars().position(|letter| letter == c).and_then(|at| KEYS.chars().nth(at));
    text.chars().map(|c| key(c).unwrap_or(c)).collect()
}

/// True for `y` and `yes`, in any case; any other answer to a question of yes or no is no.
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
