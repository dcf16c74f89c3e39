//! Findings as Markdown, for pull requests, tickets and wikis.

use super::disks::{files, rows};
use super::placements::{self, Cell, Column, Placements, Row};
use super::{sentence, split, words};
use crate::findings::Findings;

/// Causes of a placement's time that are named.
const CAUSES_MAX: usize = 4;
/// Disks of a volume that are listed one by one.
const DISKS_MAX: usize = 4;

/// The whole report, with a line feed at its end.
pub fn render(findings: &Findings) -> String {
    let sections = [
        format!("## {}", text(&findings.question)),
        answers(findings),
        placements(findings),
        list(
            "Why",
            words::reasons(findings)
                .into_iter()
                .map(|(arms, reason)| format!("**{}**: {}", text(&arms), text(reason))),
        ),
        times(findings),
        disks(findings),
        list(
            "Warnings",
            findings
                .warnings
                .iter()
                .map(|warning| format!("**{}**: {}", text(&warning.id), text(&warning.text))),
        ),
        origin(findings),
    ];
    let written: Vec<String> = sections
        .into_iter()
        .filter(|section| !section.is_empty())
        .collect();
    format!("{}\n", written.join("\n\n"))
}

fn answers(findings: &Findings) -> String {
    let comparisons = findings.comparisons.iter();
    let verdicts = comparisons.map(sentence::verdict);
    let cheapest = findings.cheapest.iter().map(sentence::cheapest);
    let floor = findings.noise_floor.iter().map(sentence::noise_floor);
    let all = verdicts.chain(cheapest).chain(floor);
    let all: Vec<String> = all.map(|answer| format!("> {}", text(&answer))).collect();
    all.join("\n>\n")
}

fn placements(findings: &Findings) -> String {
    let placements = Placements::of(findings);
    let mut header = vec!["placement".to_owned()];
    header.extend(placements.compared.then(|| "figures".to_owned()));
    header.extend(placements.columns.iter().map(heading));
    header.extend(placements.priced.then(|| "disks, $/month".to_owned()));
    let rows = placements.rows.iter().map(|row| {
        let mut cells = vec![name(row)];
        cells.extend(placements.compared.then(|| row.role.to_owned()));
        cells.extend(row.cells.iter().map(cell));
        cells.extend(
            placements
                .priced
                .then(|| row.usd.clone().unwrap_or_else(|| "-".into())),
        );
        cells
    });
    let table = table(&header, rows, if placements.compared { 2 } else { 1 });
    match placements::legend(findings).as_str() {
        "" => table,
        legend => format!("{table}\n\n{legend}."),
    }
}

fn heading(column: &Column) -> String {
    match column.unit.as_str() {
        "" => column.name.clone(),
        unit => format!("{}, {unit}", column.name),
    }
}

fn name(row: &Row) -> String {
    match &row.incomplete {
        None => row.name.to_owned(),
        Some(trials) => format!("{} ({trials})", row.name),
    }
}

fn cell(cell: &Cell) -> String {
    let published = cell.published.as_ref().map(|published| {
        let off = cell.deviation.iter().map(|off| format!(", {off}"));
        format!(" (publ. {published}{})", off.collect::<String>())
    });
    format!("{}{}", cell.ours, published.unwrap_or_default())
}

fn times(findings: &Findings) -> String {
    let rows = findings
        .arms
        .iter()
        .filter(|arm| !arm.time_split.is_empty());
    let rows = rows.map(|arm| {
        let parts = split::parts(arm, CAUSES_MAX);
        let parts = parts
            .iter()
            .map(|part| format!("{} {}", part.percent, part.words));
        vec![arm.name.clone(), parts.collect::<Vec<_>>().join(", ")]
    });
    table(
        &["placement", "where the sessions' time went"].map(String::from),
        rows,
        2,
    )
}

fn disks(findings: &Findings) -> String {
    let rows = findings.arms.iter().flat_map(|arm| {
        let volumes = arm.volumes.iter();
        volumes.flat_map(move |volume| {
            rows(volume, DISKS_MAX).into_iter().map(move |disk| {
                let name = match disk.busiest_of {
                    Some(all) => format!("{}, busiest of {all}", disk.name),
                    None => disk.name.clone(),
                };
                let used = disk.used.text();
                vec![
                    arm.name.clone(),
                    format!("{name} ({})", volume.disk),
                    files(volume),
                    disk.iops,
                    disk.mb_per_s,
                    disk.read_ms,
                    disk.write_ms,
                    used,
                ]
            })
        })
    });
    let header = [
        "placement",
        "disk",
        "holds",
        "IOPS, read / write",
        "MB/s, read / write",
        "read ms, mean / p99",
        "write ms, mean / p99",
        "% used",
    ];
    table(&header.map(String::from), rows, 3)
}

