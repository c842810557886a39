//! Decides when to send a request again. Pure: the clock and the dice are arguments.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use jiff::Timestamp;

/// The number of times a request that met 429 or 5xx is sent again.
pub(super) const TRIES: u32 = 3;

/// The longest `Retry-After` that is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// The step after a refusal that may pass.
#[derive(Debug, PartialEq)]
pub(super) enum Next {
    /// Ask again after this time.
    After(Duration),
    /// The server wants to be left alone for this long, which is too long to wait for.
    TooLong(Duration),
}

/// The pause before try number `attempt` (from 0): what the server asks for, else half a second
/// doubled each time. `dice` in 0..1 spreads it, so that many clients do not come back together.
pub(super) fn pause(attempt: u32, retry_after: Option<&str>, now: Timestamp, dice: f64) -> Next {
    match retry_after.and_then(|value| parse_retry_after(value, now)) {
        Some(wait) if wait > PATIENCE => Next::TooLong(wait),
        Some(wait) => Next::After(wait),
        None => Next::After(Duration::from_millis(500 * (1 << attempt)).mul_f64(0.5 + dice)),
    }
}

/// `Retry-After` (RFC 9110, section 10.2.3): seconds, or an HTTP date. A date that is past means now.
fn parse_retry_after(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(value).ok()?;
    Some(Duration::try_from(date.duration_since(now)).unwrap_or_default())
}

/// A number in 0..1 that differs between processes and calls; nothing more is asked of it.
pub(super) fn dice() -> f64 {
    (RandomState::new().hash_one(0u8) >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses() {
        let now: Timestamp = "2015-10-21T07:28:00Z".parse().unwrap();
        let after = |ms| Next::After(Duration::from_millis(ms));
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
            (0, Some("61"), 0.5, Next::TooLong(Duration::from_secs(61))),
            (0, Some("Wed, 21 Oct 2015 07:28:30 GMT"), 0.5, after(30_000)),
            (0, Some("Wed, 21 Oct 2015 07:27:30 GMT"), 0.5, after(0)),
            (0, Some("Wed, 21 Oct 2015 08:28:00 GMT"), 0.5, Next::TooLong(Duration::from_secs(3600))),
        ] {
            assert_eq!(pause(attempt, header, now, dice), expected, "{attempt} {header:?}");
        }
    }

    #[test]
    fn the_dice_stay_within_bounds() {
        assert!((0..1000).map(|_| dice()).all(|d| (0.0..1.0).contains(&d)));
    }
}
