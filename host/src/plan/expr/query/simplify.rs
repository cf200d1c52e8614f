//! Parts of expressions in a simpler form that gives the same, for what plans say again and again: `… | key`, `type(@) == 'array'`.

use super::function::FunctionName;
use super::program::Op;
use super::tree::Comparison;
use crate::plan::expr::JsonType;

/// How far in what is behind a pipe its current value may be, so that a chain of pipes nests little deeper than it was written.
const MAX_DEPTH: usize = 4;

impl Op {
    /// The second one of what the first one gives.
    pub(super) fn pipe(left: Self, mut right: Self) -> Self {
        if right.currents() != 1 {
            return Self::Pipe(left.into(), right.into());
        }
        let left = if left.may_end_early() && right.take_first() { left.first() } else { left };
        match right.first_current(MAX_DEPTH) {
            Some(place) => {
                *place = left;
                right
            }
            None => Self::Pipe(left.into(), right.into()),
        }
    }

    /// Two values, compared.
    pub(super) fn compare(comparison: Comparison, left: Self, right: Self) -> Self {
        let is = match comparison {
            Comparison::Equal => Some(true),
            Comparison::NotEqual => Some(false),
            _ => None,
        };
        let asked = match (&left, &right) {
            (Self::Call(call), Self::Literal(json, _))
            | (Self::Literal(json, _), Self::Call(call))
                if call.function.function == FunctionName::Type =>
            {
                let of = call.arguments.first().map(|(of, _)| of.clone());
                of.zip(serde_json::from_str::<JsonType>(json).ok())
            }
            _ => None,
        };
        match (asked, is) {
            (Some((of, kind)), Some(is)) => Self::IsType(of.into(), kind, is),
            _ => Self::Compare(comparison, left.into(), right.into()),
        }
    }

    /// How often the current value is asked for where this is evaluated. It goes as deep as an expression nests.
    fn currents(&mut self) -> usize {
        match self {
            Self::Current => 1,
            op => op.around().into_iter().map(Self::currents).sum(),
        }
    }

    /// The current value, where that is what is evaluated first, whatever it is.
    fn first_current(&mut self, depth: usize) -> Option<&mut Self> {
        match self {
            _ if depth == 0 => None,
            Self::Current => Some(self),
            op => op.first_operand()?.first_current(depth - 1),
        }
    }

    /// Takes the first element of the current value for the current value itself, where that is what is evaluated first; whether it
    /// is.
    fn take_first(&mut self) -> bool {
        match self {
            Self::Index(of, 0) if matches!(**of, Self::Current) => {
                *self = Self::Current;
                true
            }
            op => op.first_operand().is_some_and(Self::take_first),
        }
    }

    /// The part that is evaluated first, and for the current value, in any case.
    pub(super) fn first_operand(&mut self) -> Option<&mut Self> {
        match self {
            Self::Fields(of, _)
            | Self::Index(of, _)
            | Self::First(of)
            | Self::Slice(of, _)
            | Self::Flatten(of)
            | Self::Then(of, _)
            | Self::Pipe(of, _)
            | Self::Project(of, ..)
            | Self::ProjectValues(of, _)
            | Self::Filter(of, ..)
            | Self::IsType(of, ..)
            | Self::Not(of)
            | Self::Negate(of, _)
            | Self::Plus(of, _)
            | Self::Or(of, _)
            | Self::And(of, _)
            | Self::Compare(_, of, _)
            | Self::Arithmetic(_, of, ..)
            | Self::Choose(of, ..) => Some(of),
            Self::Call(call) => call.arguments.first_mut().map(|(argument, _)| argument),
            Self::Current
            | Self::Input(_)
            | Self::Literal(..)
            | Self::Variable(_)
            | Self::Undefined(_)
            | Self::List(_)
            | Self::Object(_)
            | Self::Shared(..)
            | Self::Let(..) => None,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use crate::plan::expr::{Level, Query};
    use crate::plan::oracle::expression;

    /// What is simplified gives what the tree gives, and names the same parts of the event.
    #[test]
    fn what_is_simpler_gives_the_same() {
        let values = [
            "null",
            "{}",
            "[]",
            r#""a""#,
            "1",
            "true",
            r#"{"a":[{"b":"x","c":1},{"b":null},7],"n":null}"#,
        ];
        for text in [
            "@ | a | [0].b",
            "[@, a] | [1] | [0].b",
            "a[?b=='x'] | [0].c",
            "a[*].b | [?@ != 'x']",
            "[a] | [0][?b=='x' && c==`1`].c",
            "[a, a] | [?[0].b == 'x'] | [0] | [0] | type(@)",
            "[n] | [0] | type(@) == 'null'",
            "'array' != type(a)",
            "type(a) == 'list'",
            "type(a[0].b) == `\"string\"` && type(a) == 'array'",
            "a[?type(b) == 'string'] | [0]",
            "[a] | length(@) > `0` || [0]",
            "[a] | ([0] && [0][0]) || 'none'",
            "let $x = a in $x | [0].b",
            "let $x = a, $y = [a] in $y | [0] == $x",
            "[n] | [0] | !@",
            "[a] | join(', ', [0][].b || ['none'])",
            "map(&(b | type(@) == 'string'), a || [] | @)",
            "to_array(a) | [*] | [0] | not_null(@.b, 'none')",
        ] {
            let query = Query::parse(text, Level::EVENT).unwrap();
            for value in values {
                assert_eq!(
                    query.evaluate(value).ok(),
                    expression(&query, value),
                    "{text} of {value}"
                );
            }
        }
    }
}
