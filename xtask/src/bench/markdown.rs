//! A report as Markdown.

use super::report::{Block, Table};

/// `blocks` one after the other; `plots` is the path from the page to the folder of the plots.
pub(super) fn blocks(blocks: &[Block], plots: &str) -> String {
    let texts = blocks.iter().map(|block| match block {
        Block::Text(text) => format!("{}\n", text.trim()),
        Block::Table(table) => self::table(table),
        Block::Plot(plot) => format!("![{}]({plots}{}.svg)\n", plot.title, plot.file),
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn table(table: &Table) -> String {
    let mut text = line(&table.head);
    let right = table.head.iter().enumerate().map(|(place, _)| match place {
        0 => "---".to_owned(),
        _ => "---:".to_owned(),
    });
    text.push_str(&line(&right.collect::<Vec<_>>()));
    for row in &table.rows {
        text.push_str(&line(row));
    }
    text
}

fn line(cells: &[String]) -> String {
    let cells: Vec<String> =
        cells.iter().map(|cell| cell.replace('|', "\\|").replace('\n', " ")).collect();
    format!("| {} |\n", cells.join(" | "))
}

/// `page` with what stands between the marks of `name` exchanged for `text`; the marks are put at
/// its end where it has none.
pub(super) fn section(page: &str, name: &str, text: &str) -> String {
    let (open, close) = (format!("<!-- bench:{name} -->"), format!("<!-- /bench:{name} -->"));
    let filled = format!("{open}\n\n{}\n\n{close}", text.trim());
    let found = page.find(&open).and_then(|begin| {
        let end = page[begin..].find(&close)? + begin + close.len();
        Some((begin, end))
    });
    match found {
        Some((begin, end)) => format!("{}{filled}{}", &page[..begin], &page[end..]),
        None => format!("{}\n\n{filled}\n", page.trim_end()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_exchanged_and_the_rest_stays() {
        let page = "# Title\n\n<!-- bench:a -->\nold\n<!-- /bench:a -->\n\nAfter.\n";
        let once = section(page, "a", "new\n");
        assert_eq!(once, "# Title\n\n<!-- bench:a -->\n\nnew\n\n<!-- /bench:a -->\n\nAfter.\n");
        assert_eq!(section(&once, "a", "new"), once);
        let more = section(&once, "b", "text");
        assert!(more.ends_with("After.\n\n<!-- bench:b -->\n\ntext\n\n<!-- /bench:b -->\n"));
    }

    #[test]
    fn cells_cannot_break_a_table() {
        let mut table = Table::new(["who", "what"]);
        table.row(["a|b", "two\nlines"]);
        let text = blocks(&[Block::Table(table)], "");
        assert_eq!(text, "| who | what |\n| --- | ---: |\n| a\\|b | two lines |\n");
    }
}
