//! The screen as a frame of the terminal: a pure function of its content.

use std::borrow::Cow;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{LineGauge, Paragraph, Sparkline, Wrap};

use super::{ArmProgress, Now, Screen, VolumeHistory};
use crate::command::output::printable;
use table::quantity::{number, percent, rate};

/// Lines of one volume: its name with figures, two of sparklines, and one between volumes.
const VOLUME_LINES: u16 = 4;

/// Columns of an arm's bar.
const BAR: usize = 20;

/// Draws `screen`. What does not fit is left out from below; omitted arms and volumes are counted.
pub fn draw(screen: &Screen, frame: &mut Frame<'_>) {
    let arms = lines(screen.arms.len(), 8);
    let verdicts = lines(screen.verdicts.len() * 2, 8);
    let [title, doing, gauge, arms, _, volumes, verdicts, keys] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Length(arms),
        Constraint::Length(1),
        Constraint::Min(0),
        Constraint::Length(verdicts),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    let bold = Style::new().add_modifier(Modifier::BOLD);
    frame.render_widget(Line::styled(fit(&screen.title), bold), title);
    frame.render_widget(Line::raw(fit(&screen.doing)), doing);
    if let Some(done) = screen.done {
        let done = done.clamp(0.0, 1.0);
        let label = percent(done);
        let bar = LineGauge::default()
            .filled_symbol("━")
            .unfilled_symbol("─")
            .ratio(done)
            .label(label);
        frame.render_widget(bar, gauge);
    }
    draw_arms(&screen.arms, frame, arms);
    let volumes = match screen.volumes.is_empty() || screen.volumes_of.is_empty() {
        true => volumes,
        false => draw_heading(&screen.volumes_of, frame, volumes),
    };
    draw_volumes(&screen.volumes, frame, volumes);
    let said = screen
        .verdicts
        .iter()
        .map(|verdict| Line::raw(fit(verdict)));
    let said = Paragraph::new(said.collect::<Vec<_>>()).wrap(Wrap { trim: true });
    frame.render_widget(said, verdicts);
    let dim = Style::new().add_modifier(Modifier::DIM);
    frame.render_widget(Line::styled(fit(&screen.keys), dim), keys);
}

/// As many lines as there are to show, and no more than `most`.
fn lines(count: usize, most: u16) -> u16 {
    u16::try_from(count).unwrap_or(most).min(most)
}

/// Names come from files: they are sanitized for the terminal.
fn fit(text: &str) -> Cow<'_, str> {
    printable(text)
}

fn draw_arms(arms: &[ArmProgress], frame: &mut Frame<'_>, area: Rect) {
    let room = usize::from(area.height);
    let shown = match arms.len() > room {
        true => room.saturating_sub(1),
        false => arms.len(),
    };
    let width = arms.iter().map(|arm| arm.name.chars().count()).max();
    let width = width.unwrap_or(0).min(30);
    let mut said: Vec<Line<'_>> = arms[..shown].iter().map(|arm| of_arm(arm, width)).collect();
    if shown < arms.len() {
        said.push(Line::raw(format!("{} more placements", arms.len() - shown)));
    }
    frame.render_widget(Paragraph::new(said), area);
}

fn of_arm(arm: &ArmProgress, width: usize) -> Line<'_> {
    let ended = arm.finished + arm.failed;
    let full = BAR * ended.min(arm.planned) as usize / arm.planned.max(1) as usize;
    let mut text = format!(
        "{:width$.width$}  {}{}  {ended} of {}",
        fit(&arm.name),
        "█".repeat(full),
        "░".repeat(BAR - full),
        arm.planned
    );
    if arm.running > 0 {
        text += &format!(", {} running", arm.running);
    }
    let mut spans = vec![Span::raw(text)];
    if arm.failed > 0 {
        let failed = format!(", {} failed", arm.failed);
        spans.push(Span::styled(failed, Style::new().fg(Color::Red)));
    }
    Line::from(spans)
}

