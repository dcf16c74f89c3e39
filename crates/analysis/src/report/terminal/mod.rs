//! A report for a terminal, of any width, in pieces that can be coloured: one screen of it, or all.

mod styled;

use super::section::{Body, Extent, Item, Kind, Place, Report, Section};
use crate::findings::Verdict;
pub use styled::{Styled, Tone};
use table::Width;

/// Lines of a screen, without those below a report: where its files are, and what has the rest.
const LINES: usize = 36;

/// The report, with a line feed at its end. On a screen, a table is one part, and an item of a list takes one line where there is no room
/// for more; only the answer and the worst caution, which may say why there is none, are always whole.
pub fn render(report: &Report, width: Width, extent: Extent) -> Styled {
    let tight = rendered(report, width, extent, 0);
    match extent {
        Extent::Full => tight,
        Extent::Screen => {
            let lines = tight.to_string().lines().count();
            rendered(report, width, extent, LINES.saturating_sub(lines))
        }
    }
}

/// The same, with so many lines of a screen for what does not fit on one.
fn rendered(report: &Report, width: Width, extent: Extent, mut room: usize) -> Styled {
    let doubt = match report.is_doubtful {
        true => Tone::Worse,
        false => Tone::Plain,
    };
    let mut text = Styled::default();
    for item in &report.answer {
        let lines = width.wrapped(sign(item.kind), &item.line());
        match report.is_doubtful {
            true => text.push_in(doubt, &lines),
            false => push(&mut text, item, &lines),
        }
    }
    if !report.title.is_empty() {
        text.push_below("\n");
        text.push(&width.wrapped("", &report.title));
    }
    text.push(&facts(&report.facts, width));
    for section in report.shown(extent) {
        text.push_below("\n");
        let most = match (section.place, extent) {
            (Place::Screen(most) | Place::Short(most), Extent::Screen) => Some(most),
            (Place::Screen(_) | Place::Short(_) | Place::Full, _) => None,
        };
        // On a screen, signs say what a list is of.
        if most.is_none() || matches!(section.body, Body::Table(_)) {
            heading(&mut text, section);
        }
        match &section.body {
            Body::Table(shown) => {
                let shown = match extent {
                    Extent::Screen => shown.brief(width),
                    Extent::Full => shown.text(width),
                };
                text.push_in(doubt, &shown);
            }
            Body::Facts(known) => text.push(&facts(known, width)),
            Body::List(items) => match most {
                Some(most) => list(&mut text, items, most, width, &mut room),
                None => whole(&mut text, items, width),
            },
            Body::Commands(all) => commands(&mut text, all, most),
        }
    }
    text
}

fn heading(text: &mut Styled, section: &Section) {
    if !section.title.is_empty() {
        text.push(&format!("{}\n", section.title));
    }
}

