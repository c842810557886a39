//! Times as users type and read them: dates, spans like `90d`, local days.
//!
//! A moment is milliseconds since 1970, UTC. Days are in the local time zone.

use std::sync::OnceLock;

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan, Zoned};

use crate::env;

/// The end of the day that a date without a time means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DayEnd {
    /// First millisecond of the day.
    First,
    /// Last millisecond of the day.
    Last,
}

/// Parses a date (`2026-11-01`), a date with a time (`2026-11-01T12:00Z`; local without a zone), or a span before
/// `now` (`90d`, `12h`, `30m`, `2w`). `None` for any other text.
pub fn parse(text: &str, now: u64, end: DayEnd) -> Option<u64> {
    let text = text.trim();
    parse_span(text).map(|span| now.saturating_sub(span)).or_else(|| {
        // The other forms contain a date, which jiff would parse out of them, so they are tried first.
        let moment = if let Ok(timestamp) = text.parse::<Timestamp>() {
            timestamp.as_millisecond()
        } else if text.contains(['T', 't', ' ']) {
            local(text.parse::<DateTime>().ok()?)?
        } else {
            let date = text.parse::<Date>().ok()?;
            match end {
                DayEnd::First => start_of(date)?,
                DayEnd::Last => start_of(date.tomorrow().ok()?)? - 1,
            }
        };
        u64::try_from(moment).ok()
    })
}

/// The forms that [`parse`] accepts, for error messages.
pub const FORMS: &str =
    "a date (2026-11-01), a date with a time (2026-11-01T12:00Z), or a span (90d, 12h, 2w)";

/// Parses a span like `90d` (minutes, hours, days or weeks); returns milliseconds.
pub fn parse_span(text: &str) -> Option<u64> {
    let unit = text.chars().next_back()?;
    let number: u64 = text.strip_suffix(unit)?.parse().ok()?;
    let minutes = match unit {
        'm' => 1,
        'h' => 60,
        'd' => 24 * 60,
        'w' => 7 * 24 * 60,
        _ => return None,
    };
    number.checked_mul(minutes)?.checked_mul(60_000)
}

/// Returns the local day of a moment: `2026-03-04`.
pub fn day(moment: u64) -> String {
    zoned(moment).map(|zoned| zoned.date().to_string()).unwrap_or_default()
}

/// Returns the Monday of a moment's local week: `2026-03-02`.
pub fn week(moment: u64) -> String {
    let monday = |zoned: Zoned| {
        let date = zoned.date();
        let since = date.weekday().to_monday_zero_offset();
        date.checked_sub(i64::from(since).days()).unwrap_or(date).to_string()
    };
    zoned(moment).map(monday).unwrap_or_default()
}

/// Formats a moment in few characters, relative to `now`: `now`, `5m`, `2h`, `3d` within a week, `3 Mar` within a
/// year, otherwise `Mar 2024`.
pub fn short(moment: u64, now: u64) -> String {
    let minutes = now.saturating_sub(moment) / 60_000;
    match minutes {
        0 => "now".into(),
        1..60 => format!("{minutes}m"),
        60..1_440 => format!("{}h", minutes / 60),
        1_440..10_080 => format!("{}d", minutes / 1_440),
        _ => {
            let Some(then) = zoned(moment) else { return String::new() };
            let recent =
                zoned(now).is_some_and(|now| now.checked_sub(1.year()).is_ok_and(|year| then > year));
            then.strftime(if recent { "%-d %b" } else { "%b %Y" }).to_string()
        }
    }
}

/// Formats a moment for use in a sentence, relative to `now`: `just now`, `5m ago`, `3 Mar`.
pub fn ago(moment: u64, now: u64) -> String {
    let short = short(moment, now);
    match short.as_str() {
        "now" => "just now".into(),
        span if span.ends_with(['m', 'h', 'd']) => format!("{span} ago"),
        _ => short,
    }
}

/// Width of the widest text of [`short`], in columns.
pub const SHORT_WIDTH: usize = 8;

/// Formats a moment: `3 Mar 10:15` in the year of `now`, otherwise `3 Mar 2024`.
pub fn day_and_hour(moment: u64, now: u64) -> String {
    let Some(then) = zoned(moment) else { return String::new() };
    let recent = zoned(now).is_some_and(|now| now.year() == then.year());
    then.strftime(if recent { "%-d %b %H:%M" } else { "%-d %b %Y" }).to_string()
}

