//! Values as people read them.

/// A model by its name; `embedded:` names a provider alone.
pub fn shown_model(model: &str) -> &str {
    model.strip_suffix(':').unwrap_or(model)
}

/// `1234567` as `1,234,567`.
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
