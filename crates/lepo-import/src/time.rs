//! Times in the formats of other tools, in milliseconds since 1970; `None` if they are outside the calendar.

use super::json::JsonValue;

/// The end of the year 9999. A later time is an error, and would leave no room for the times after it.
const END: u64 = 253_402_300_800_000;

/// Parses a time in RFC 3339.
pub fn written(value: JsonValue<'_>) -> Option<u64> {
    read(&value.text()?)
}

/// Parses a time in RFC 3339.
pub fn read(text: &str) -> Option<u64> {
    let time: jiff::Timestamp = text.parse().ok()?;
    u64::try_from(time.as_millisecond()).ok().filter(|&time| time < END)
}

/// Parses seconds, rounded down to a millisecond.
pub fn seconds(value: JsonValue<'_>) -> Option<u64> {
    let text = value.number()?;
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let time = if digits(whole) && digits(fraction) {
        // Computed from the digits, because a float would round some times down by a millisecond.
        let mut millis = 0;
        for index in 0..3 {
            millis = millis * 10 + fraction.as_bytes().get(index).map_or(0, |digit| u64::from(digit - b'0'));
        }
        whole.parse::<u64>().ok()?.checked_mul(1000)?.checked_add(millis)?
    } else {
        let millis = (text.parse::<f64>().ok()? * 1000.0).floor();
        if !(millis >= 0.0 && millis < END as f64) {
            return None;
        }
        millis as u64
    };
    Some(time).filter(|&time| time < END)
}

/// Parses milliseconds.
pub fn millis(value: JsonValue<'_>) -> Option<u64> {
    let text = value.number()?;
    let whole = text.split('.').next().unwrap_or_default();
    whole.parse().ok().filter(|&time| time < END)
}

/// Parses seconds or milliseconds, which differ in size, or RFC 3339.
pub fn any(value: JsonValue<'_>) -> Option<u64> {
    match millis(value) {
        Some(time) if time >= 100_000_000_000 => Some(time),
        Some(_) => seconds(value),
        None => written(value).or_else(|| seconds(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::read_json;

    #[test]
    fn moments_are_read_in_every_form() {
        for (text, form, time) in [
            (r#""2026-08-01T10:00:00.000Z""#, 'w', Some(1_785_578_400_000)),
            (r#""2026-08-01T19:00:00.123456+09:00""#, 'w', Some(1_785_578_400_123)),
            (r#""yesterday""#, 'w', None),
            ("1785578400", 's', Some(1_785_578_400_000)),
            ("1785578404.5", 's', Some(1_785_578_404_500)),
            ("1785578404.1239", 's', Some(1_785_578_404_123)),
            ("1.7855784e9", 's', Some(1_785_578_400_000)),
            ("-1.5", 's', None),
            ("1e300", 's', None),
            ("99999999999999999999", 's', None),
            ("null", 's', None),
            ("1785578400123", 'm', Some(1_785_578_400_123)),
            ("281474976710655", 'm', None),
            ("1785578400123", 'a', Some(1_785_578_400_123)),
            ("1785578400.5", 'a', Some(1_785_578_400_500)),
            (r#""2026-08-01T10:00:00Z""#, 'a', Some(1_785_578_400_000)),
        ] {
            let read = read_json(text, |value| match form {
                'w' => written(value),
                's' => seconds(value),
                'm' => millis(value),
                _ => any(value),
            });
            assert_eq!(read, Some(time), "{text} {form}");
        }
    }
}
