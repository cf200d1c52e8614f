//! Values on their way through an expression: parts of the event as it is written, and what was made of them.

use std::borrow::Cow;
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use super::number::Number;
use crate::json::{scan, string, walk};
use crate::plan::expr::JsonType;
use crate::plan::expr::conversion::Data;

/// How many keys of an object are compared one by one.
const FEW_KEYS: usize = 16;

/// A value. Copies share what they hold.
#[derive(Clone, Debug)]
pub(crate) enum Val<'v> {
    Null,
    Boolean(bool),
    /// A number, a string, an array or an object as it is written.
    Json(Json<'v>),
    Number(Number),
    Text(Arc<str>),
    List(Rc<Vec<Val<'v>>>),
    Object(Rc<Members<'v>>),
}

/// The members of an object that was made, each key once.
pub(crate) type Members<'v> = Vec<(Arc<str>, Val<'v>)>;

/// Valid JSON without white space around it.
#[derive(Clone, Debug)]
pub(crate) enum Json<'v> {
    /// Of the event, or of the expression.
    Borrowed(&'v [u8]),
    /// A part of a text that was JSON.
    Shared(Arc<str>, usize, usize),
}

impl Json<'_> {
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Borrowed(bytes) => bytes,
            Self::Shared(text, start, end) => text.as_bytes().get(*start..*end).unwrap_or_default(),
        }
    }

    fn part(&self, start: usize, end: usize) -> Self {
        match self {
            Self::Borrowed(bytes) => Self::Borrowed(bytes.get(start..end).unwrap_or_default()),
            Self::Shared(text, offset, _) => {
                Self::Shared(text.clone(), offset + start, offset + end)
            }
        }
    }

    /// As text: an event is checked before anything in it is looked up.
    pub(crate) fn text(&self) -> &str {
        simdutf8::basic::from_utf8(self.bytes()).unwrap_or_default()
    }
}

impl<'v> Json<'v> {
    /// The value that it is.
    pub(crate) fn value(self) -> Val<'v> {
        match JsonType::of(self.bytes()) {
            JsonType::Null => Val::Null,
            JsonType::Boolean => Val::Boolean(self.bytes().first() == Some(&b't')),
            _ => Val::Json(self),
        }
    }

    /// The value of the last member of an object with that key.
    pub(crate) fn member(&self, key: &str) -> Option<Val<'v>> {
        let text = self.bytes();
        let mut found = None;
        walk::members(text, 0, |name, value| {
            let end = walk::end(text, value)?;
            if name.is(key) {
                found = Some((value, end));
            }
            Some(end)
        });
        found.map(|(start, end)| self.part(start, end).value())
    }

    /// The members of an object, as they are written.
    pub(crate) fn members(&self) -> Vec<(Arc<str>, Val<'v>)> {
        let text = self.bytes();
        let mut members = Vec::new();
        walk::members(text, 0, |name, value| {
            let end = walk::end(text, value)?;
            let key = String::from_utf8_lossy(&name.text()).into();
            members.push((key, self.part(value, end).value()));
            Some(end)
        });
        members
    }
}

impl<'v> Val<'v> {
    pub(crate) fn kind(&self) -> JsonType {
        match self {
            Self::Null => JsonType::Null,
            Self::Boolean(_) => JsonType::Boolean,
            Self::Json(json) => JsonType::of(json.bytes()),
            Self::Number(_) => JsonType::Number,
            Self::Text(_) => JsonType::String,
            Self::List(_) => JsonType::Array,
            Self::Object(_) => JsonType::Object,
        }
    }

