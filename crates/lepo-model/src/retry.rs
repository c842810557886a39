//! Decides when to repeat a request. Pure: the clock and the dice are arguments.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use jiff::Timestamp;

/// The number of repetitions after 429 or 5xx.
pub(super) const TRIES: u32 = 3;

/// The longest accepted `Retry-After`.
const PATIENCE: Duration = Duration::from_secs(60);

/// The step after a temporary refusal.
#[derive(Debug, PartialEq)]
pub(super) enum RetryStep {
    /// Repeat the request after this time.
    After(Duration),
    /// The server demands a pause that is too long to wait for.
    TooLong(Duration),
}

/// Returns the pause before attempt `attempt` (from 0): the server's value, else half a second, doubled each time.
/// `dice` in 0..1 spreads the pauses, so that many clients do not return at once.
pub(super) fn pause(attempt: u32, retry_after: Option<&str>, now: Timestamp, dice: f64) -> RetryStep {
    match retry_after.and_then(|value| parse_retry_after(value, now)) {
        Some(wait) if wait > PATIENCE => RetryStep::TooLong(wait),
        Some(wait) => RetryStep::After(wait),
        None => RetryStep::After(Duration::from_millis(500 * (1 << attempt)).mul_f64(0.5 + dice)),
    }
}

/// Whether a value in the format of `Retry-After` is a time to wait: short enough, and longer than the first pause
/// without it, because a limit that resets at once or in the past does not say how long to wait.
pub(super) fn is_pause(value: &str, now: Timestamp) -> bool {
    let wait = parse_retry_after(value, now);
    wait.is_some_and(|wait| (Duration::from_secs(1)..=PATIENCE).contains(&wait))
}

/// Parses `Retry-After` (RFC 9110, section 10.2.3): seconds, or an HTTP date. Servers also send `30s`, `1m30.5s`, a
/// date of RFC 3339, and the time as seconds or milliseconds since 1970. A past time means now.
fn parse_retry_after(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        let since_1970 = match seconds {
            1e9..1e11 => Some(seconds),
            1e12..1e14 => Some(seconds / 1000.0),
            _ => None,
        };
        let seconds = since_1970.map_or(seconds, |time| (time - now.as_second() as f64).max(0.0));
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let of_mail = || jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(value).ok();
    if let Some(date) = of_mail().or_else(|| value.parse::<Timestamp>().ok()) {
        return Some(Duration::try_from(date.duration_since(now)).unwrap_or_default());
    }
    duration(&value.to_lowercase()).filter(|(_, rest)| rest.is_empty()).map(|(wait, _)| wait)
}

/// Lower-case texts before the time to wait in a refusal's body, and the factor to seconds for a number without a
/// unit.
const BEFORE_WAIT: &[(&str, f64)] = &[
    ("\"retrydelay\":", 1.0),
    ("\"retry_delay\":", 1.0),
    ("\"retry_after_ms\":", 0.001),
    ("\"retryafterms\":", 0.001),
    ("\"retry_after_seconds\":", 1.0),
    ("\"retry_after\":", 1.0),
    ("\"retryafter\":", 1.0),
    ("\"retry-after\":", 1.0),
    ("\"x-ratelimit-reset\":", 1.0),
    ("\"resets_in_seconds\":", 1.0),
    ("\"estimated_time\":", 1.0),
    ("reset after ", 1.0),
    ("reset in ", 1.0),
    ("resets in ", 1.0),
    ("try again in ", 1.0),
    ("try again after ", 1.0),
    ("retry in ", 1.0),
    ("retry after ", 1.0),
    ("please wait ", 1.0),
    ("wait for ", 1.0),
];

/// Returns the time to wait in a refusal's body, in the format of `Retry-After`: from `retryDelay`, or from the
/// message.
pub(super) fn wait_in_body(body: &str) -> Option<String> {
    let body = body.to_lowercase();
    BEFORE_WAIT.iter().find_map(|(before, unit)| {
        body.split(before).skip(1).find_map(|behind| {
            let text = behind.trim_start_matches([' ', '"', '\'', '~', '\n']);
            let (number, rest) = leading_number(text)?;
            match duration(text) {
                Some((wait, _)) if rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == ' ') => {
                    Some(wait.as_secs_f64().to_string())
                }
                _ => Some((number * unit).to_string()),
            }
        })
    })
}

/// The units of a duration in seconds; a longer unit precedes its own prefix.
const UNITS: &[(&str, f64)] = &[
    ("milliseconds", 0.001),
    ("millisecond", 0.001),
    ("ms", 0.001),
    ("seconds", 1.0),
    ("second", 1.0),
    ("secs", 1.0),
    ("sec", 1.0),
    ("s", 1.0),
    ("minutes", 60.0),
    ("minute", 60.0),
    ("mins", 60.0),
    ("min", 60.0),
    ("m", 60.0),
    ("hours", 3600.0),
    ("hour", 3600.0),
    ("h", 3600.0),
    ("days", 86400.0),
    ("day", 86400.0),
    ("d", 86400.0),
];

