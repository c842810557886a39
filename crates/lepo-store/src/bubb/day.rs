//! The UTC day of an id, and its folder with the bubbs of that day: `2025-11/13`.

use std::fmt;

use super::BubbId;

/// Milliseconds.
const LENGTH: u64 = 24 * 60 * 60 * 1000;

/// A UTC day, as the number of days since 1970-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(u32);

impl Day {
    /// 1970-01-01.
    pub const FIRST: Day = Day(0);

    /// Returns the day of `time`, in milliseconds since 1970.
    pub fn from_millis(time: u64) -> Day {
        Day(u32::try_from(time / LENGTH).unwrap_or(u32::MAX))
    }

    pub fn from_id(id: BubbId) -> Day {
        Day::from_millis(id.time())
    }

    /// Returns the first millisecond of the day.
    pub fn start(self) -> u64 {
        u64::from(self.0) * LENGTH
    }

    pub fn next(self) -> Day {
        Day(self.0.saturating_add(1))
    }

    /// Parses the names of the two folders of a day, which must be in the form that lepo writes.
    pub fn parse(month: &[u8], day: &[u8]) -> Option<Day> {
        let (year, number) = parse_month(month)?;
        let number_of_day = digits(day, 2, 2)?;
        let days = days_before(year, number).checked_add(i64::from(number_of_day) - 1)?;
        let parsed = Day(u32::try_from(days).ok()?);
        let is_padded = month.len() > "2025-11".len() && month.first() == Some(&b'0');
        (parsed.civil() == (year, number, number_of_day) && !is_padded).then_some(parsed)
    }

    /// Returns the first day of a month's folder, such as `2025-11`.
    pub fn parse_month(month: &[u8]) -> Option<Day> {
        Day::parse(month, b"01")
    }

    /// Returns the name of the month's folder: `2025-11`.
    pub fn month(self) -> String {
        let (year, month, _) = self.civil();
        format!("{year:04}-{month:02}")
    }

    /// Returns the name of the day's folder within the month: `13`.
    pub fn day(self) -> String {
        format!("{:02}", self.civil().2)
    }

    /// Year, month and day of the proleptic Gregorian calendar, computed with years that start in March.
    fn civil(self) -> (u32, u32, u32) {
        let days = u64::from(self.0) + 719_468;
        let (era, of_era) = (days / 146_097, days % 146_097);
        let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted = (5 * of_year + 2) / 153;
        let day = of_year - (153 * shifted + 2) / 5 + 1;
        let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
        let year = era * 400 + year_of_era + u64::from(month <= 2);
        (year as u32, month as u32, day as u32)
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.month(), self.day())
    }
}

fn parse_month(text: &[u8]) -> Option<(u32, u32)> {
    let at = text.iter().position(|&byte| byte == b'-')?;
    let (year, month) = (text.get(..at)?, text.get(at + 1..)?);
    let month = digits(month, 2, 2).filter(|month| (1..=12).contains(month))?;
    Some((digits(year, 4, 6)?, month))
}

fn digits(text: &[u8], least: usize, most: usize) -> Option<u32> {
    let fits = (least..=most).contains(&text.len()) && text.iter().all(u8::is_ascii_digit);
    fits.then(|| text.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0')))
}

fn days_before(year: u32, month: u32) -> i64 {
    let year = i64::from(year) - i64::from(month <= 2);
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let shifted = i64::from(if month > 2 { month - 3 } else { month + 9 });
    let of_year = (153 * shifted + 2) / 5;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_written_as_its_folders() {
        for (time, folders) in [
            (0, "1970-01/01"),
            (LENGTH - 1, "1970-01/01"),
            (LENGTH, "1970-01/02"),
            (951_782_400_000, "2000-02/29"),
            (1_763_034_245_123, "2025-11/13"),
            (4_107_542_400_000, "2100-03/01"),
            (crate::bubb::MAX_TIME, "10889-08/02"),
        ] {
            assert_eq!(Day::from_millis(time).to_string(), folders);
            let (month, day) = folders.split_once('/').unwrap();
            assert_eq!(Day::parse(month.as_bytes(), day.as_bytes()), Some(Day::from_millis(time)));
            assert!(Day::from_millis(time).start() <= time && time < Day::from_millis(time).next().start());
        }
    }

    #[test]
    fn every_day_of_ten_thousand_years_reads_and_writes_itself() {
        for number in 0..3_000_000 {
            let day = Day(number);
            let (month, own) = (day.month(), day.day());
            assert_eq!(Day::parse(month.as_bytes(), own.as_bytes()), Some(day), "{day}");
        }
    }

    #[test]
    fn other_names_are_no_days() {
        for (month, day) in [
            ("2025-02", "30"),
            ("2025-02", "29"),
            ("2025-13", "01"),
            ("2025-00", "01"),
            ("2025-1", "01"),
            ("2025-11", "1"),
            ("2025-11", "00"),
            ("2025-11", "0x"),
            ("02025-11", "13"),
            ("1969-12", "31"),
            ("0000-01", "01"),
            ("9999999-12", "31"),
            ("2025_11", "13"),
            ("", ""),
            ("2025-11", "13 "),
            ("-", "13"),
        ] {
            assert_eq!(Day::parse(month.as_bytes(), day.as_bytes()), None, "{month}/{day}");
        }
    }
}
