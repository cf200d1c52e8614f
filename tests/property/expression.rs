//! Random expressions, and the two evaluators held to each other.

use proptest::prelude::*;
use retort::internal::expression::by_oracle;
use retort::plan::{Query, QueryFailure};
use serde_json::{Value, json};

use super::choices::{Choices, NUMBERS, TEXTS, key};
use super::{bytes, config};

/// An expression that stands so many levels deep.
pub(super) fn expression(choices: &mut Choices<'_>, level: usize) -> String {
    let depth = *choices.pick(&[2, 1, 3]);
    let mut maker = Maker { choices, level, variables: Vec::new() };
    maker.any(depth)
}

struct Maker<'c, 'b> {
    choices: &'c mut Choices<'b>,
    level: usize,
    variables: Vec<String>,
}

/// Functions of one value that may be of any type: most of them fail for most.
const OF_ONE: &[&str] = &[
    "length",
    "type",
    "to_number",
    "not_null",
    "to_array",
    "keys",
    "values",
    "items",
    "sum",
    "avg",
    "max",
    "min",
    "sort",
    "reverse",
    "abs",
    "ceil",
    "floor",
    "lower",
    "upper",
    "trim",
    "trim_left",
    "trim_right",
    "merge",
    "from_items",
    "timestamp",
    "date",
    "to_int64",
    "to_double",
    "to_boolean",
    "parse_json",
    "distinct",
    "sha256",
];
const OF_TWO: &[&str] = &[
    "contains",
    "starts_with",
    "ends_with",
    "find_first",
    "find_last",
    "split",
    "join",
    "zip",
    "merge",
    "not_null",
];
const BY: &[&str] = &["sort_by", "max_by", "min_by", "group_by"];
const OPERATORS: &[&str] =
    &["==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "//", "||", "&&", "|"];

impl Maker<'_, '_> {
    fn any(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.leaf();
        }
        let depth = depth - 1;
        match self.choices.below(20) {
            0..=2 => self.path(),
            3 => format!("{}.{}", self.path(), self.key()),
            4 => {
                let brackets = ["[0]", "[-1]", "[]", "[*]", "[1:]", "[::-1]", "[:2]", "[-2:0:-1]"];
                let bracket = *self.choices.pick(&brackets);
                format!("{}{bracket}{}", self.path(), self.tail())
            }
            5 => format!("{}[?{}]{}", self.path(), self.inside(depth), self.tail()),
            6 => format!("{}.*{}", self.path(), self.tail()),
            7 => format!("[{}, {}]", self.any(depth), self.any(depth)),
            8 => format!("{{a: {}, \"b c\": {}}}", self.any(depth), self.any(depth)),
            9 | 10 => {
                let operator = *self.choices.pick(OPERATORS);
                // A zero that is written out is refused as a divisor.
                let function = if matches!(operator, "/" | "%" | "//") { "not_null" } else { "" };
                format!("({}) {operator} {function}({})", self.any(depth), self.any(depth))
            }
            11 => format!("!({})", self.any(depth)),
            12 => format!("({}) ? {} : {}", self.any(depth), self.any(depth), self.any(depth)),
            13 | 14 => format!("{}({})", self.choices.pick(OF_ONE), self.any(depth)),
            15 => {
                format!("{}({}, {})", self.choices.pick(OF_TWO), self.any(depth), self.any(depth))
            }
            16 => {
                let by = *self.choices.pick(BY);
                let (list, inside) = (self.any(depth), self.inside(depth));
                if self.choices.chance(80) {
                    format!("map(&{inside}, {list})")
                } else {
                    format!("{by}({list}, &{inside})")
                }
            }
            17 => {
                let bound = self.any(depth);
                let name = format!("v{}", self.variables.len());
                self.variables.push(name.clone());
                let body = self.any(depth);
                self.variables.pop();
                format!("(let ${name} = {bound} in {body})")
            }
            18 => self.special(depth),
            _ => self.leaf(),
        }
    }

    /// Where an element is the current value.
    fn inside(&mut self, depth: usize) -> String {
        let key = self.key();
        match self.choices.below(5) {
            0 => "@".to_owned(),
            1 => key,
            2 => format!("{key} == {}", self.leaf()),
            3 => format!("to_string(type(@)) == {}", self.leaf()),
            _ => self.any(depth.min(1)),
        }
    }

    fn tail(&mut self) -> String {
        match self.choices.below(5) {
            0 | 1 => String::new(),
            2 => format!(".{}", self.key()),
            3 => " | [0]".to_owned(),
            _ => format!(".[@, {}]", self.key()),
        }
    }

    fn special(&mut self, depth: usize) -> String {
        let of = self.any(depth);
        match self.choices.below(8) {
            0 => format!("regex({of}, '^(.)(?<rest>.*)$', 'rest')"),
            1 => format!("map_value({of}, {{a: 'one', \"1\": `2`, true: \"yes\"}})"),
            2 => format!("epoch({of}, 'ms')"),
            3 => format!("from_epoch({of}, 's')"),
            4 => format!("duration({of}, {}, 'us')", self.leaf()),
            5 => format!("replace({of}, 'a', {}, `1`)", self.leaf()),
            6 => format!("pad_left({of}, `5`, 'é')"),
            _ => format!("split({of}, '', `2`)"),
        }
    }

    fn path(&mut self) -> String {
        let start = match self.choices.below(8) {
            0 => "$.",
            1 => "$event.",
            2 if self.level > 1 => "$parent.",
            3 => "@.",
            _ => "",
        };
        if !self.variables.is_empty() && self.choices.chance(64) {
            let name = self.choices.pick(&self.variables);
            return format!("${name}");
        }
        let keys = 1 + self.choices.below(2);
        let keys: Vec<String> = (0..keys).map(|_| self.key()).collect();
        format!("{start}{}", keys.join("."))
    }

    fn leaf(&mut self) -> String {
        match self.choices.below(8) {
            0..=2 => self.path(),
            3 => format!("`{}`", json!(self.choices.pick(TEXTS)).to_string().replace('`', "\\`")),
            4 => {
                let number = *self.choices.pick(NUMBERS);
                let number =
                    if Query::parse_alone(&format!("`{number}`")).is_ok() { number } else { "1.5" };
                format!("`{number}`")
            }
            5 => (*self.choices.pick(&["`true`", "`false`", "`null`", "`[]`", "`{}`", "''"]))
                .to_owned(),
            6 => "@".to_owned(),
            _ => (*self.choices.pick(&[
                "'2019-05-15T15:20:57.25Z'",
                "'a'",
                "`1557933657`",
                "`\"[1]\"`",
            ]))
            .to_owned(),
        }
    }

    fn key(&mut self) -> String {
        let key = key(self.choices);
        let is_plain = key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && !key.starts_with(|first: char| first.is_ascii_digit())
            && !key.is_empty();
        if is_plain { key } else { json!(key).to_string() }
    }
}

