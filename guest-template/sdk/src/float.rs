//! What the standard library does with floating-point numbers and `core` doesn't, with the same results to the last bit.

/// Beyond this every double is whole.
const WHOLE: f64 = 4_503_599_627_370_496.0;

#[cfg_attr(feature = "std", allow(unreachable_pub, reason = "natively it is only tested"))]
/// Functions of `f64` that are the standard library's natively.
pub trait Float: Sized {
    /// The whole number next to it towards zero.
    #[must_use]
    fn trunc(self) -> Self;
    /// What is behind the point.
    #[must_use]
    fn fract(self) -> Self;
    /// The largest whole number that isn't above it.
    #[must_use]
    fn floor(self) -> Self;
    /// The smallest whole number that isn't below it.
    #[must_use]
    fn ceil(self) -> Self;
    /// The nearest whole number; of two that are as near, the one further from zero.
    #[must_use]
    fn round(self) -> Self;
    /// The square root.
    #[must_use]
    fn sqrt(self) -> Self;
}

impl Float for f64 {
    #[allow(clippy::cast_possible_truncation, reason = "it is what truncating is")]
    #[allow(clippy::cast_precision_loss, reason = "there is none below 2^52")]
    fn trunc(self) -> Self {
        if self.abs() < WHOLE { (self as i64 as Self).copysign(self) } else { self }
    }

    fn fract(self) -> Self {
        self - Float::trunc(self)
    }

    fn floor(self) -> Self {
        let whole = Float::trunc(self);
        if whole > self { whole - 1.0 } else { whole }
    }

    fn ceil(self) -> Self {
        let whole = Float::trunc(self);
        if whole < self { (whole + 1.0).copysign(self) } else { whole }
    }

    fn round(self) -> Self {
        let whole = Float::trunc(self);
        if (self - whole).abs() >= 0.5 { whole + 1.0_f64.copysign(self) } else { whole }
    }

    fn sqrt(self) -> Self {
        const FRACTION: u32 = 52;
        const BIAS: i32 = 1075;
        if self == 0.0 || self.is_nan() || self == Self::INFINITY {
            return self;
        }
        if self < 0.0 {
            return Self::NAN;
        }
        // self = mantissa * 2^exponent, with a mantissa of 53 bits and an exponent that is even.
        let bits = self.to_bits();
        let (mut mantissa, mut exponent) =
            (bits & ((1 << FRACTION) - 1), (bits >> FRACTION) as i32);
        if exponent == 0 {
            let shift = mantissa.leading_zeros() as i32 - 11;
            mantissa <<= shift;
            exponent = 1 - shift;
        } else {
            mantissa |= 1 << FRACTION;
        }
        exponent -= BIAS;
        let odd = exponent & 1;
        // The root has 54 bits: one more than a double, and what is left decides where that one is all there is.
        let square = u128::from(mantissa) << (54 + odd);
        let root = square.isqrt();
        let is_exact = root * root == square;
        let (kept, half) = ((root >> 1) as u64, root & 1 == 1);
        // Where half a unit is cut off there is always more: the root of a whole number isn't halfway between two.
        let up = half && (!is_exact || kept & 1 == 1);
        let power = (exponent - odd - 54) / 2 + 1;
        // The root of a double is never subnormal, nor infinite.
        let power = Self::from_bits(((power + 1023) as u64) << FRACTION);
        (kept + u64::from(up)) as Self * power
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::Float;

    #[test]
    fn it_is_what_the_standard_library_gives() {
        let mut numbers = vec![
            0.0,
            -0.0,
            0.5,
            -0.5,
            1.5,
            2.5,
            -2.5,
            0.499_999_999_999_999_94,
            2.0,
            4.0,
            1e15,
            1e300,
            4_503_599_627_370_495.5,
            4_503_599_627_370_497.0,
            f64::MIN_POSITIVE,
            5e-324,
            1e-310,
            f64::MAX,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            -1.0,
            1e-20,
            -0.3,
        ];
        let mut state = 1_u64;
        for _ in 0..20_000 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            numbers.extend([
                f64::from_bits(state),
                (state >> 40) as f64 / 16.0,
                (state >> 11) as f64,
            ]);
        }
        for number in numbers {
            for (name, ours, theirs) in [
                ("trunc", Float::trunc(number), number.trunc()),
                ("fract", Float::fract(number), number.fract()),
                ("floor", Float::floor(number), number.floor()),
                ("ceil", Float::ceil(number), number.ceil()),
                ("round", Float::round(number), number.round()),
                ("sqrt", Float::sqrt(number), number.sqrt()),
            ] {
                let same = ours.to_bits() == theirs.to_bits() || ours.is_nan() && theirs.is_nan();
                assert!(same, "{name} of {number:?}: {ours:?}, not {theirs:?}");
            }
        }
    }
}
