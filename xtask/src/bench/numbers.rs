//! Medians, spreads, and numbers as people read them.

/// The median; the mean of the middle two where there is no middle one. NaN of nothing.
pub(super) fn median(values: &[f64]) -> f64 {
    let sorted = sorted(values);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

/// The least and the greatest. NaN of nothing.
pub(super) fn spread(values: &[f64]) -> (f64, f64) {
    let sorted = sorted(values);
    match (sorted.first(), sorted.last()) {
        (Some(least), Some(greatest)) => (*least, *greatest),
        _ => (f64::NAN, f64::NAN),
    }
}

/// Three significant digits, thousands set off: `0.0813`, `24.4`, `12,481`. A dash for no number.
pub(super) fn short(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    let size = value.abs();
    if size >= 100.0 {
        return thousands(value);
    }
    if size == 0.0 {
        return "0".to_owned();
    }
    // Digits before the point are 1 or 2 from here on, or there are zeros behind it.
    let decimals = (2 - size.log10().floor() as i32).clamp(0, 9) as usize;
    format!("{value:.decimals$}")
}

/// `median [least–greatest]`.
pub(super) fn with_spread(values: &[f64]) -> String {
    let (least, greatest) = spread(values);
    format!("{} [{}–{}]", short(median(values)), short(least), short(greatest))
}

fn thousands(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if value < 0.0 { format!("-{text}") } else { text }
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
    sorted.sort_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_spreads() {
        assert!((median(&[3.0, 1.0, 2.0]) - 2.0).abs() < f64::EPSILON);
        assert!((median(&[4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < f64::EPSILON);
        assert!(median(&[]).is_nan());
        assert_eq!(spread(&[3.0, 1.0, 2.0]), (1.0, 3.0));
    }

    #[test]
    fn numbers_are_short() {
        let told = [0.0, 0.081_3, 0.266, 1.427, 24.38, 99.96, 382.0, 12_481.2, -1500.0];
        let told = told.map(short);
        assert_eq!(
            told,
            ["0", "0.0813", "0.266", "1.43", "24.4", "100.0", "382", "12,481", "-1,500"]
        );
        assert_eq!(short(f64::NAN), "–");
    }
}
