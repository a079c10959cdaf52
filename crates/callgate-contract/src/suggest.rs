//! Near misses: which of the known words somebody probably meant.

/// The nearest candidate, if one is near enough to be meant: equal but for case and separators,
/// or within an edit distance of two fifths of the word.
pub fn nearest<'c>(word: &str, candidates: &[&'c str]) -> Option<&'c str> {
    let folded = fold(word);
    if let Some(same) = candidates.iter().find(|c| fold(c) == folded) {
        return Some(same);
    }
    let limit = (folded.chars().count() * 2 / 5).clamp(1, 4);
    candidates
        .iter()
        .map(|c| (distance(&folded, &fold(c)), *c))
        .filter(|(d, c)| *d <= limit && *d < c.chars().count())
        .min_by_key(|(d, _)| *d)
        .map(|(_, c)| c)
}

/// A word without case and separators: `order_id`, `orderId` and `Order-ID` are one.
pub(crate) fn fold(word: &str) -> String {
    word.chars()
        .filter(|c| !matches!(c, '_' | '-' | ' ' | '.'))
        .flat_map(char::to_lowercase)
        .collect()
}

/// Edit distance with transpositions of neighbours (optimal string alignment).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len() > 64 || b.len() > 64 {
        return usize::MAX;
    }
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    rows[0] = (0..=b.len()).collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let cost = usize::from(a[i - 1] != b[j - 1]);
            let mut best =
                (rows[i - 1][j] + 1).min(rows[i][j - 1] + 1).min(rows[i - 1][j - 1] + cost);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_found_and_far_ones_are_not() {
        let status = ["draft", "sent", "paid", "void"];
        assert_eq!(nearest("payed", &status), Some("paid"));
        assert_eq!(nearest("PAID", &status), Some("paid"));
        assert_eq!(nearest("cancelled", &status), None);
        assert_eq!(nearest("requried", &["required", "readOnly"]), Some("required"));
        assert_eq!(nearest("order_id", &["orderId", "orderDate"]), Some("orderId"));
        assert_eq!(nearest("file_search", &["filesearch", "fileopen"]), Some("filesearch"));
        assert_eq!(nearest("x", &["y"]), None);
    }
}