/// JSON of any kind, without a key that is there twice: of those a text keeps both.
fn document(choices: &mut Choices<'_>, depth: usize) -> Value {
    match choices.below(8) {
        0 | 1 if depth > 0 => (0..choices.below(4)).map(|_| document(choices, depth - 1)).collect(),
        2..=4 if depth > 0 => {
            let fields = 1 + choices.below(5);
            Value::Object(
                (0..fields).map(|_| (key(choices), document(choices, depth - 1))).collect(),
            )
        }
        5 => json!(choices.pick(TEXTS)),
        6 => {
            let number: &str = choices.pick::<&str>(NUMBERS);
            serde_json::from_str(number).unwrap_or(json!(0))
        }
        _ => choices
            .pick(&[json!(true), Value::Null, json!(3), json!("2019-05-15T15:20:57Z"), json!(1.50)])
            .clone(),
    }
}

fn agrees(expression: &str, event: &str) -> Result<bool, TestCaseError> {
    let query = Query::parse_alone(expression)
        .map_err(|error| TestCaseError::fail(format!("{error}: {expression}")))?;
    let found = match query.evaluate(event) {
        Ok(json) => Some(json),
        Err(QueryFailure::Failed(_)) => None,
        Err(error) => return Err(TestCaseError::fail(format!("{error}: {expression} of {event}"))),
    };
    let expected = by_oracle(&query, event);
    let canonical = |json: &Option<String>| {
        json.as_ref().map(|json| serde_json::from_str::<Value>(json).unwrap().to_string())
    };
    prop_assert_eq!(canonical(&found), canonical(&expected), "{} of {}", expression, event);
    Ok(found.is_some_and(|found| found != "null"))
}

proptest! {
    #![proptest_config(config(8.0))]

    #[test]
    fn expressions_mean_what_the_oracle_says(choose in bytes(300), event in bytes(400)) {
        let expression = expression(&mut Choices::new(&choose), 0);
        let event = document(&mut Choices::new(&event), 4).to_string();
        agrees(&expression, &event)?;
    }

    /// Whatever a text is, reading it ends, and what it says is wrong is in it.
    #[test]
    fn any_text_is_read(text in "[a-c.*\\[\\]()?:|&!<>=@$`'\" {},0-9+-]{0,60}") {
        if let Err(error) = Query::parse_alone(&text) {
            prop_assert!((1..=text.chars().count() + 1).contains(&error.column));
        }
    }
}

#[test]
fn the_generator_makes_expressions_that_mostly_give_something() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let (mut some, mut all) = (0, 0);
    for _ in 0..2_000 {
        let choose = bytes(300).new_tree(&mut runner).unwrap().current();
        let event = bytes(400).new_tree(&mut runner).unwrap().current();
        let expression = expression(&mut Choices::new(&choose), 0);
        let event = document(&mut Choices::new(&event), 4).to_string();
        all += 1;
        some += usize::from(agrees(&expression, &event).unwrap());
    }
    assert!(some * 5 > all, "{some} of {all}");
}