    /// Bytes that going over it takes, what it holds left aside where that has been made.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Null | Self::Boolean(_) => 4,
            Self::Number(_) => 16,
            Self::Json(json) => json.bytes().len(),
            Self::Text(text) => text.len(),
            Self::List(items) => 8 * items.len(),
            Self::Object(members) => 16 * members.len(),
        }
    }

    /// The characters of a string.
    pub(crate) fn text(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Text(text) => Some(Cow::Borrowed(text)),
            Self::Json(json) => {
                let inside = json.text().strip_prefix('"')?.strip_suffix('"')?;
                if memchr::memchr(b'\\', inside.as_bytes()).is_none() {
                    return Some(Cow::Borrowed(inside));
                }
                string::unescape(inside).map(Cow::Owned)
            }
            _ => None,
        }
    }

    pub(crate) fn number(&self) -> Option<Number> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Json(json) if JsonType::of(json.bytes()) == JsonType::Number => {
                Number::read(json.text())
            }
            _ => None,
        }
    }

    /// Whether it counts as true: all but null, `false`, and what is empty.
    pub(crate) fn is_true(&self) -> bool {
        match self {
            Self::Null => false,
            Self::Boolean(truth) => *truth,
            Self::Number(_) => true,
            Self::Text(text) => !text.is_empty(),
            Self::List(items) => !items.is_empty(),
            Self::Object(members) => !members.is_empty(),
            Self::Json(json) => match json.bytes() {
                [b'"', rest @ ..] => rest.len() > 1,
                [b'[' | b'{', rest @ ..] => {
                    let first = rest.iter().find(|byte| !byte.is_ascii_whitespace());
                    !matches!(first, Some(b']' | b'}') | None)
                }
                _ => true,
            },
        }
    }

    /// The elements of an array.
    pub(crate) fn items(&self) -> Option<Items<'v>> {
        match self {
            Self::List(items) => Some(Items::List(items.clone(), 0)),
            Self::Json(json) if JsonType::of(json.bytes()) == JsonType::Array => {
                Some(Items::Json(json.clone(), 0))
            }
            _ => None,
        }
    }

    /// As conversions take it; `json` is that of a value that was made. None of null.
    pub(crate) fn data<'d>(&'d self, json: impl FnOnce() -> Cow<'d, str>) -> Option<Data<'d>> {
        Some(match (self, self.kind()) {
            (_, JsonType::Null) => return None,
            (Self::Boolean(truth), _) => Data::Boolean(*truth),
            (_, JsonType::String) => Data::String(self.text()?),
            (Self::Json(json), JsonType::Number) => Data::Number(json.text().into()),
            (Self::Json(json), JsonType::Array) => Data::Array(json.text().into()),
            (Self::Json(json), _) => Data::Object(json.text().into()),
            (Self::Number(number), _) => Data::Number(number.to_json().into()),
            (_, JsonType::Array) => Data::Array(json()),
            _ => Data::Object(json()),
        })
    }
}

/// Whether some object in a value has a key twice, and where the value ends that begins at `at`; none where nothing is. Events and
/// texts nest 127 levels at most.
fn repeats_keys(text: &[u8], at: usize) -> Option<(bool, usize)> {
    let mut repeats = false;
    let end = match text.get(at)? {
        b'{' => {
            let mut keys: Vec<Cow<'_, [u8]>> = Vec::new();
            let mut many: HashSet<Cow<'_, [u8]>> = HashSet::new();
            walk::members(text, at, |key, value| {
                let key = key.text();
                if keys.len() < FEW_KEYS {
                    repeats |= keys.contains(&key);
                    keys.push(key);
                } else {
                    repeats |= keys.contains(&key) || !many.insert(key);
                }
                let (inside, end) = repeats_keys(text, value)?;
                repeats |= inside;
                Some(end)
            })?
        }
        b'[' => walk::elements(text, at, |element| {
            let (inside, end) = repeats_keys(text, element)?;
            repeats |= inside;
            Some(end)
        })?,
        _ => walk::end(text, at)?,
    };
    Some((repeats, end))
}

impl Json<'_> {
    /// Whether some object in it has a key twice.
    pub(crate) fn repeats_keys(&self) -> bool {
        let is_nested = matches!(self.bytes().first(), Some(b'{' | b'['));
        is_nested && repeats_keys(self.bytes(), 0).is_some_and(|(repeats, _)| repeats)
    }
}

/// The elements of an array, one after the other.
pub(crate) enum Items<'v> {
    /// As it is written, and where the next one is looked for.
    Json(Json<'v>, usize),
    List(Rc<Vec<Val<'v>>>, usize),
}

impl<'v> Iterator for Items<'v> {
    type Item = Val<'v>;

    fn next(&mut self) -> Option<Val<'v>> {
        match self {
            Self::List(items, next) => {
                *next += 1;
                items.get(*next - 1).cloned()
            }
            Self::Json(json, at) => {
                let text = json.bytes();
                let start = if *at == 0 {
                    let first = scan::token(text, 1);
                    if scan::byte(text, first) == b']' { None } else { Some(first) }
                } else {
                    let (more, behind) = scan::next(text, *at, b']').ok()?;
                    more.then(|| scan::token(text, behind))
                };
                let Some(start) = start else {
                    // Past the end there is no bracket that would let it go on.
                    *at = text.len();
                    return None;
                };
                let end = walk::end(text, start)?;
                let item = json.part(start, end).value();
                *at = end;
                Some(item)
            }
        }
    }
}

/// The JSON of the value of the last member of an object with that key.
pub(super) fn member_of<'t>(text: &'t [u8], key: &str) -> Option<&'t [u8]> {
    let mut found = None;
    walk::members(text, 0, |name, value| {
        let end = walk::end(text, value)?;
        if name.is(key) {
            found = text.get(value..end);
        }
        Some(end)
    });
    found
}
