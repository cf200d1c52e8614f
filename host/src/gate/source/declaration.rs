//! What a source says in `extractor!`, where it says it, and what of that isn't handed on to the module.
//!
//! The macro makes the section of it, which has no names, no places, and nothing of what its author knows of events: that an input
//! is `unseen` is between a source and the gates, as it is between a plan and them.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};

use super::VettedSource;
use crate::abi::section::Section;

/// The macro, the parts of it that are looked for, and the word for what no sample shows.
const MACRO: &str = "extractor";
const FUNCTION: &str = "function";
const INPUTS: &str = "inputs";
const ROWS: &str = "rows";
const UNSEEN: &str = "unseen";

/// Words that the name of an input, or `reject`, is behind.
const BEFORE_NAMES: [&str; 3] = ["if", "or", "within"];

/// What a source declares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SourceDeclaration {
    function: String,
    /// In the order in which the section has them: those of the event, then the columns of each iteration.
    inputs: Vec<Declared>,
    rows: Vec<Declared>,
}

/// An input or an iteration, as a source declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Declared {
    /// What it is called.
    pub(crate) name: String,
    /// Where its name is, both from 1.
    pub(crate) line: usize,
    pub(crate) column: usize,
    /// Whether it says that no sample shows it.
    pub(crate) is_unseen: bool,
}

impl SourceDeclaration {
    /// The declaration that the compiler has made this section of; `None` where there is none of as many parts.
    pub(crate) fn of<'s>(source: &'s VettedSource, section: &Section) -> Option<&'s Self> {
        source.declarations.iter().find(|it| {
            it.function == section.function()
                && it.inputs.len() == section.inputs().len()
                && it.rows.len() == section.rows().len()
        })
    }

    /// The input of a slot.
    pub(crate) fn input(&self, index: usize) -> Option<&Declared> {
        self.inputs.get(index)
    }

    /// The iteration at a place of the section.
    pub(crate) fn rows(&self, index: usize) -> Option<&Declared> {
        self.rows.get(index)
    }
}

/// Every call of the macro, in whatever it is.
pub(super) fn declarations(tokens: TokenStream) -> Vec<SourceDeclaration> {
    let mut found = Vec::new();
    let mut levels = vec![tokens.into_iter().collect::<Vec<_>>()];
    while let Some(level) = levels.pop() {
        for window in level.windows(3) {
            if let [TokenTree::Ident(name), TokenTree::Punct(mark), TokenTree::Group(group)] =
                window
                && name == MACRO
                && mark.as_char() == '!'
            {
                found.push(declaration(group.stream()));
            }
        }
        levels.extend(level.into_iter().filter_map(|token| match token {
            TokenTree::Group(group) => Some(group.stream().into_iter().collect()),
            _ => None,
        }));
    }
    found
}

fn declaration(tokens: TokenStream) -> SourceDeclaration {
    let mut declaration = SourceDeclaration::default();
    for part in parts(tokens) {
        match (part.name.as_str(), part.rest.as_slice()) {
            (FUNCTION, [TokenTree::Ident(function), ..]) => {
                declaration.function = function.to_string();
            }
            (INPUTS, [TokenTree::Group(inputs)]) => {
                declaration.inputs.extend(parts(inputs.stream()).iter().map(Part::declared));
            }
            (ROWS, [TokenTree::Group(rows)]) => {
                for mut part in parts(rows.stream()) {
                    let columns = part.take_columns().map(parts).unwrap_or_default();
                    declaration.inputs.extend(columns.iter().map(Part::declared));
                    declaration.rows.push(part.declared());
                }
            }
            _ => {}
        }
    }
    declaration
}

/// `name: ..`, up to a comma.
struct Part {
    name: String,
    at: Span,
    rest: Vec<TokenTree>,
}

