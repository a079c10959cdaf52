//! Times as people write and read them, in UTC.

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970, now.
pub(super) fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX))
}

/// `90s`, `15m`, `2h`, `3d` in milliseconds.
pub(super) fn span(text: &str) -> Result<u64, String> {
    let bad = || "give a number and a unit: 90s, 15m, 2h or 3d".to_owned();
    let unit = text.chars().last().ok_or_else(bad)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        _ => return Err(bad()),
    };
    let count: u64 = text[..text.len() - 1].parse().map_err(|_| bad())?;
    count.checked_mul(seconds * 1000).ok_or_else(bad)
}

/// A span before now, or a date with or without a time of day, in milliseconds since 1970.
pub(super) fn since(text: &str) -> Result<u64, String> {
    if let Ok(ago) = span(text) {
        return Ok(now().saturating_sub(ago));
    }
    date(text).ok_or_else(|| {
        "give a span before now (90s, 15m, 2h, 3d) or a date in UTC: 2026-11-30, 2026-11-30T08:15"
            .to_owned()
    })
}

fn date(text: &str) -> Option<u64> {
    let text = text.strip_suffix('Z').unwrap_or(text);
    let (day, time) = text.split_once(['T', ' ']).unwrap_or((text, "0:0"));
    let mut parts = day.splitn(3, '-');
    let mut next = || parts.next()?.parse::<u64>().ok();
    let (year, month, day) = (next()?, next()?, next()?);
    let mut parts = time.splitn(3, ':');
    let (hour, minute) = (parts.next()?.parse::<u64>().ok()?, parts.next()?.parse::<u64>().ok()?);
    let second = parts.next().map_or(Some(0), |text| text.parse::<u64>().ok())?;
    let is_time = hour < 24 && minute < 60 && second < 60;
    if !(1970..10_000).contains(&year) || !(1..=12).contains(&month) || !is_time {
        return None;
    }
    let days = days_before(year, month) + day.checked_sub(1)?;
    // Such as the 31st of April.
    if days >= days_before(year + month / 12, month % 12 + 1) {
        return None;
    }
    Some((((days * 24 + hour) * 60 + minute) * 60 + second) * 1000)
}

/// Days from 1970 to the first of a month.
fn days_before(year: u64, month: u64) -> u64 {
    // Years that begin in March have their leap day at the end.
    // <https://howardhinnant.github.io/date_algorithms.html#days_from_civil>
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let (era, of_era) = (year / 400, year % 400);
    let of_year = (153 * month + 2) / 5;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// `2026-11-30 08:15:23`.
pub(super) fn stamp(ms: u64) -> String {
    let (days, second) = (ms / 86_400_000, ms / 1000 % 86_400);
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_there_and_back() {
        for (text, ms) in [
            ("1970-01-01 00:00:00", 0),
            ("2000-02-29 12:30:59", 951_827_459_000),
            ("2024-12-31 23:59:59", 1_735_689_599_000),
            ("2026-11-30 08:15:23", 1_796_026_523_000),
            ("2100-03-01 00:00:00", 4_107_542_400_000),
        ] {
            assert_eq!(date(text), Some(ms), "{text}");
            assert_eq!(stamp(ms), text);
        }
        assert_eq!(date("2026-11-30"), date("2026-11-30T00:00Z"));
        for wrong in [
            "",
            "2026",
            "2026-13-01",
            "2026-02-29",
            "2026-04-31",
            "1969-12-31",
            "2026-01-00",
            "2026-01-01T24:00",
            "yesterday",
        ] {
            assert_eq!(date(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn spans() {
        for (text, ms) in
            [("90s", 90_000), ("15m", 900_000), ("2h", 7_200_000), ("3d", 259_200_000)]
        {
            assert_eq!(span(text), Ok(ms));
        }
        for wrong in ["", "s", "3", "3w", "-1d", "1.5h", "99999999999999999999d"] {
            assert!(span(wrong).is_err(), "{wrong}");
        }
    }
}
