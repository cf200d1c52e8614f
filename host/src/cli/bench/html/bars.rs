//! Bars, a row for each figure: by itself, or made of parts.

use super::markup::Markup;
use super::plot::{
    AXIS, ROW, ROWS_FROM, ROWS_TO, WIDTH, axis_below, colour, drawing, fitting, line, rect, text,
};
use super::scale::Scale;

/// How tall a bar is.
const BAR: f64 = 16.0;
/// How tall the name of a group is.
const HEAD: f64 = 28.0;

/// What axis a plot has.
pub(super) struct Axis<'a> {
    pub(super) name: &'a str,
    pub(super) figure: &'a dyn Fn(f64) -> String,
}

/// Rows that belong together.
pub(super) struct Group<R> {
    pub(super) name: String,
    pub(super) rows: Vec<R>,
}

/// One figure with what it varies between.
pub(super) struct Bar {
    pub(super) name: String,
    pub(super) value: f64,
    /// Between which figures half of the turns were.
    pub(super) half: (f64, f64),
    /// The same in the baseline.
    pub(super) was: Option<f64>,
    /// Whether it is what the page is about, and not what that is compared with.
    pub(super) is_own: bool,
    /// What is written after it.
    pub(super) said: String,
}

/// One figure made of parts.
pub(super) struct Stack {
    pub(super) name: String,
    /// In the order of colours.
    pub(super) parts: Vec<Part>,
    /// What is written after it.
    pub(super) said: String,
}

/// A part of a figure.
pub(super) struct Part {
    pub(super) name: &'static str,
    pub(super) value: f64,
    /// What is shown where it is pointed at.
    pub(super) said: String,
}

/// Bars side by side.
pub(super) fn bars(markup: &mut Markup, label: &str, axis: &Axis<'_>, groups: &[Group<Bar>]) {
    let all = || groups.iter().flat_map(|group| &group.rows);
    let most = all().map(|bar| bar.value.max(bar.half.1).max(bar.was.unwrap_or_default()));
    let scale = Scale::linear(most.fold(0.0, f64::max), ROWS_FROM, ROWS_TO);
    rows(markup, label, axis, &scale, groups, |markup, y, bar| {
        let class = if bar.is_own { colour(0) } else { "other".to_owned() };
        let (x, end) = (scale.place(0.0), scale.place(bar.value));
        let title = format!("{}: {}", bar.name, bar.said);
        rect(markup, (x, y), (end - x, BAR), &class, &title);
        let middle = y + BAR / 2.0;
        let (from, to) = (scale.place(bar.half.0), scale.place(bar.half.1));
        line(markup, (from, middle), (to, middle), "half");
        let mut end = end.max(to);
        if let Some(was) = bar.was {
            let at = scale.place(was);
            end = end.max(at);
            line(markup, (at, y - 4.0), (at, y + BAR + 4.0), "was");
        }
        (bar.name.clone(), bar.said.clone(), end)
    });
}

/// Bars made of parts.
pub(super) fn stacks(markup: &mut Markup, label: &str, axis: &Axis<'_>, groups: &[Group<Stack>]) {
    let sum = |stack: &Stack| stack.parts.iter().map(|part| part.value).sum::<f64>();
    let most = groups.iter().flat_map(|group| &group.rows).map(sum).fold(0.0, f64::max);
    let scale = Scale::linear(most, ROWS_FROM, ROWS_TO);
    rows(markup, label, axis, &scale, groups, |markup, y, stack| {
        let all = sum(stack);
        let mut before = 0.0;
        for (index, Part { name, value, said }) in stack.parts.iter().enumerate() {
            let (from, to) = (scale.place(before), scale.place(before + value));
            before += value;
            if *value <= 0.0 {
                continue;
            }
            let share = 100.0 * value / all;
            let title = format!("{name}: {said} ({share:.1} %)");
            rect(markup, (from, y), (to - from - 1.0, BAR), &colour(index), &title);
            if to - from > 40.0 {
                let middle = (from + to) / 2.0;
                text(markup, middle, y + BAR - 4.0, "part mid", format!("{share:.0} %"));
            }
        }
        (stack.name.clone(), stack.said.clone(), scale.place(all))
    });
}

/// Rows in groups, each drawn by `draw`, which says the row's name, its figure, and where what it has drawn ends.
fn rows<R>(
    markup: &mut Markup,
    label: &str,
    axis: &Axis<'_>,
    scale: &Scale,
    groups: &[Group<R>],
    mut draw: impl FnMut(&mut Markup, f64, &R) -> (String, String, f64),
) {
    let count: usize = groups.iter().map(|group| group.rows.len()).sum();
    let bottom = groups.len() as f64 * HEAD + count as f64 * ROW + 4.0;
    drawing(markup, bottom + AXIS, label, |markup| {
        axis_below(markup, scale, &scale.ticks(), (4.0, bottom), axis.name, axis.figure);
        line(markup, (scale.place(0.0), 4.0), (scale.place(0.0), bottom), "zero");
        let mut y = 0.0;
        for group in groups {
            text(markup, 0.0, y + HEAD - 9.0, "head value", fitting(&group.name, WIDTH));
            y += HEAD;
            for row in &group.rows {
                let (name, said, end) = draw(markup, y, row);
                text(markup, 14.0, y + BAR - 3.0, "row", fitting(&name, ROWS_FROM - 24.0));
                text(markup, end + 8.0, y + BAR - 3.0, "value", said);
                y += ROW;
            }
        }
    });
}
