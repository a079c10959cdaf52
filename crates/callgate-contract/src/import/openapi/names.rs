//! What an operation is called: legal on every surface, one to an operation, the same each time.
//!
//! An `operationId` that is legal and the only one of its kind stays as it is. Where there is none,
//! method and path make the name. What is not legal is cleaned; what then is too long, or not alone,
//! ends in a hash of method and path. So a name does not depend on the order of operations.

use std::collections::{BTreeMap, BTreeSet};

use crate::surface::names::{LONGEST, Named, hashed, is_legal};

/// What a name is made from.
#[derive(Debug, Clone)]
pub(super) struct Source<'d> {
    pub(super) method: &'static str,
    pub(super) path: &'d str,
    pub(super) id: Option<&'d str>,
}

/// The names, in the operations' order.
pub(super) fn names(sources: &[Source<'_>]) -> Vec<String> {
    let wanted: Vec<String> = sources.iter().map(Source::wanted).collect();
    let mut claims: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (source, name) in sources.iter().zip(&wanted) {
        let (all, own) = claims.entry(name).or_default();
        *all += 1;
        *own += usize::from(source.id == Some(name));
    }
    let keeps = |source: &Source<'_>, name: &str| {
        let (all, own) = claims.get(name).copied().unwrap_or_default();
        is_legal(name) && (all == 1 || (own == 1 && source.id == Some(name)))
    };
    let mut held: BTreeSet<String> = BTreeSet::new();
    let mut out: Vec<Option<String>> = Vec::new();
    for (source, name) in sources.iter().zip(&wanted) {
        let kept = keeps(source, name).then(|| name.clone());
        held.extend(kept.clone());
        out.push(kept);
    }
    // In an order of their own, so that a tie of hashes does not depend on the document's.
    let mut order: Vec<usize> = (0..sources.len()).filter(|i| out[*i].is_none()).collect();
    order.sort_by_key(|i| (sources[*i].path, sources[*i].method));
    for i in order {
        let source = &sources[i];
        let named = Named { server: Some(source.method.into()), name: source.path.into() };
        let name = (0..)
            .map(|round| hashed(&wanted[i], &named, round))
            .find(|name| !held.contains(name))
            .unwrap_or_default();
        held.insert(name.clone());
        out[i] = Some(name);
    }
    out.into_iter().flatten().collect()
}

impl Source<'_> {
    fn wanted(&self) -> String {
        match self.id.map(str::trim).filter(|id| id.chars().any(|c| c.is_ascii_alphanumeric())) {
            Some(id) if is_legal(id) => id.to_owned(),
            Some(id) => clean(id),
            None => clean(&format!("{}_{}", self.method.to_ascii_lowercase(), self.path)),
        }
    }
}

/// Runs of anything else become one `_`. Not cut: whoever is too long is hashed.
fn clean(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() || c == '_' || c == '-' {
            out.push(c);
        } else if !out.ends_with('_') {
            out.push('_');
        }
    }
    let mut out = out.trim_matches(['_', '-']).to_owned();
    if !out.starts_with(|c: char| c.is_ascii_alphabetic()) {
        out.insert(0, '_');
    }
    out
}

/// A property's name that templates and providers take: `[A-Za-z0-9_.-]`, at most 64.
pub(super) fn property(name: &str) -> String {
    let odd = |c: char| !(c.is_ascii_alphanumeric() || "_.-".contains(c));
    if !name.is_empty() && name.len() <= LONGEST && !name.contains(odd) {
        return name.to_owned();
    }
    let mut out = String::new();
    for c in name.chars() {
        if !odd(c) {
            out.push(c);
        } else if !out.ends_with('_') {
            out.push('_');
        }
    }
    let mut out = out.trim_matches('_').to_owned();
    out.truncate(LONGEST);
    if out.is_empty() { "value".to_owned() } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rows: &[(&'static str, &'static str, Option<&'static str>)]) -> Vec<String> {
        let sources: Vec<Source<'_>> =
            rows.iter().map(|&(method, path, id)| Source { method, path, id }).collect();
        let names = names(&sources);
        let unique: BTreeSet<&String> = names.iter().collect();
        assert_eq!(unique.len(), rows.len(), "{names:?}");
        assert!(names.iter().all(|name| is_legal(name)), "{names:?}");
        names
    }

    #[test]
    fn ids_stay_or_are_cleaned() {
        let names = of(&[
            ("GET", "/a", Some("listPets")),
            ("GET", "/b", Some("meta/root")),
            ("GET", "/pets/{petId}/toys", None),
            ("GET", "/", None),
            ("GET", "/c", Some("  ")),
            ("GET", "/d", Some("2fa.enable")),
        ]);
        let expected =
            ["listPets", "meta_root", "get_pets_petId_toys", "get", "get_c", "_2fa_enable"];
        assert_eq!(names, expected);
    }

    #[test]
    fn ties_are_told_apart_whatever_the_order() {
        let rows = [
            ("GET", "/a", Some("x/y")),
            ("PUT", "/a", Some("x_y")),
            ("GET", "/b", Some("x.y")),
            ("GET", "/c", Some("same")),
            ("GET", "/d", Some("same")),
        ];
        let names = of(&rows);
        assert_eq!(names[1], "x_y");
        assert!(names[0].starts_with("x_y_") && names[3].starts_with("same_"), "{names:?}");
        let mut back: Vec<_> = rows.to_vec();
        back.reverse();
        let mut again = of(&back);
        again.reverse();
        assert_eq!(names, again);
    }

    #[test]
    fn long_ones_keep_their_beginning() {
        const LONG: &str =
            "export_quarterly_revenue_report_for_the_whole_company_and_all_of_its_parts";
        let names = of(&[("GET", "/a", Some(LONG)), ("GET", "/b", Some(LONG))]);
        assert!(names.iter().all(|name| name.starts_with("export_quarterly_revenue_report_")));
    }

    #[test]
    fn properties() {
        let rows = [
            ("id", "id"),
            ("X-Request-ID", "X-Request-ID"),
            ("filter[name]", "filter_name"),
            ("$filter", "filter"),
            ("größe", "gr_e"),
            ("{}", "value"),
        ];
        for (name, expected) in rows {
            assert_eq!(property(name), expected, "{name}");
        }
    }
}
