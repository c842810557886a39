//! Times in the formats of other tools, in milliseconds since 1970; `None` if they are outside the calendar.

use super::json::JsonValue;

/// The end of the year 9999. A later time is an error, and would leave no room for the times after it.
const END: u64 = 253_402_300_800_000;

/// Parses a time in RFC 3339.
pub fn written(value: JsonValue<'_>) -> Option<u64> {
    read(&value.text()?)
}

/// Parses a time in RFC 3339. Without a time zone it counts as UTC, which is at most 14 hours off.
pub fn read(text: &str) -> Option<u64> {
    let without_zone = || text.parse::<jiff::civil::DateTime>().ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok();
    let time = text.parse::<jiff::Timestamp>().ok().or_else(|| Some(without_zone()?.timestamp()))?;
    u64::try_from(time.as_millisecond()).ok().filter(|&time| time < END)
}

/// Parses seconds, rounded down to a millisecond.
pub fn seconds(value: JsonValue<'_>) -> Option<u64> {
    read_seconds(value.number()?)
}

fn read_seconds(text: &str) -> Option<u64> {
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

/// Fewest digits of a string that is a number of seconds and not a year.
const DIGITS: usize = 10;

/// Parses seconds, milliseconds, microseconds or nanoseconds, which differ in size, as a number or a string, or RFC 3339.
pub fn any(value: JsonValue<'_>) -> Option<u64> {
    let text = value.text();
    let is_digit = |byte: u8| byte.is_ascii_digit() || byte == b'.';
    let digits = text.as_deref().filter(|text| text.len() >= DIGITS && text.bytes().all(is_digit));
    let Some(number) = value.number().or(digits) else { return read(&text?) };
    let whole = number.split('.').next().unwrap_or_default();
    let time = match whole.parse::<u64>() {
        Ok(nanos @ 100_000_000_000_000_000..) => nanos / 1_000_000,
        Ok(micros @ 100_000_000_000_000..) => micros / 1_000,
        Ok(millis @ 100_000_000_000..) => millis,
        _ => return read_seconds(number),
    };
    Some(time).filter(|&time| time < END)
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
            // https://github.com/MemPalace/mempalace/pull/1651: as Python writes it, without a time zone.
            (r#""2026-08-01T10:00:00.123456""#, 'w', Some(1_785_578_400_123)),
            (r#""2026-08-01 10:00:00""#, 'w', Some(1_785_578_400_000)),
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
            // https://github.com/dp-web4/SAGE/pull/96
            (r#""1785578400.801147""#, 'a', Some(1_785_578_400_801)),
            (r#""1785578400123""#, 'a', Some(1_785_578_400_123)),
            (r#""2026""#, 'a', None),
            ("1785578400123456", 'a', Some(1_785_578_400_123)),
            ("1785578400123456789", 'a', Some(1_785_578_400_123)),
            ("18446744073709551615", 'a', Some(18_446_744_073_709)),
            ("1.7855784e9", 'a', Some(1_785_578_400_000)),
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