/// Names the trial whose volumes are shown, where one of them has room below. Returns the rest of the area.
fn draw_heading(trial: &str, frame: &mut Frame<'_>, area: Rect) -> Rect {
    if area.height <= VOLUME_LINES {
        return area;
    }
    let line = Rect { height: 1, ..area };
    let text = format!("volumes of {}", fit(trial));
    frame.render_widget(Line::raw(text), line);
    Rect {
        y: area.y + 1,
        height: area.height - 1,
        ..area
    }
}

fn draw_volumes(volumes: &[VolumeHistory], frame: &mut Frame<'_>, area: Rect) {
    let room = usize::from(area.height / VOLUME_LINES);
    let mut top = area.y;
    for volume in volumes.iter().take(room) {
        let own = Rect {
            y: top,
            height: VOLUME_LINES,
            ..area
        };
        draw_volume(volume, frame, own);
        top += VOLUME_LINES;
    }
    let left_out = volumes.len().saturating_sub(room);
    if left_out > 0 && top < area.bottom() {
        let rest = Rect {
            y: top,
            height: 1,
            ..area
        };
        frame.render_widget(Line::raw(format!("{left_out} more volumes")), rest);
    }
}

fn draw_volume(volume: &VolumeHistory, frame: &mut Frame<'_>, area: Rect) {
    let last = volume.points.back().cloned().unwrap_or_default();
    let [name, columns] =
        Layout::vertical([Constraint::Length(1), Constraint::Length(3)]).areas(area);
    let limit = match &last.limit {
        Some((limit, used)) => format!("most-used limit: {limit}, {}", percent(*used)),
        None => "no modelled limit".to_owned(),
    };
    let text = format!("{}: {limit}", volume.name);
    frame.render_widget(Line::raw(fit(&text).into_owned()), name);
    let latency = last.latency_ms.map_or_else(|| "-".to_owned(), number);
    let mut charts = vec![
        Chart {
            label: format!("{} IOPS", number(last.iops)),
            of: |now| now.iops,
            most: None,
        },
        Chart {
            label: rate(last.mb_per_s),
            of: |now| now.mb_per_s,
            most: None,
        },
        Chart {
            label: format!("{latency} ms"),
            of: |now| now.latency_ms.unwrap_or(0.0),
            most: None,
        },
    ];
    if last.limit.is_some() {
        charts.push(Chart {
            label: "% of that limit".to_owned(),
            of: |now| now.limit.as_ref().map_or(0.0, |(_, used)| *used),
            most: Some(1.0),
        });
    }
    let places: [Rect; 4] = Layout::horizontal([Constraint::Fill(1); 4])
        .spacing(2)
        .areas(columns);
    for (chart, place) in charts.into_iter().zip(places) {
        let [head, line] =
            Layout::vertical([Constraint::Length(1), Constraint::Length(1)]).areas(place);
        frame.render_widget(Line::raw(chart.label.clone()), head);
        frame.render_widget(sparkline(volume, &chart, line.width), line);
    }
}

/// A figure of a volume over time.
struct Chart {
    label: String,
    of: fn(&Now) -> f64,
    /// The value of its top; `None` for the maximum of its points.
    most: Option<f64>,
}

/// The height of the highest point of a sparkline, which only has whole numbers.
const HEIGHT: u64 = 1_000;

/// The last points of a volume.
fn sparkline(volume: &VolumeHistory, chart: &Chart, width: u16) -> Sparkline<'static> {
    let skipped = volume.points.len().saturating_sub(width.into());
    let values: Vec<f64> = volume.points.iter().skip(skipped).map(chart.of).collect();
    let highest = || values.iter().copied().fold(0.0, f64::max);
    let most = chart.most.unwrap_or_else(highest);
    let scaled = values.iter().map(|value| match most > 0.0 {
        true => (value / most * HEIGHT as f64) as u64,
        false => 0,
    });
    Sparkline::default()
        .data(scaled.collect::<Vec<u64>>())
        .max(HEIGHT)
}
