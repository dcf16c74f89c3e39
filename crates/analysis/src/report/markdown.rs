//! A report as Markdown, for pull requests, tickets and wikis.

use super::section::{Body, Extent, Item, Report, Section};
use table::Table;

/// The whole report, ending in a line feed.
pub fn render(report: &Report) -> String {
    let title = format!("## {}", text(&report.title));
    let sections = report.shown(Extent::Full).map(section);
    let parts = [title, quote(&report.answer)].into_iter().chain(sections);
    let parts: Vec<String> = parts.chain([origin(report)]).collect();
    format!("{}\n", parts.join("\n\n"))
}

fn section(section: &Section) -> String {
    let body = match &section.body {
        Body::Table(shown) => table(shown),
        Body::List(items) => list(items),
        Body::Facts(facts) => {
            let facts = facts.iter().map(fact);
            facts
                .map(|fact| format!("- {fact}"))
                .collect::<Vec<_>>()
                .join("\n")
        }
        Body::Commands(commands) => {
            let command =
                |(what, command): &(String, String)| format!("- {}: {}", text(what), text(command));
            commands.iter().map(command).collect::<Vec<_>>().join("\n")
        }
    };
    match section.title.as_str() {
        "" => body,
        title => format!("### {}\n\n{body}", text(title)),
    }
}

fn quote(items: &[Item]) -> String {
    let items = items
        .iter()
        .map(|item| format!("> {}", beginning(&item.line())));
    items.collect::<Vec<_>>().join("\n>\n")
}

fn list(items: &[Item]) -> String {
    let items = items.iter().map(|item| match item.about.as_str() {
        "" => format!("- {}", beginning(&item.text)),
        about => format!("- **{}**: {}", text(about), text(&item.text)),
    });
    items.collect::<Vec<_>>().join("\n")
}

/// A table, and the meaning of its symbols.
pub(super) fn table(table: &Table) -> String {
    let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    let headings = table.headings.iter();
    let header = headings.clone().map(|heading| text(&heading.line()));
    let rule = headings.map(|heading| if heading.right { "---:" } else { "---" }.to_owned());
    let rows = table.rows.iter();
    let rows = rows.map(|row| row.iter().map(|cell| text(&cell.line())).collect());
    let lines = [header.collect(), rule.collect()].into_iter().chain(rows);
    let lines: Vec<String> = lines.map(line).collect();
    match table.note.as_str() {
        "" => lines.join("\n"),
        note => format!("{}\n\n{note}.", lines.join("\n")),
    }
}

/// The program that made it, and from what.
fn origin(report: &Report) -> String {
    let facts: Vec<String> = report.facts.iter().map(fact).collect();
    format!(
        "_dbstow {}; {}._",
        env!("CARGO_PKG_VERSION"),
        facts.join("; ")
    )
}

fn fact((name, fact): &(&'static str, String)) -> String {
    format!("{name}: {}", text(fact))
}

/// `text` on one line, with everything escaped that Markdown or HTML would interpret; all external text passes through
/// here.
///
/// HTML's special characters become entities: not every Markdown renderer supports a backslash before them, and to those
/// it would be a tag.
pub(super) fn text(text: &str) -> String {
    let mut safe = String::new();
    for character in text.chars() {
        match character {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' => {
                safe.push('\\');
                safe.push(character);
            }
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            character if character.is_control() => safe.push(' '),
            other => safe.push(other),
        }
    }
    safe
}