/// Formats a moment for programs, in UTC: `2026-03-04T10:15:16.123Z`.
pub fn iso_utc(moment: u64) -> String {
    let timestamp = i64::try_from(moment).ok().and_then(|moment| Timestamp::from_millisecond(moment).ok());
    timestamp.map(|timestamp| format!("{timestamp:.3}")).unwrap_or_default()
}

/// Formats a moment to the minute for scripts, in local time: `2026-03-04T10:15`.
pub fn iso_minute(moment: u64) -> String {
    zoned(moment).map(|then| then.strftime("%Y-%m-%dT%H:%M").to_string()).unwrap_or_default()
}

fn zoned(moment: u64) -> Option<Zoned> {
    let timestamp = Timestamp::from_millisecond(i64::try_from(moment).ok()?).ok()?;
    Some(timestamp.to_zoned(zone()))
}

/// Returns the local time zone, cached on first use. Without `TZ` the file of the zone is read directly: the library
/// would also search for its name in a listing of all zones, which is as slow as the rest of a command.
fn zone() -> TimeZone {
    static ZONE: OnceLock<TimeZone> = OnceLock::new();
    let of_file = || TimeZone::tzif("local", &std::fs::read("/etc/localtime").ok()?).ok();
    let found = || env::var("TZ").is_none().then(of_file).flatten().unwrap_or_else(TimeZone::system);
    ZONE.get_or_init(found).clone()
}

fn start_of(date: Date) -> Option<i64> {
    Some(date.to_zoned(zone()).ok()?.timestamp().as_millisecond())
}

fn local(at: DateTime) -> Option<i64> {
    Some(at.to_zoned(zone()).ok()?.timestamp().as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_and_moments_with_a_zone_are_read() {
        const NOW: u64 = 1_800_000_000_000;
        for (text, moment) in [
            ("90d", Some(NOW - 90 * 86_400_000)),
            ("12h", Some(NOW - 43_200_000)),
            ("30m", Some(NOW - 1_800_000)),
            ("2w", Some(NOW - 14 * 86_400_000)),
            ("99999999d", Some(0)),
            ("2025-03-01T12:00Z", Some(1_740_830_400_000)),
            ("2025-03-01T12:00:00.250+09:00", Some(1_740_798_000_250)),
            ("", None),
            ("d", None),
            ("-3d", None),
            ("3y", None),
            ("99999999999999999999d", None),
            ("2026-13-01", None),
            ("yesterday", None),
            ("1960-01-01", None),
        ] {
            assert_eq!(parse(text, NOW, DayEnd::First), moment, "{text}");
        }
    }

    #[test]
    fn a_date_is_its_local_day_from_first_to_last() {
        let first = parse("2026-03-04", 0, DayEnd::First).unwrap();
        let last = parse("2026-03-04", 0, DayEnd::Last).unwrap();
        assert_eq!((day(first), day(last)), ("2026-03-04".into(), "2026-03-04".into()));
        assert_eq!(day(first - 1), "2026-03-03");
        assert_eq!(day(last + 1), "2026-03-05");
    }

    #[test]
    fn the_further_back_the_coarser() {
        const HOUR: u64 = 3_600_000;
        // Noon in any time zone.
        let [then, now] =
            ["2024-03-09T12:00", "2027-01-15T12:00"].map(|text| parse(text, 0, DayEnd::First).unwrap());
        for (before, shown) in [
            (0, "now"),
            (59_000, "now"),
            (300_000, "5m"),
            (2 * HOUR, "2h"),
            (50 * HOUR, "2d"),
            (8 * 24 * HOUR, "7 Jan"),
        ] {
            assert_eq!(short(now - before, now), shown);
        }
        assert_eq!(short(then, now), "Mar 2024");
        assert_eq!(short(now + 5, now), "now");
        assert_eq!(day_and_hour(then, now), "9 Mar 2024");
        assert_eq!(day_and_hour(now, now), "15 Jan 12:00");
        assert_eq!(iso_minute(now), "2027-01-15T12:00");
    }
}
