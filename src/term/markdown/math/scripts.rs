//! The tables of characters that Unicode has raised, lowered or as double-struck letters.

/// Characters and their superscripts: U+2070–207F with the older three digits, and U+1D43–1D61.
const RAISED: (&str, &str) = ("0123456789+-−=()inabdegkmoptuvβγδφχ", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁱⁿᵃᵇᵈᵉᵍᵏᵐᵒᵖᵗᵘᵛᵝᵞᵟᵠᵡ");

/// Characters and their subscripts: U+2080–209C and U+1D62–1D6A.
const LOWERED: (&str, &str) =
    ("0123456789+-−=()aeoxhklmnpstiruvβγρφχ", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₐₑₒₓₕₖₗₘₙₚₛₜᵢᵣᵤᵥᵦᵧᵨᵩᵪ");

/// Double-struck capitals that are older than the block U+1D538–1D56B, which has gaps for them.
const OLDER_CAPITALS: (&str, &str) = ("CHNPQRZ", "ℂℍℕℙℚℝℤ");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptKind {
    Raised,
    Lowered,
}

fn find_in((plain, other): (&str, &str), c: char) -> Option<char> {
    plain.chars().zip(other.chars()).find(|(known, _)| *known == c).map(|(_, found)| found)
}

/// Returns `text` as a script; `None` if a character has no such form. Spaces have no meaning there.
pub fn to_script(text: &str, kind: ScriptKind) -> Option<String> {
    let table = match kind {
        // The degree sign and primes are raised already.
        ScriptKind::Raised if text == "∘" => return Some("°".to_string()),
        ScriptKind::Raised if !text.is_empty() && text.chars().all(|c| c == '′') => {
            return Some(text.to_string());
        }
        ScriptKind::Raised => RAISED,
        ScriptKind::Lowered => LOWERED,
    };
    let script: Option<String> = text.chars().filter(|c| *c != ' ').map(|c| find_in(table, c)).collect();
    script.filter(|script| !script.is_empty())
}

/// Returns a double-struck letter or digit, as `\mathbb` means it.
pub fn to_double_struck(c: char) -> Option<char> {
    let offset = |start: char, first: u32| char::from_u32(first + (c as u32 - start as u32));
    match c {
        'A'..='Z' => find_in(OLDER_CAPITALS, c).or_else(|| offset('A', 0x1d538)),
        'a'..='z' => offset('a', 0x1d552),
        '0'..='9' => offset('0', 0x1d7d8),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_whole_or_missing() {
        for (table, kind) in [(RAISED, ScriptKind::Raised), (LOWERED, ScriptKind::Lowered)] {
            assert_eq!(table.0.chars().count(), table.1.chars().count());
            for (c, script) in table.0.chars().zip(table.1.chars()) {
                assert_eq!(to_script(&c.to_string(), kind), Some(script.to_string()));
            }
        }
        for (text, raised, lowered) in [
            ("n + 1", Some("ⁿ⁺¹"), Some("ₙ₊₁")),
            ("(k)", Some("⁽ᵏ⁾"), Some("₍ₖ₎")),
            ("x", None, Some("ₓ")),
            ("T", None, None),
            ("i,j", None, None),
            ("ϕ", None, None),
            ("∘", Some("°"), None),
            ("′′", Some("′′"), None),
            (" ", None, None),
            ("", None, None),
        ] {
            assert_eq!(to_script(text, ScriptKind::Raised).as_deref(), raised, "{text}");
            assert_eq!(to_script(text, ScriptKind::Lowered).as_deref(), lowered, "{text}");
        }
    }

    #[test]
    fn double_struck_letters_have_two_blocks() {
        let made: String = "ACRZk1".chars().filter_map(to_double_struck).collect();
        assert_eq!(made, "𝔸ℂℝℤ𝕜𝟙");
        assert_eq!(to_double_struck('é'), None);
    }
}