impl Part {
    fn declared(&self) -> Declared {
        let is_word = |token: &TokenTree, words: &[&str]| matches!(token, TokenTree::Ident(word) if words.iter().any(|it| word == it));
        let is_unseen = match self.rest.as_slice() {
            // An input may be called so.
            [.., before, last] => is_word(last, &[UNSEEN]) && !is_word(before, &BEFORE_NAMES),
            _ => false,
        };
        let start = self.at.start();
        let (line, column) = (start.line, start.column + 1);
        Declared { name: self.name.clone(), line, column, is_unseen }
    }

    /// Takes the columns away, which are behind all else.
    fn take_columns(&mut self) -> Option<TokenStream> {
        match self.rest.last() {
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                let columns = group.stream();
                self.rest.pop();
                Some(columns)
            }
            _ => None,
        }
    }
}

fn parts(tokens: TokenStream) -> Vec<Part> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is = |token: &TokenTree, mark: char| matches!(token, TokenTree::Punct(punct) if punct.as_char() == mark);
    let part = |tokens: &[TokenTree]| match tokens {
        [TokenTree::Ident(name), colon, rest @ ..] if is(colon, ':') => {
            Some(Part { name: name.to_string(), at: name.span(), rest: rest.to_vec() })
        }
        _ => None,
    };
    tokens.split(|token| is(token, ',')).filter_map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::source::{SourceLimits, vet};

    const SOURCE: &str = r##"use retort_guest::prelude::*;
extractor! {
    function: read -> String,
    event_types: ["a", "b.*"],
    inputs: {
        unseen: truthy ["unseen"],
        kind: ["type"] as ["trim", "lower"] if unseen,
        coupon: ["content", "coupon"] if unseen or reject unseen,
    },
    rows: {
        lines: each ["lines"] where r#"{"path": ["a"], "exists": true}"# if unseen { sku: ["sku"] unseen, no: [] },
        tags: each entries ["tags"] within lines unseen {},
    }
}
"##;

    fn section(json: &str) -> Section {
        Section::parse(json.as_bytes()).expect("a section")
    }

    const SECTION: &str = r#"{"abi":1,"function":"read","event_types":["a"],"inputs":[{"path":["a"]},{"path":["a"]},
        {"path":["a"]},{"path":["a"],"rows":0},{"path":["a"],"rows":0}],"rows":[{"array":["l"]},{"entries":["t"],"within":0}]}"#;

    #[test]
    fn what_is_declared_has_its_name_its_place_and_what_is_said_of_it() {
        let source = vet(SOURCE, &SourceLimits::default()).expect("a source");
        let found = SourceDeclaration::of(&source, &section(SECTION)).expect("a declaration");
        let said =
            |it: &Declared| format!("{}:{}:{}:{}", it.name, it.line, it.column, it.is_unseen);
        let inputs: Vec<String> = found.inputs.iter().map(said).collect();
        assert_eq!(
            inputs,
            [
                "unseen:6:9:false",
                "kind:7:9:false",
                "coupon:8:9:true",
                "sku:11:86:true",
                "no:11:107:false"
            ]
        );
        let rows: Vec<String> = found.rows.iter().map(said).collect();
        assert_eq!(rows, ["lines:11:9:false", "tags:12:9:true"]);
        assert_eq!(found.input(2), found.inputs.get(2));
        assert_eq!((found.rows(1), found.rows(2)), (found.rows.get(1), None));
    }

    #[test]
    fn another_section_has_no_declaration() {
        let source = vet(SOURCE, &SourceLimits::default()).expect("a source");
        for other in [
            SECTION.replace("\"read\"", "\"write\""),
            SECTION.replace(r#",{"path":["a"],"rows":0}]"#, "]"),
        ] {
            assert_eq!(SourceDeclaration::of(&source, &section(&other)), None);
        }
        let source = vet("fn read() {}", &SourceLimits::default()).expect("a source");
        assert_eq!(SourceDeclaration::of(&source, &section(SECTION)), None);
    }
}
