//! From figures to places in a plot, and the figures that an axis names.

/// An axis: which figures it shows, and between which places.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    from: f64,
    to: f64,
    start: f64,
    end: f64,
    is_logarithmic: bool,
}

/// How many figures a linear axis names, about.
const TICKS: f64 = 6.0;

impl Scale {
    /// From 0 to `most` or somewhat more, where its figures are round.
    pub(super) fn linear(most: f64, start: f64, end: f64) -> Self {
        let most = if most.is_finite() && most > 0.0 { most } else { 1.0 };
        let step = step(most);
        // What is a hair above a round figure by rounding alone doesn't lengthen the axis.
        let to = (most / step - 1e-3).ceil() * step;
        Self { from: 0.0, to, start, end, is_logarithmic: false }
    }

    /// From one figure to another one, both as they are.
    pub(super) fn between(from: f64, to: f64, start: f64, end: f64) -> Self {
        let to = if to > from { to } else { from + 1.0 };
        Self { from, to, start, end, is_logarithmic: false }
    }

    /// From `least` to `most`, each factor of ten as long as the others.
    pub(super) fn logarithmic(least: f64, most: f64, start: f64, end: f64) -> Self {
        let from = if least.is_finite() && least > 0.0 { least } else { 1.0 };
        let to = if most.is_finite() && most > from { most } else { from * 10.0 };
        Self { from, to, start, end, is_logarithmic: true }
    }

    /// The place of a figure; of one beyond the axis, the end of it.
    pub(super) fn place(&self, figure: f64) -> f64 {
        let part = if self.is_logarithmic {
            (figure.max(self.from) / self.from).ln() / (self.to / self.from).ln()
        } else {
            (figure - self.from) / (self.to - self.from)
        };
        let place = self.start + part.clamp(0.0, 1.0) * (self.end - self.start);
        (place * 10.0).round() / 10.0
    }

    /// The figures to be named.
    pub(super) fn ticks(&self) -> Vec<f64> {
        if self.is_logarithmic {
            return self.powers();
        }
        let step = step(self.to - self.from);
        let first = (self.from / step).ceil() as i64;
        let last = (self.to / step + 1e-9).floor() as i64;
        (first..=last).map(|number| number as f64 * step).collect()
    }

    /// Powers of ten, with 2 and 5 times as much where there are few.
    fn powers(&self) -> Vec<f64> {
        let decades = (self.to / self.from).log10();
        let factors: &[f64] = if decades < 2.5 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let (first, last) = (self.from.log10().floor() as i32, self.to.log10().ceil() as i32);
        let all = (first..=last)
            .flat_map(|power| factors.iter().map(move |factor| factor * 10_f64.powi(power)));
        all.filter(|tick| (self.from..=self.to).contains(tick)).collect()
    }
}

/// A round distance between figures on an axis of this length.
fn step(length: f64) -> f64 {
    let rough = length / TICKS;
    let power = 10_f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= rough);
    factor.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::Scale;

    #[test]
    fn axes_name_round_figures() {
        let scale = Scale::linear(93.0, 100.0, 200.0);
        assert_eq!(scale.ticks(), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!((scale.place(0.0), scale.place(50.0), scale.place(1e9)), (100.0, 150.0, 200.0));
        assert_eq!(Scale::linear(100.01, 0.0, 1.0).ticks().last(), Some(&100.0));
        let scale = Scale::logarithmic(800.0, 120_000.0, 0.0, 100.0);
        assert_eq!(scale.ticks(), [1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5]);
        assert_eq!((scale.place(0.0), scale.place(120_000.0)), (0.0, 100.0));
        let scale = Scale::between(-25.0, 25.0, 0.0, 100.0);
        assert_eq!(scale.ticks(), [-20.0, -10.0, 0.0, 10.0, 20.0]);
    }

    #[test]
    fn figures_that_are_none_have_a_place_all_the_same() {
        for scale in [
            Scale::linear(0.0, 0.0, 10.0),
            Scale::linear(f64::NAN, 0.0, 10.0),
            Scale::logarithmic(0.0, 0.0, 0.0, 10.0),
            Scale::between(1.0, 1.0, 0.0, 10.0),
        ] {
            assert!((0.0..=10.0).contains(&scale.place(3.0)), "{scale:?}");
            assert!(scale.ticks().len() < 20, "{scale:?}");
        }
    }
}
