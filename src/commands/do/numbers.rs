//! Parses option values for a request.

pub fn temperature(text: &str) -> std::result::Result<serde_json::Number, String> {
    let number = text.parse::<f64>().ok().filter(|number| (0.0..=2.0).contains(number));
    number.and_then(serde_json::Number::from_f64).ok_or_else(|| "expected a number from 0 to 2".to_string())
}

pub fn effort(word: &str) -> std::result::Result<String, String> {
    match word.trim().is_empty() {
        true => Err("expected a word like low, medium or high".to_string()),
        false => Ok(word.to_string()),
    }
}