/// Sentences by name.
fn facts(facts: &[(&'static str, String)], width: Width) -> String {
    let line = |(name, fact): &(&str, String)| width.wrapped(&format!("{name}: "), fact);
    facts.iter().map(line).collect()
}

fn whole(text: &mut Styled, items: &[Item], width: Width) {
    for item in items {
        let lines = width.wrapped(sign(item.kind), &item.line());
        push(text, item, &lines);
    }
}

/// At most so many items, a line each but for a first caution and where there is `room`, and the number of the others. Warnings
/// take no more lines than that in all.
fn list(text: &mut Styled, items: &[Item], most: usize, width: Width, room: &mut usize) {
    let (mut shown, mut used) = (0, 0);
    for item in items.iter().take(most) {
        let is_warning = matches!(item.kind, Kind::Caution | Kind::Warning);
        if is_warning && used >= most {
            break;
        }
        let line = item.line();
        let whole = width.wrapped(sign(item.kind), &line);
        let more = whole.lines().count().saturating_sub(1);
        let others = items.len().min(most) - shown;
        let spare = match is_warning {
            true => (*room).min(most.saturating_sub(used + others)),
            false => *room,
        };
        let is_worst = shown == 0 && item.kind == Kind::Caution;
        let lines = match is_worst || more <= spare {
            true => whole,
            false => width.line(sign(item.kind), &line),
        };
        let taken = lines.lines().count();
        *room = match is_worst {
            true => *room,
            false => *room + 1 - taken,
        };
        used += taken;
        shown += 1;
        push(text, item, &lines);
    }
    left_out(text, items.len() - shown);
}

/// Each on one line, however long, so that it can be copied.
fn commands(text: &mut Styled, commands: &[(String, String)], most: Option<usize>) {
    for (what, command) in commands.iter().take(most.unwrap_or(commands.len())) {
        text.push(&format!("  {what}:\n    {command}\n"));
    }
    left_out(
        text,
        most.map_or(0, |most| commands.len().saturating_sub(most)),
    );
}

fn left_out(text: &mut Styled, left: usize) {
    if left > 0 {
        text.push(&format!("  and {left} more with --full\n"));
    }
}

/// Adds an item's lines in its tone.
fn push(text: &mut Styled, item: &Item, lines: &str) {
    let tone = tone(item.kind);
    match item.kind {
        // Its subject; the full text is long.
        Kind::Warning | Kind::Caution => {
            let head = sign(item.kind).len() + item.about.len();
            let (head, rest) = lines.split_at_checked(head).unwrap_or((lines, ""));
            text.push_in(tone, head);
            text.push(rest);
        }
        Kind::Answer | Kind::Verdict(_) | Kind::Price | Kind::Point | Kind::Remark => {
            text.push_in(tone, lines);
        }
    }
}

fn tone(kind: Kind) -> Tone {
    match kind {
        Kind::Verdict(Verdict::Faster) => Tone::Better,
        Kind::Verdict(Verdict::Slower) => Tone::Worse,
        Kind::Verdict(Verdict::CannotTell) | Kind::Warning | Kind::Caution => Tone::Attention,
        Kind::Verdict(Verdict::NoDifference)
        | Kind::Answer
        | Kind::Price
        | Kind::Point
        | Kind::Remark => Tone::Plain,
    }
}

fn sign(kind: Kind) -> &'static str {
    match kind {
        Kind::Answer => "",
        Kind::Verdict(_) => "= ",
        Kind::Price => "$ ",
        Kind::Point => "- ",
        Kind::Remark => "  ",
        Kind::Warning | Kind::Caution => "! ",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::{Findings, Fitted, Published, Question, make};
    use crate::report::run;
    use experiment::examples;

    fn whole(findings: &Findings, width: Width) -> Styled {
        render(&run::report(findings), width, Extent::Full)
    }

    fn shown(findings: &Findings) -> String {
        whole(findings, Width::default()).to_string()
    }

    #[test]
    fn a_tie_reads_from_question_to_warnings() {
        let question = Question {
            fitted: vec![Fitted {
                parameter: "engine.cpu_scale".into(),
                value: "1.3".into(),
                to: vec!["local-ssd".into()],
            }],
            ..examples::question()
        };

        insta::assert_snapshot!(shown(&make(&question, &examples::records())), @r#"
        = p30 and local-ssd tie (within 5 %): 1.04x the elapsed time (95 % CI 1.03-1.05, 3 blocks).

        Is tempdb faster on the local SSD or on a P30?
        run: tempdb-ssd-vs-premium: simulate (predicted by a model, in virtual time), 3 blocks, seed 1
        published: an article

         placement   our                    elapsed     throughput   physical reads
                     figures                      s           MB/s
        ────────────────────────────────────────────────────────────────────────────
         local-ssd   fitted             157.9 ± 1.5   52.58 ± 0.51           67,000
                                 publ. 157 (+0.6 %)
         p30         predicted          163.9 ± 1.8   50.65 ± 0.55           67,000
                                 publ. 164 (-0.1 %)
         ±: 95 % interval of the model over its seeds, and not of a real machine from run to run; publ.:
         published elsewhere (and how far ours is off)

        Why
        - local-ssd, p30: limited by the machine's cached throughput: 71 % of session time waiting on it,
          98 % used; next bottleneck: disk temp.1's throughput (32 % used).

        Read first
        ! fitted: a parameter was fitted to the published figures of: local-ssd. These rows match by
          construction; judge the model by the predicted rows alone.

         placement   where the sessions' time went
        ─────────────────────────────────────────────────────────────────────────────────────────────────
         local-ssd   71 % reads limited by the machine's cached limit, 18 % reads being served, 11 % CPU
         p30         71 % reads limited by the machine's cached limit, 18 % reads being served, 11 % CPU

         placement   disk        holds         IOPS          MB/s       read ms      write ms   % used of
                                         read/write    read/write      mean/p99      mean/p99   IOPS/MB/s
        ──────────────────────────────────────────────────────────────────────────────────────────────────
         local-ssd   temp.1      temp     424 / 101   27.8 / 25.3   2.02 / 12.0   5.40 / 32.0      9 / 32
                     azure/p30
         p30         temp.1      temp    409 / 97.6   26.8 / 24.4   2.02 / 12.0   5.40 / 32.0      9 / 32
                     azure/p30

        Fitted to published figures
        - engine.cpu_scale = 1.3 (to local-ssd)
          rows used to fit: local-ssd
          rows predicted: p30
        "#);
    }

    #[test]
    fn an_emulated_run_says_how_its_figures_came_about() {
        let (question, records) = examples::in_mode("emulate", examples::emulated);

        insta::assert_snapshot!(shown(&make(&question, &records)), @r#"
        = p30 and local-ssd tie (within 5 %): 1.04x the elapsed time (95 % CI 1.03-1.05, 3 blocks).

        Is tempdb faster on the local SSD or on a P30?
        run: tempdb-ssd-vs-premium: emulate (a real engine on modelled disks), postgres 17.2, 3 blocks, seed
             1
        published: an article

         placement   our                         elapsed     throughput   physical reads
                     figures                           s           MB/s
        ─────────────────────────────────────────────────────────────────────────────────
         local-ssd   fitted                  157.9 ± 1.5   52.58 ± 0.51           67,000
                                      publ. 157 (+0.6 %)
         p30         measured on             163.9 ± 1.8   50.65 ± 0.55           67,000
                     modelled disks   publ. 164 (-0.1 %)
         ±: 95 % interval between trials; publ.: published elsewhere (and how far ours is off)

        Why
        - local-ssd, p30: limited by the machine's cached throughput: 71 % of session time waiting on it,
          98 % used; next bottleneck: disk temp.1's throughput (32 % used).

        Read first
        ! fitted: a parameter was fitted to the published figures of: local-ssd. These rows match by
          construction; judge the model by the other rows alone.

         placement   where the sessions' time went
        ─────────────────────────────────────────────────────────────────────────────────────────────────
         local-ssd   71 % reads limited by the machine's cached limit, 18 % reads being served, 11 % CPU
         p30         71 % reads limited by the machine's cached limit, 18 % reads being served, 11 % CPU

         placement   disk        holds         IOPS          MB/s       read ms      write ms   % used of
                                         read/write    read/write      mean/p99      mean/p99   IOPS/MB/s
        ──────────────────────────────────────────────────────────────────────────────────────────────────
         local-ssd   temp.1      temp     424 / 101   27.8 / 25.3   2.02 / 12.0   5.40 / 32.0      9 / 32
                     azure/p30
         p30         temp.1      temp    409 / 97.6   26.8 / 24.4   2.02 / 12.0   5.40 / 32.0      9 / 32
                     azure/p30

        Where it ran
        engine: postgres 17.2; "file" means: a tablespace
        machine: Linux (Debian GNU/Linux 13), kernel 6.18.1, 8 x AMD EPYC, 32 GiB, Amazon EC2, r6id.2xlarge
        volumes: temp: ext4 on nvme0n1 (259:0)
        time kept: 498,000 requests through io_uring, 0 % late; replies off by 0.0120 ms (median) and 0.0900
                   ms (p99), where a request takes 3.71 ms; the emulator used 0.124 cores
        "#);
    }

    #[test]
    fn a_measured_run_has_real_disks() {
        let (question, records) = examples::in_mode("measure", examples::measured);

        insta::assert_snapshot!(shown(&make(&question, &records)), @r#"
        = p30 and local-ssd tie (within 5 %): 1.04x the elapsed time (95 % CI 1.03-1.05, 3 blocks).

        Is tempdb faster on the local SSD or on a P30?
        run: tempdb-ssd-vs-premium: measure (a real engine on real disks), postgres 17.2, 3 blocks, seed 1
        published: an article

         placement   our                   elapsed     throughput   physical reads
                     figures                     s           MB/s
        ───────────────────────────────────────────────────────────────────────────
         local-ssd   measured          157.9 ± 1.5   52.58 ± 0.51           67,000
                                publ. 157 (+0.6 %)
         p30         measured          163.9 ± 1.8   50.65 ± 0.55           67,000
                                publ. 164 (-0.1 %)
         ±: 95 % interval between trials; publ.: published elsewhere (and how far ours is off)

        Why
        - local-ssd, p30: most time went to the latency of reads on volume temp: 70 % of session time (1.50
          ms each, its disk busy 97 % of the time); next bottleneck: CPU (20 % of session time).

         placement   where the sessions' time went
        ─────────────────────────────────────────────────────────────────────────────
         local-ssd   70 % reads being served, 20 % CPU, 10 % log writes being served
         p30         70 % reads being served, 20 % CPU, 10 % log writes being served

         placement   disk      holds         IOPS          MB/s    read ms   write ms   % of time
                                       read/write    read/write   mean/p99   mean/p99        busy
        ──────────────────────────────────────────────────────────────────────────────────────────
         local-ssd   temp.1    temp     424 / 101   27.8 / 25.3   1.50 / -      4 / -          97
                     nvme0n1
         p30         temp.1    temp    409 / 97.6   26.8 / 24.4   1.50 / -      4 / -          97
                     nvme0n1

        Where it ran
        engine: postgres 17.2; "file" means: a tablespace
        machine: Linux (Debian GNU/Linux 13), kernel 6.18.1, 8 x AMD EPYC, 32 GiB, Amazon EC2, r6id.2xlarge
        volumes: temp: ext4 on nvme0n1 (259:0)
        "#);
    }

    /// Words of `text` that are not contained in any word of `whole`.
    fn torn<'a>(text: &'a str, whole: &str) -> Vec<&'a str> {
        // The characters around a word depend on whether it is in a cell of a table or of a list.
        fn words(text: &str) -> impl Iterator<Item = &str> {
            let around = |sign: char| "(),:;─".contains(sign);
            text.split_whitespace()
                .map(move |word| word.trim_matches(around))
        }
        let known: Vec<&str> = words(whole).collect();
        words(text).filter(|word| !known.contains(word)).collect()
    }

    #[test]
    fn at_every_width_no_line_is_wider_and_no_word_is_broken() {
        let mut question = examples::question();
        let long = "a placement whose name goes on and on without any regard for tables";
        question.arms[0].name = long.into();
        question.baseline = Some(long.into());
        for metric in [
            "read_latency_ms",
            "transfer_size_kb",
            "iops",
            "batch_requests_per_s",
        ] {
            let words = Published::Words("pretty much the same as with one file".into());
            question.arms[0].published.insert(metric.into(), words);
        }
        let mut records = examples::records();
        for record in records
            .iter_mut()
            .filter(|record| record.arm == "local-ssd")
        {
            record.arm = long.into();
            record.volumes[0].disk = "azure.premium-v2.with-much-provisioned".into();
        }
        let findings = make(&question, &records);
        let widest = whole(&findings, Width::of(200)).to_string();

        for columns in 60..=200 {
            let text = whole(&findings, Width::of(columns)).to_string();

            let wide = text.lines().filter(|line| line.chars().count() > columns);
            assert_eq!(wide.collect::<Vec<_>>(), [""; 0], "{columns}\n{text}");
            assert_eq!(torn(&text, &widest), [""; 0], "{columns}\n{text}");
        }
    }

    #[test]
    fn a_name_too_long_for_a_column_turns_the_table_and_stays_whole() {
        let mut records = examples::records();
        let name = "azure.premium-v2.".repeat(4);
        for record in &mut records {
            record.volumes[0].disk = name.clone();
        }

        let text = whole(&make(&examples::question(), &records), Width::of(60)).to_string();

        assert!(text.contains(&name), "{text}");
        assert!(text.contains("   IOPS, read/write: 424 / 101\n"), "{text}");
    }

    #[test]
    fn verdicts_and_warnings_have_a_tone_and_hold_no_escape() {
        let tone_of = |start: &str, text: &Styled| {
            let mut pieces = text.pieces();
            pieces
                .find(|(_, piece)| piece.starts_with(start))
                .map(|(tone, _)| tone)
        };
        let seen = |factor: f64| {
            let mut records = examples::records();
            for record in records.iter_mut().filter(|record| record.arm == "p30") {
                let elapsed = record.metrics.get_mut("elapsed_s").unwrap();
                *elapsed *= factor;
            }
            whole(&make(&examples::question(), &records), Width::default())
        };

        // 164 s against 158 s is a tie; half of it is faster, twice as much slower.
        assert_eq!(tone_of("= p30 is", &seen(0.5)), Some(Tone::Better));
        assert_eq!(tone_of("= p30 is", &seen(2.0)), Some(Tone::Worse));
        assert_eq!(tone_of("= p30 and", &seen(1.0)), Some(Tone::Plain));
        assert_eq!(tone_of("! fitted", &seen(1.0)), Some(Tone::Attention));
        assert!(!seen(0.5).to_string().contains('\x1b'));
    }

    #[test]
    fn without_any_record_the_report_still_says_so() {
        let text = shown(&make(&examples::question(), &[]));

        assert!(text.contains("trials without a record"), "{text}");
    }

    /// Sixteen arms, each with a reason of its own, figures that others published and a price, and many warnings.
    fn sixteen() -> Findings {
        let mut findings = make(&examples::question(), &examples::records());
        let one = findings.arms[1].clone();
        let verdict = findings.comparisons[0].clone();
        for at in 0..14 {
            let mut arm = one.clone();
            arm.name = format!("azure.premium_v2-with-{at}-disks");
            arm.reason = format!("{at} {}", one.reason);
            let mut compared = verdict.clone();
            compared.candidate = arm.name.clone();
            findings.arms.push(arm);
            findings.comparisons.push(compared);
            findings.warnings.push(crate::findings::Warning {
                id: format!("noted-{at}"),
                text: "what was seen, why it matters, and what to do about it. ".repeat(4),
            });
        }
        for arm in &mut findings.arms {
            arm.usd_per_month = Some(135.17);
            arm.price_lists = vec!["Azure eastus, 2026".into()];
        }
        findings
    }

    #[test]
    fn a_screen_has_40_lines_whatever_there_is_and_names_are_whole() {
        let screen = |findings: &Findings| {
            let report = run::report(findings);
            render(&report, Width::default(), Extent::Screen).to_string()
        };
        let two = screen(&make(&examples::question(), &examples::records()));
        let sixteen = screen(&sixteen());

        for text in [&two, &sixteen] {
            // Three lines below name the folder, the page and --full.
            assert!(text.lines().count() <= 37, "{text}");
            let wide = text.lines().filter(|line| line.chars().count() > 100);
            assert_eq!(wide.collect::<Vec<_>>(), [""; 0], "{text}");
        }
        let rows = sixteen.matches("azure.premium_v2-with-").count();
        assert!(rows > 10, "{sixteen}");
        assert_eq!(
            sixteen.matches("azure.premium_v2-with-").count(),
            sixteen.matches("-disks").count(),
        );
        let ranked =
            "16 placements, ranked by elapsed: the 6 best and the 2 worst; --full shows all";
        let joined = sixteen.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(joined.contains(ranked), "{sixteen}");
        assert!(sixteen.starts_with("= "), "{sixteen}");
    }
}
