//! What all plots have in common: a drawing in a figure, its axes and its legend.

use std::fmt::Display;

use super::markup::Markup;
use super::scale::Scale;

/// How wide drawings are; the page makes them fit.
pub(super) const WIDTH: f64 = 880.0;
/// Where what a row shows begins: before it are the names of rows.
pub(super) const ROWS_FROM: f64 = 270.0;
/// Where bars end at most: after that are their figures.
pub(super) const ROWS_TO: f64 = 670.0;
/// From one row to the next.
pub(super) const ROW: f64 = 26.0;
/// How tall an axis with its figures and its name is.
pub(super) const AXIS: f64 = 46.0;
/// How many colours there are.
const COLOURS: usize = 6;
/// How wide a character is, about.
const CHARACTER: f64 = 7.2;

/// A drawing with what it says to those who don't see it.
pub(super) fn drawing(
    markup: &mut Markup,
    height: f64,
    label: &str,
    draw: impl FnOnce(&mut Markup),
) {
    let view = format!("0 0 {WIDTH} {height}");
    markup.element("svg", &[("viewBox", &view), ("role", &"img"), ("aria-label", &label)], draw);
}

/// Text at a place; `class` says how it is aligned and what it is.
pub(super) fn text(markup: &mut Markup, x: f64, y: f64, class: &str, text: impl Display) {
    markup.leaf("text", &[("x", &x), ("y", &y), ("class", &class)], text);
}

/// A line from place to place.
pub(super) fn line(markup: &mut Markup, from: (f64, f64), to: (f64, f64), class: &str) {
    let (x1, y1) = from;
    let (x2, y2) = to;
    markup.empty("line", &[("x1", &x1), ("y1", &y1), ("x2", &x2), ("y2", &y2), ("class", &class)]);
}

/// A rectangle that says more when it is pointed at.
pub(super) fn rect(
    markup: &mut Markup,
    (x, y): (f64, f64),
    (width, height): (f64, f64),
    class: &str,
    title: &str,
) {
    let width = (width.max(0.0) * 10.0).round() / 10.0;
    let attributes: [(&'static str, &dyn Display); 5] =
        [("x", &x), ("y", &y), ("width", &width), ("height", &height), ("class", &class)];
    markup.element("rect", &attributes, |markup| markup.leaf("title", &[], title));
}

/// The class of the nth colour.
pub(super) fn colour(index: usize) -> String {
    format!("c{}", index % COLOURS)
}

/// A name, cut off where it would run into what comes after it.
pub(super) fn fitting(name: &str, width: f64) -> String {
    let most = (width / CHARACTER).max(1.0) as usize;
    retort::diagnostics::sanitize(name, most)
}

/// An axis below: lines upwards to `top`, figures, and what they are.
pub(super) fn axis_below(
    markup: &mut Markup,
    scale: &Scale,
    ticks: &[f64],
    (top, bottom): (f64, f64),
    name: &str,
    figure: impl Fn(f64) -> String,
) {
    for tick in ticks {
        let x = scale.place(*tick);
        line(markup, (x, top), (x, bottom), "grid");
        text(markup, x, bottom + 16.0, "tick mid", figure(*tick));
    }
    let middle = (scale.place(f64::NEG_INFINITY) + scale.place(f64::INFINITY)) / 2.0;
    text(markup, middle, bottom + 36.0, "axis mid", name);
}

/// An axis at the left: lines rightwards to `right`, figures, and what they are above them.
pub(super) fn axis_at_the_left(
    markup: &mut Markup,
    scale: &Scale,
    left: f64,
    right: f64,
    name: &str,
    figure: impl Fn(f64) -> String,
) {
    for tick in scale.ticks() {
        let y = scale.place(tick);
        line(markup, (left, y), (right, y), "grid");
        text(markup, left - 8.0, y + 4.0, "tick end", figure(tick));
    }
    let top = scale.place(f64::INFINITY);
    text(markup, 0.0, top - 14.0, "axis", name);
}

/// What the colours of a figure mean.
pub(super) fn legend<'a>(
    markup: &mut Markup,
    entries: impl IntoIterator<Item = (String, &'a str)>,
) {
    markup.element("p", &[("class", &"legend")], |markup| {
        for (class, name) in entries {
            markup.element("span", &[], |markup| {
                markup.leaf("i", &[("class", &class)], "");
                markup.write(" ");
                markup.write(name);
            });
        }
    });
}