/// What made it.
fn origin(findings: &Findings) -> String {
    let engine = findings.engine.as_ref().map_or_else(String::new, |engine| {
        format!(", {} {}", text(&engine.name), text(&engine.version))
    });
    let source = findings.source.as_ref().map_or_else(String::new, |source| {
        format!(" Published: {}.", text(source))
    });
    format!(
        "_dbstow {}: {}, {}{engine}, {}, seed {}.{source}_",
        env!("CARGO_PKG_VERSION"),
        text(&findings.experiment),
        text(&findings.mode),
        words::blocks(findings.blocks),
        findings.seed
    )
}

fn list(title: &str, lines: impl Iterator<Item = String>) -> String {
    let lines: Vec<String> = lines.map(|line| format!("- {line}")).collect();
    match lines.is_empty() {
        true => String::new(),
        false => format!("### {title}\n\n{}", lines.join("\n")),
    }
}

/// A table whose first `texts` columns are text; nothing without rows.
pub(super) fn table(
    header: &[String],
    rows: impl Iterator<Item = Vec<String>>,
    texts: usize,
) -> String {
    let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    let escaped = |cells: &[String]| line(cells.iter().map(|cell| text(cell)).collect());
    let rows: Vec<String> = rows.map(|row| escaped(&row)).collect();
    if rows.is_empty() {
        return String::new();
    }
    let rule = (0..header.len()).map(|at| if at < texts { "---" } else { "---:" });
    let rule = line(rule.map(str::to_owned).collect());
    format!("{}\n{rule}\n{}", escaped(header), rows.join("\n"))
}

/// `text` on one line, without anything that Markdown or HTML would take for a sign of its own.
pub(super) fn text(text: &str) -> String {
    let mut safe = String::new();
    for character in text.chars() {
        match character {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '~' => {
                safe.push('\\');
                safe.push(character);
            }
            '&' => safe.push_str("&amp;"),
            character if character.is_control() => safe.push(' '),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::findings::make;
    use experiment::examples;
    use experiment::record::Note;

    #[test]
    fn a_tie_reads_from_question_to_origin() {
        let findings = make(&examples::question(), &examples::records());

        insta::assert_snapshot!(render(&findings), @r#"
    ## Is tempdb faster on the local SSD or on a P30?

    > p30 and local-ssd tie (within 5 %): 1.04x the elapsed time (95 % CI 1.03-1.05, 3 blocks).

    | placement | figures | elapsed, s | throughput, MB/s | physical reads |
    | --- | --- | ---: | ---: | ---: |
    | local-ssd | fitted | 157.9 ± 1.5 (publ. 157, +0.6 %) | 52.58 ± 0.51 | 67,000 |
    | p30 | predicted | 163.9 ± 1.8 (publ. 164, -0.1 %) | 50.65 ± 0.55 | 67,000 |

    ±: 95 % interval between trials; publ.: published elsewhere (and how far ours is off).

    ### Why

    - **local-ssd, p30**: held back by the machine's cached throughput limit: 71 % of session time waiting on it, 98 % used; next would be disk temp.1's throughput limit (32 % used).

    | placement | where the sessions' time went |
    | --- | --- |
    | local-ssd | 71 % reads held back by the machine's cached limit, 18 % reads being served, 11 % CPU |
    | p30 | 71 % reads held back by the machine's cached limit, 18 % reads being served, 11 % CPU |

    | placement | disk | holds | IOPS, read / write | MB/s, read / write | read ms, mean / p99 | write ms, mean / p99 | % used |
    | --- | --- | --- | ---: | ---: | ---: | ---: | ---: |
    | local-ssd | temp.1 (azure/p30) | temp | 424 / 101 | 27.8 / 25.3 | 2.02 / 12.0 | 5.40 / 32.0 | 9 / 32 |
    | p30 | temp.1 (azure/p30) | temp | 409 / 97.6 | 26.8 / 24.4 | 2.02 / 12.0 | 5.40 / 32.0 | 9 / 32 |

    ### Warnings

    - **model-chance**: simulated: intervals show the model's own chance over seeds, not how much a real machine differs from run to run, nor how well the model fits yours. Confirm what matters on the real disks.
    - **fitted**: a parameter was fitted to the published figures of: local-ssd. Their agreement is made, not found; judge the model by the predicted rows alone.

    _dbstow 0.1.0: tempdb-ssd-vs-premium, simulate, 3 blocks, seed 1. Published: an article._
    "#);
    }

    /// Signs of Markdown or HTML in `line` that no backslash stands before.
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
            let header = ["a".to_owned(), "b".to_owned()];
            let hostile = format!("{cell}{end}");
            let table = table(&header, [vec![hostile.clone(), hostile]].into_iter(), 1);

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

        let text = render(&make(&question, &records));

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

        let text = render(&make(&question, &examples::records()));

        let first = text.lines().next().unwrap();
        assert_eq!(
            first,
            r"## Is \<script\>alert(1)\</script\> \| \*faster\*? \# No"
        );
    }
}