/// [`text`] at the beginning of a line, where some characters would start a list, a heading or a code block.
pub(super) fn beginning(text: &str) -> String {
    let safe = self::text(text.trim_start());
    let safe = safe.trim_start();
    let after = safe.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = safe.len() - after.len();
    let signs: &[char] = if digits == 0 {
        &['-', '+', '=']
    } else {
        &['.', ')']
    };
    match after.starts_with(signs) {
        true => format!("{}\\{after}", &safe[..digits]),
        false => safe.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::findings::{Findings, make};
    use crate::report::run;
    use experiment::examples;
    use experiment::record::Note;
    use table::Column;

    fn shown(findings: &Findings) -> String {
        render(&run::report(findings))
    }

    #[test]
    fn a_tie_reads_from_question_to_origin() {
        let findings = make(&examples::question(), &examples::records());

        insta::assert_snapshot!(shown(&findings), @r#"
        ## Is tempdb faster on the local SSD or on a P30?

        > p30 and local-ssd tie (within 5 %): 1.04x the elapsed time (95 % CI 1.03-1.05, 3 blocks).

        | placement | our figures | elapsed, s | throughput, MB/s | physical reads |
        | --- | --- | ---: | ---: | ---: |
        | local-ssd | fitted | 157.9 ± 1.5 (publ. 157, +0.6 %) | 52.58 ± 0.51 | 67,000 |
        | p30 | predicted | 163.9 ± 1.8 (publ. 164, -0.1 %) | 50.65 ± 0.55 | 67,000 |

        ±: 95 % interval of the model over its seeds, and not of a real machine from run to run; publ.: published elsewhere (and how far ours is off).

        ### Why

        - **local-ssd, p30**: limited by the machine's cached throughput: 71 % of session time waiting on it, 98 % used; next bottleneck: disk temp.1's throughput (32 % used).

        ### Read first

        - **fitted**: a parameter was fitted to the published figures of: local-ssd. These rows match by construction; judge the model by the predicted rows alone.

        | placement | where the sessions' time went |
        | --- | --- |
        | local-ssd | 71 % reads limited by the machine's cached limit, 18 % reads being served, 11 % CPU |
        | p30 | 71 % reads limited by the machine's cached limit, 18 % reads being served, 11 % CPU |

        | placement | disk | holds | IOPS, read/write | MB/s, read/write | read ms, mean/p99 | write ms, mean/p99 | % used of IOPS/MB/s |
        | --- | --- | --- | ---: | ---: | ---: | ---: | ---: |
        | local-ssd | temp.1 (azure/p30) | temp | 424 / 101 | 27.8 / 25.3 | 2.02 / 12.0 | 5.40 / 32.0 | 9 / 32 |
        | p30 | temp.1 (azure/p30) | temp | 409 / 97.6 | 26.8 / 24.4 | 2.02 / 12.0 | 5.40 / 32.0 | 9 / 32 |

        _dbstow 0.1.0; run: tempdb-ssd-vs-premium: simulate (predicted by a model, in virtual time), 3 blocks, seed 1; published: an article._
        "#);
    }

    /// Characters special to Markdown or HTML in `line` without a backslash before them.
    fn bare(line: &str) -> Vec<char> {
        let mut bare = Vec::new();
        let mut characters = line.chars();
        while let Some(character) = characters.next() {
            match character {
                '\\' => drop(characters.next()),
                '`' | '<' | '>' | '[' | ']' | '|' => bare.push(character),
                _ => {}
            }
        }
        bare
    }

    proptest! {
        #[test]
        fn a_cell_stays_in_its_table_and_is_text(cell in any::<String>(), end in "[\\\\|`<!\\[\\](){}&#\n\r]{0,8}") {
            let hostile = format!("{cell}{end}");
            let columns = [Column::text("a", |cell: &String| cell.clone()), Column::figure("b", String::clone)];
            let table = table(&Table::of([hostile], columns));

            let lines: Vec<&str> = table.lines().collect();
            prop_assert_eq!(lines.len(), 3);
            prop_assert_eq!(bare(lines[2]), ['|'; 3]);
        }
    }

    #[test]
    fn nothing_of_a_record_is_markup_wherever_it_is_shown() {
        const HOSTILE: &str = "![x](http://x)<img src=x>`|\n\n# no";
        let (mut question, mut records) = examples::in_mode("emulate", examples::emulated);
        question.question = HOSTILE.into();
        question.experiment = HOSTILE.into();
        question.source = Some(HOSTILE.into());
        for arm in &mut question.arms {
            arm.name += HOSTILE;
        }
        question.baseline = question.baseline.map(|name| name + HOSTILE);
        for record in &mut records {
            record.arm += HOSTILE;
            record.notes.push(Note::Other(HOSTILE.into()));
            record.errors.count = 1;
            record.errors.first.push(HOSTILE.into());
            for volume in &mut record.volumes {
                volume.name = HOSTILE.into();
                volume.disk = HOSTILE.into();
            }
            if let Some(engine) = &mut record.engine {
                engine.version = HOSTILE.into();
                engine.file = HOSTILE.into();
            }
        }

        let text = shown(&make(&question, &records));

        assert!(text.matches("img src=x").count() > 10, "{text}");
        for line in text.lines() {
            let expected = match line.chars().next() {
                Some('>') => &['>'][..],
                Some('|') => continue,
                _ => &[],
            };
            assert_eq!(bare(line), expected, "{line}");
        }
        let rows = text.lines().filter(|line| line.starts_with('|'));
        assert!(
            rows.clone()
                .all(|row| bare(row).iter().all(|sign| *sign == '|'))
        );
        assert!(!text.contains("\n# no"));
    }

    #[test]
    fn nothing_in_a_name_is_markup() {
        let mut question = examples::question();
        question.question = "Is <script>alert(1)</script> | *faster*?\n# No".into();

        let text = shown(&make(&question, &examples::records()));

        let first = text.lines().next().unwrap();
        assert_eq!(
            first,
            r"## Is &lt;script&gt;alert(1)&lt;/script&gt; \| \*faster\*? \# No"
        );
    }

    #[test]
    fn a_text_begins_no_list_heading_or_block_of_code() {
        for (given, safe) in [
            ("- a", r"\- a"),
            ("+ a", r"\+ a"),
            ("===", r"\==="),
            ("1. a", r"1\. a"),
            ("12) a", r"12\) a"),
            ("1.5 ms", r"1\.5 ms"),
            ("\n\t- a", r"\- a"),
            ("      a", "a"),
            ("12 a - b", "12 a - b"),
            ("&lt;", "&amp;lt;"),
            ("a <b", "a &lt;b"),
        ] {
            assert_eq!(beginning(given), safe);
        }
    }
}