/// Parses the duration at the start of a text, such as `2m59.56s` or `20 seconds`; also returns the rest.
fn duration(text: &str) -> Option<(Duration, &str)> {
    let (mut seconds, mut rest, mut is_any) = (0.0, text, false);
    while let Some((number, behind)) = leading_number(rest) {
        let unit = behind.trim_start();
        let known = UNITS.iter().find_map(|(word, seconds)| Some((seconds, unit.strip_prefix(word)?)));
        let Some((size, after)) = known else { break };
        if after.starts_with(|c: char| c.is_alphabetic()) {
            break;
        }
        seconds += number * size;
        (rest, is_any) = (after.trim_start_matches([' ', ',']), true);
    }
    is_any.then(|| Duration::try_from_secs_f64(seconds).ok().map(|wait| (wait, rest))).flatten()
}

/// Parses the number at the start of a text; also returns the rest.
fn leading_number(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    // A full stop at the end of a sentence is not part of the number.
    Some((digits.trim_end_matches('.').parse().ok()?, rest))
}

/// Returns a number in 0..1 that differs between processes and calls, not a secure one.
pub(super) fn dice() -> f64 {
    (RandomState::new().hash_one(0u8) >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses() {
        let now: Timestamp = "2015-10-21T07:28:00Z".parse().unwrap();
        let after = |ms| RetryStep::After(Duration::from_millis(ms));
        for (attempt, header, dice, expected) in [
            (0, None, 0.5, after(500)),
            (1, None, 0.5, after(1000)),
            (2, None, 0.0, after(1000)),
            (0, Some("0"), 0.9, after(0)),
            (0, Some(" 7 "), 0.9, after(7000)),
            (0, Some("1.5"), 0.9, after(1500)),
            (0, Some("-3"), 0.5, after(500)),
            (0, Some("soon"), 0.5, after(500)),
            (0, Some("60"), 0.5, after(60_000)),
            (0, Some("61"), 0.5, RetryStep::TooLong(Duration::from_secs(61))),
            (0, Some("Wed, 21 Oct 2015 07:28:30 GMT"), 0.5, after(30_000)),
            (0, Some("Wed, 21 Oct 2015 07:27:30 GMT"), 0.5, after(0)),
            (0, Some("Wed, 21 Oct 2015 08:28:00 GMT"), 0.5, RetryStep::TooLong(Duration::from_secs(3600))),
            (0, Some("2s"), 0.5, after(2000)),
            (0, Some("1m30s"), 0.5, RetryStep::TooLong(Duration::from_secs(90))),
            (0, Some("250ms"), 0.5, after(250)),
            (0, Some("2015-10-21T07:28:05Z"), 0.5, after(5000)),
            (0, Some("1445412490"), 0.5, after(10_000)),
            (0, Some("1445412490000"), 0.5, after(10_000)),
            (0, Some("2 apples"), 0.5, after(500)),
        ] {
            assert_eq!(pause(attempt, header, now, dice), expected, "{attempt} {header:?}");
        }
    }

    #[test]
    fn a_body_tells_how_long_to_wait() {
        for (body, expected) in [
            (r#"{"retryDelay": "2.2s"}"#, Some("2.2")),
            ("Rate limit reached. Please try again in 7.66s. Visit", Some("7.66")),
            ("Please try again in 2m59.56s. Need more tokens?", Some("179.56")),
            ("Please try again in 20ms.", Some("0.02")),
            ("try again in 6 seconds", Some("6")),
            ("Please retry in 23.1s.", Some("23.1")),
            ("Please retry after 3 seconds", Some("3")),
            ("please wait 10 seconds", Some("10")),
            ("try again in 1 minute, 5 seconds", Some("65")),
            (r#"{"retry_after": 2.5}"#, Some("2.5")),
            (r#"{"retry_after":"4"}"#, Some("4")),
            (r#"{"retry_after_ms": 1500}"#, Some("1.5")),
            (r#"{"headers":{"X-RateLimit-Reset":"1741305600000"}}"#, Some("1741305600000")),
            (r#"{"error":"Model m is currently loading","estimated_time":20.5}"#, Some("20.5")),
            (r#"{"type":"usage_limit_reached","resets_in_seconds":7200}"#, Some("7200")),
            ("Your quota will reset after 1h2m3s.", Some("3723")),
            ("please wait and try again later", None),
            ("try again in a while", None),
            ("", None),
        ] {
            assert_eq!(wait_in_body(body).as_deref(), expected, "{body}");
        }
    }

    #[test]
    fn the_dice_stay_within_bounds() {
        assert!((0..1000).map(|_| dice()).all(|d| (0.0..1.0).contains(&d)));
    }
}
