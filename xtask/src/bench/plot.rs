//! Plots as SVG: bars that lie, and lines. They carry their own colours for light and dark pages.

use std::fmt::Write as _;

use super::numbers::short;

/// A plot; its file is `NAME.svg`.
#[derive(Debug)]
pub(super) struct Plot {
    /// The file's name without its ending; unique among all benchmarks, so it begins with one's.
    pub(super) file: String,
    pub(super) title: String,
    /// What the axis of values says, with the unit; of lines, the upright one.
    pub(super) values: String,
    /// Logarithmic values.
    pub(super) log: bool,
    pub(super) kind: Kind,
}

#[derive(Debug)]
pub(super) enum Kind {
    /// One bar a label, in this order; ours, as [`is_ours`] says, are drawn in the strong colour.
    Bars(Vec<(String, f64)>),
    /// One line a label over `x`, which may be logarithmic too.
    Lines { x: String, log_x: bool, lines: Vec<(String, Vec<(f64, f64)>)> },
}

const WIDTH: f64 = 720.0;
/// Room for labels on the left.
const LEFT: f64 = 210.0;
const RIGHT: f64 = 90.0;
const TOP: f64 = 44.0;
const ROW: f64 = 26.0;
const BAR: f64 = 16.0;
/// The height of the field of a plot of lines.
const FIELD: f64 = 300.0;
/// Colours that differ in brightness too, and read on white and on black.
const COLOURS: [&str; 6] = ["#2a78d6", "#d95f02", "#1b9e77", "#b3589a", "#8a8a2a", "#7a7a7a"];

const STYLE: &str = "<style>text{font:13px system-ui,sans-serif;fill:#222}.t{font-weight:600;font-size:15px}\
.a{fill:#666}.g{stroke:#ddd}.o{fill:#2a78d6}.b{fill:#9aa5b1}\
@media(prefers-color-scheme:dark){text{fill:#ddd}.a{fill:#aaa}.g{stroke:#444}.b{fill:#6b7682}.o{fill:#5b9cf0}}</style>";

/// Whether a label is one of ours.
fn is_ours(label: &str) -> bool {
    label.to_lowercase().starts_with("callgate")
}

pub(super) fn svg(plot: &Plot) -> String {
    match &plot.kind {
        Kind::Bars(bars) => self::bars(plot, bars),
        Kind::Lines { x, log_x, lines } => self::lines(plot, x, *log_x, lines),
    }
}

fn head(height: f64, title: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         aria-label=\"{0}\">{STYLE}<text class=\"t\" x=\"8\" y=\"22\">{0}</text>\n",
        escaped(title)
    )
}

fn bars(plot: &Plot, bars: &[(String, f64)]) -> String {
    let scale = Scale::of(bars.iter().map(|(_, value)| *value), plot.log, LEFT, WIDTH - RIGHT);
    let bottom = TOP + ROW * bars.len() as f64;
    let mut text = head(bottom + 46.0, &plot.title);
    for (tick, x) in scale.ticks() {
        let _ = writeln!(
            text,
            "<line class=\"g\" x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{bottom}\"/>\
             <text class=\"a\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            bottom + 16.0,
            short(tick)
        );
    }
    for (place, (label, value)) in bars.iter().enumerate() {
        let y = TOP + ROW * place as f64 + (ROW - BAR) / 2.0;
        let end = if value.is_finite() { scale.at(*value).max(LEFT + 1.0) } else { LEFT };
        let _ = writeln!(
            text,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
             <rect class=\"{}\" x=\"{LEFT}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{BAR}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            LEFT - 8.0,
            y + 13.0,
            escaped(label),
            if is_ours(label) { "o" } else { "b" },
            end - LEFT,
            end + 6.0,
            y + 13.0,
            short(*value)
        );
    }
    let _ = writeln!(
        text,
        "<text class=\"a\" x=\"{LEFT}\" y=\"{:.1}\">{}</text></svg>",
        bottom + 36.0,
        escaped(&plot.values)
    );
    text
}

