//! Lines over a range: one for each way.

use super::markup::{Attribute, Markup};
use super::plot::{AXIS, WIDTH, axis_at_the_left, axis_below, colour, drawing, legend};
use super::scale::Scale;

/// How tall the part with the lines is.
const HEIGHT: f64 = 240.0;
/// What is above it.
const TOP: f64 = 34.0;
/// Where the lines begin and end.
const LEFT: f64 = 76.0;
const RIGHT: f64 = WIDTH - 16.0;

/// What a line shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// What is measured here.
    Measured,
    /// The same in the baseline.
    Baseline,
    /// What it would be in an ideal world.
    Ideal,
}

/// One line.
pub(super) struct Series {
    pub(super) name: String,
    pub(super) points: Vec<(f64, f64)>,
    /// Which colour it has.
    pub(super) colour: usize,
    pub(super) kind: Kind,
    /// Whether each point is a figure of its own.
    pub(super) has_dots: bool,
}

/// What an axis is of.
pub(super) struct Range<'a> {
    pub(super) name: &'a str,
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) is_logarithmic: bool,
    /// The figures to be named, where they aren't just any round ones.
    pub(super) ticks: Option<Vec<f64>>,
    pub(super) figure: &'a dyn Fn(f64) -> String,
}

/// A plot of lines, its legend above.
pub(super) fn lines(
    markup: &mut Markup,
    label: &str,
    x: &Range<'_>,
    y: &Range<'_>,
    series: &[Series],
) {
    let mut named: Vec<(String, &str)> = Vec::new();
    for it in series {
        let entry = (class(it), it.name.as_str());
        if !named.contains(&entry) {
            named.push(entry);
        }
    }
    legend(markup, named);
    let across = if x.is_logarithmic {
        Scale::logarithmic(x.from, x.to, LEFT, RIGHT)
    } else {
        Scale::between(x.from, x.to, LEFT, RIGHT)
    };
    let up = Scale::linear(y.to, TOP + HEIGHT, TOP);
    drawing(markup, TOP + HEIGHT + AXIS, label, |markup| {
        axis_at_the_left(markup, &up, LEFT, RIGHT, y.name, y.figure);
        let ticks = x.ticks.clone().unwrap_or_else(|| across.ticks());
        axis_below(markup, &across, &ticks, (TOP, TOP + HEIGHT), x.name, x.figure);
        for it in series {
            let place = |(x, y): &(f64, f64)| (across.place(*x), up.place(*y));
            let path: Vec<String> =
                it.points.iter().map(place).map(|(x, y)| format!("{x},{y}")).collect();
            let class = format!("line {}", class(it));
            markup.element(
                "polyline",
                &[("points", &path.join(" ")), ("class", &class)],
                |markup| {
                    markup.leaf("title", &[], &it.name);
                },
            );
            for (point, (cx, cy)) in it.points.iter().zip(it.points.iter().map(place)) {
                if it.has_dots {
                    let class = format!("dot {}", colour(it.colour));
                    let attributes: [Attribute<'_>; 4] =
                        [("cx", &cx), ("cy", &cy), ("r", &4), ("class", &class)];
                    let (at, value) = ((x.figure)(point.0), (y.figure)(point.1));
                    let title = format!("{}: {at}: {value}", it.name);
                    markup.element("circle", &attributes, |markup| {
                        markup.leaf("title", &[], title);
                    });
                }
            }
        }
    });
}

fn class(series: &Series) -> String {
    match series.kind {
        Kind::Measured => colour(series.colour),
        Kind::Baseline => format!("{} thin", colour(series.colour)),
        Kind::Ideal => "ideal".to_owned(),
    }
}
