//! Values formatted for display.

/// Returns the display name of a model; `embedded:` names a provider alone and loses its colon.
pub fn model_label(model: &str) -> &str {
    model.strip_suffix(':').unwrap_or(model)
}

/// Formats `1234567` as `1,234,567`.
pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a count with a noun whose plural ends in `s`: `1 message`, `2 messages`.
pub fn plural(n: impl TryInto<u64>, one: &str) -> String {
    counted_as(n, one, |n| n.to_string())
}

/// Like [`plural`], with the number formatted by [`thousands`]: `2,000 messages`.
pub fn plural_in_thousands(n: impl TryInto<u64>, one: &str) -> String {
    counted_as(n, one, thousands)
}

fn counted_as(n: impl TryInto<u64>, one: &str, number: fn(u64) -> String) -> String {
    let n = n.try_into().unwrap_or(u64::MAX);
    format!("{} {one}{}", number(n), if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::{plural, plural_in_thousands, thousands};

    #[test]
    fn thousands_are_parted() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(thousands(number), text);
        }
    }

    #[test]
    fn things_are_counted_in_words() {
        for (number, plain, parted) in
            [(0_u64, "0 parts", "0 parts"), (1, "1 part", "1 part"), (1000, "1000 parts", "1,000 parts")]
        {
            assert_eq!(
                (plural(number, "part").as_str(), plural(number as usize, "part").as_str()),
                (plain, plain)
            );
            assert_eq!(plural_in_thousands(number, "part"), parted);
        }
    }
}