fn lines(plot: &Plot, x: &str, log_x: bool, lines: &[(String, Vec<(f64, f64)>)]) -> String {
    let points = || lines.iter().flat_map(|(_, points)| points);
    let across = Scale::of(points().map(|point| point.0), log_x, 70.0, WIDTH - 20.0);
    let bottom = TOP + FIELD;
    let up = Scale::of(points().map(|point| point.1), plot.log, bottom, TOP);
    let mut text = head(bottom + 54.0 + 20.0 * lines.len() as f64, &plot.title);
    for (tick, y) in up.ticks() {
        let _ = writeln!(
            text,
            "<line class=\"g\" x1=\"70\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\"/>\
             <text class=\"a\" x=\"64\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            WIDTH - 20.0,
            y + 4.0,
            short(tick)
        );
    }
    for (tick, at) in across.ticks() {
        let _ = writeln!(
            text,
            "<text class=\"a\" x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            bottom + 18.0,
            short(tick)
        );
    }
    for (place, (label, points)) in lines.iter().enumerate() {
        let colour = COLOURS[place % COLOURS.len()];
        let path: Vec<String> =
            points.iter().map(|(x, y)| format!("{:.1},{:.1}", across.at(*x), up.at(*y))).collect();
        let legend = bottom + 62.0 + 20.0 * place as f64;
        let _ = writeln!(
            text,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>\
             <rect x=\"70\" y=\"{:.1}\" width=\"14\" height=\"4\" fill=\"{colour}\"/>\
             <text x=\"92\" y=\"{legend:.1}\">{}</text>",
            path.join(" "),
            legend - 6.0,
            escaped(label)
        );
    }
    let _ = writeln!(
        text,
        "<text class=\"a\" x=\"70\" y=\"{:.1}\">{} over {}</text></svg>",
        bottom + 38.0,
        escaped(&plot.values),
        escaped(x)
    );
    text
}

/// From values to places.
struct Scale {
    least: f64,
    greatest: f64,
    log: bool,
    from: f64,
    to: f64,
}

impl Scale {
    /// Linear scales begin at 0; logarithmic ones at the power of ten below the least value.
    fn of(values: impl Iterator<Item = f64>, log: bool, from: f64, to: f64) -> Self {
        let wanted = |value: &f64| value.is_finite() && (!log || *value > 0.0);
        let (least, greatest) = values
            .filter(wanted)
            .fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
        if !least.is_finite() || greatest <= 0.0 {
            return Self { least: if log { 0.1 } else { 0.0 }, greatest: 1.0, log, from, to };
        }
        if log {
            let low = 10_f64.powf(least.log10().floor());
            let high = 10_f64.powf(greatest.log10().ceil()).max(low * 10.0);
            Self { least: low, greatest: high, log, from, to }
        } else {
            let step = step(greatest);
            Self { least: 0.0, greatest: (greatest / step).ceil() * step, log, from, to }
        }
    }

    fn at(&self, value: f64) -> f64 {
        let share = if self.log {
            let low = self.least.log10();
            (value.max(self.least).log10() - low) / (self.greatest.log10() - low)
        } else {
            value / self.greatest
        };
        self.from + share * (self.to - self.from)
    }

    fn ticks(&self) -> Vec<(f64, f64)> {
        let mut ticks = Vec::new();
        if self.log {
            let mut tick = self.least;
            while tick <= self.greatest * 1.001 {
                ticks.push((tick, self.at(tick)));
                tick *= 10.0;
            }
        } else {
            let step = step(self.greatest);
            let mut count = 0.0;
            while count * step <= self.greatest * 1.001 {
                ticks.push((count * step, self.at(count * step)));
                count += 1.0;
            }
        }
        ticks
    }
}

/// A step of 1, 2 or 5 times a power of ten that makes four to ten steps.
fn step(greatest: f64) -> f64 {
    let raw = greatest / 5.0;
    let power = 10_f64.powf(raw.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * power >= raw);
    factor.unwrap_or(10.0) * power
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_puts_ends_at_ends() {
        let linear = Scale::of([3.0, 17.0].into_iter(), false, 100.0, 300.0);
        assert!((linear.at(0.0) - 100.0).abs() < 1e-9);
        assert!((linear.at(20.0) - 300.0).abs() < 1e-9);
        let log = Scale::of([0.07, 31.0].into_iter(), true, 0.0, 4.0);
        assert_eq!(log.ticks().len(), 5, "0.01 to 100");
        assert!((log.at(1.0) - 2.0).abs() < 1e-9);
    }

    #[test]
    fn every_label_is_drawn_and_harmless() {
        let plot = Plot {
            file: "x".to_owned(),
            title: "A & B".to_owned(),
            values: "ms".to_owned(),
            log: true,
            kind: Kind::Bars(vec![
                ("callgate".to_owned(), 0.1),
                ("<peer>".to_owned(), 30.0),
                ("none".to_owned(), f64::NAN),
            ]),
        };
        let text = svg(&plot);
        assert!(text.contains("&lt;peer>") && text.contains("A &amp; B"), "{text}");
        assert_eq!(text.matches("<rect").count(), 3);
        assert!(!text.contains("NaN"), "{text}");
    }
}
