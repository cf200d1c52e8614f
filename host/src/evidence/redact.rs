//! Which values of sample events are shown, and which by their shape alone.
//!
//! Samples are real data, and what shows them leaves the host: prompts, and findings that a model reads. A model has to see what
//! values look like, not whose they are:
//!
//! 1. Null, `true` and `false` are shown.
//! 2. Below a key that says that the value is about a person, or is a secret (`email`, `author_login`, `apiKey`, ...),
//!    every value is shown by its shape.
//! 3. Numbers of at most eight digits are shown; longer ones are ids, and shown as `<integer of 12 digits>` or `<number 9{10}.9{6}>`.
//! 4. Of strings, timestamps are shown. A string that is the first of these is shown as that: `<date>`, `<email>`, `<UUID>`,
//!    `<IP address>`, `<URL with credentials>`, `<URL>`, `<token>`, `<hex of N digits>`, `<N digits>`.
//! 5. Any other string of at most 200 characters without white space is shown run by run, with what is between them as it is.
//!    Words are shown, and numbers of at most four digits; longer ones as `9{6}`, and what mixes letters and digits, or cases as
//!    no word does, as `x{12}`, both in angle brackets around the whole: `<arn:aws:iam::9{12}:role/loader>`. What follows a
//!    word that says that it is about a person is shown as `x{12}` too.
//! 6. A string that holds an object or an array as JSON is shown as an object with the key `<JSON in a string>`, and what it
//!    holds by the same rules.
//! 7. Everything else is `<text of N characters>`.
//!
//! This is a matter of rules, not of judgement: a word that happens to be somebody's nickname, below a key that doesn't
//! say so, is shown. A [policy](crate::gate::policy) keeps whole fields out.

use std::net::{IpAddr, SocketAddr};

use serde_json::Value;

use super::Path;
use super::unfold::json_in;

/// How deep samples are looked through.
pub(super) const MAX_DEPTH: usize = 32;

/// How many digits a number may have that is shown.
const MAX_DIGITS: usize = 8;

/// How long a word may be that is shown.
const MAX_WORD_CHARS: usize = 32;

/// How many digits a word may hold that is shown.
const MAX_WORD_DIGITS: usize = 4;

/// How long a string may be that is shown run by run.
const MAX_LAID_OUT_CHARS: usize = 200;

/// How long a string without white space has to be to look like a secret.
const MIN_SECRET_CHARS: usize = 16;

/// How long a string may be that is looked into.
const MAX_CHARS: usize = 2_000;

/// What stands before what a string holds as JSON.
const IN_A_STRING: &str = r#"{"<JSON in a string>":"#;

/// How keys end, without case and separators, whose values are about a person or secret.
const PERSONAL: &[&str] = &[
    "accesskey",
    "accesskeyid",
    "actor",
    "address",
    "apikey",
    "assignee",
    "author",
    "authorization",
    "birthdate",
    "birthday",
    "city",
    "committer",
    "cookie",
    "credential",
    "credentials",
    "displayname",
    "dob",
    "email",
    "emails",
    "familyname",
    "firstname",
    "fullname",
    "gender",
    "givenname",
    "iban",
    "ip",
    "lastname",
    "latitude",
    "login",
    "longitude",
    "mail",
    "mobile",
    "nickname",
    "owner",
    "passphrase",
    "passport",
    "password",
    "passwd",
    "phone",
    "phonenumber",
    "postcode",
    "privatekey",
    "pwd",
    "reviewer",
    "secret",
    "sender",
    "signature",
    "ssn",
    "street",
    "surname",
    "token",
    "user",
    "username",
    "zip",
    "zipcode",
];

/// Words behind which a name of a person stands: `user/ada`.
const PEOPLE: &[&str] =
    &["actor", "author", "email", "login", "mail", "owner", "person", "user", "username"];

/// What tokens of well-known services begin with.
const TOKENS: &[&str] = &[
    "AKIA",
    "ASIA",
    "Basic ",
    "Bearer ",
    "eyJ",
    "gho_",
    "ghp_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "sk-",
    "sk_",
    "xox",
];

/// A scalar as it may be shown: itself, or a string that says its shape. `path` is where it was found.
///
/// # Example
/// ```
/// use retort::internal::redacted;
/// use serde_json::json;
///
/// let path = |key: &str| vec!["content".to_owned(), key.to_owned()];
/// assert_eq!(redacted(&path("state"), &json!("open")), json!("open"));
/// assert_eq!(redacted(&path("contact"), &json!("ada@example.org")), json!("<email>"));
/// assert_eq!(redacted(&path("login"), &json!("ada")), json!("<text of 3 characters>"));
/// ```
#[must_use]
pub fn redacted(path: &[String], value: &Value) -> Value {
    let is_personal = path.last().is_some_and(|key| is_personal(key));
    let shape = match value {
        Value::Number(number) => {
            let text = number.to_string();
            let digits = digits(&text);
            let kind = if number.is_f64() { "number" } else { "integer" };
            match text.split_once('.') {
                Some((whole, fraction)) if digits > MAX_DIGITS && !is_personal => Some(format!(
                    "<number {}.{}>",
                    nines(digits_of(whole)),
                    nines(digits_of(fraction))
                )),
                _ => (is_personal || digits > MAX_DIGITS)
                    .then(|| format!("<{kind} of {digits} digits>")),
            }
        }
        Value::String(text) if is_personal && !text.is_empty() => Some(
            shape(text).unwrap_or_else(|| format!("<text of {} characters>", text.chars().count())),
        ),
        Value::String(text) => shape(text),
        Value::Null | Value::Bool(_) => None,
        Value::Array(_) => Some("<array>".to_owned()),
        Value::Object(_) => Some("<object>".to_owned()),
    };
    shape.map_or_else(|| value.clone(), Value::String)
}

/// Whether a key looks like data rather than like a name: objects that are keyed by ids or by people.
pub(crate) fn is_data(key: &str) -> bool {
    shape(key).is_some_and(|shape| is_data_shape(&shape))
}

fn is_data_shape(shape: &str) -> bool {
    matches!(shape, "<email>" | "<UUID>" | "<IP address>" | "<URL with credentials>")
        || shape.ends_with(" digits>")
}

/// A part of an event, which is below `root`, as it may be shown: compact JSON, each scalar [redacted] by where it is, elements of an
/// array by where the array is, and keys that look like data by their shape too. What is nested deeper than samples are looked
/// through is shown by its kind.
pub(super) fn value(root: &Path, value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut root.clone(), MAX_DEPTH, &mut text);
    text
}

fn write(value: &Value, path: &mut Path, depth: usize, text: &mut String) {
    let deeper = depth.checked_sub(1);
    match (value, deeper) {
        (Value::Array(items), Some(deeper)) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                text.push_str(if index > 0 { "," } else { "" });
                write(item, path, deeper, text);
            }
            text.push(']');
        }
        (Value::Object(fields), Some(deeper)) => {
            text.push('{');
            for (index, (key, value)) in fields.iter().enumerate() {
                text.push_str(if index > 0 { "," } else { "" });
                let shown = shape(key).filter(|shape| is_data_shape(shape));
                write_string(shown.as_deref().unwrap_or(key), text);
                text.push(':');
                path.push(key.clone());
                write(value, path, deeper, text);
                path.pop();
            }
            text.push('}');
        }
        (Value::String(string), Some(deeper)) => match unfolded(path, string) {
            Some(inside) => {
                text.push_str(IN_A_STRING);
                write(&inside, path, deeper, text);
                text.push('}');
            }
            None => write_redacted(path, value, text),
        },
        _ => write_redacted(path, value, text),
    }
}

fn write_redacted(path: &[String], value: &Value, text: &mut String) {
    match redacted(path, value) {
        Value::String(string) => write_string(&string, text),
        scalar => text.push_str(&scalar.to_string()),
    }
}

/// What a string holds as JSON, unless that is about a person.
pub(crate) fn unfolded(path: &[String], text: &str) -> Option<Value> {
    if path.last().is_some_and(|key| is_personal(key)) { None } else { json_in(text) }
}

fn write_string(string: &str, text: &mut String) {
    // Of strings, none fails to serialise.
    text.push_str(&serde_json::to_string(string).unwrap_or_default());
}

pub(super) fn is_personal(key: &str) -> bool {
    let name: String =
        key.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    name == "name" || PERSONAL.iter().any(|end| name.ends_with(end))
}

/// The shape of a string; `None` where it may be shown itself.
fn shape(text: &str) -> Option<String> {
    let length = text.chars().count();
    let free_text = || Some(format!("<text of {length} characters>"));
    if text.is_empty() {
        return None;
    }
    if length > MAX_CHARS {
        return free_text();
    }
    // Whatever begins with a date is read as one, times without an offset included.
    if text.parse::<jiff::Timestamp>().is_ok() || text.parse::<jiff::civil::Date>().is_ok() {
        return (!text.contains(':')).then(|| "<date>".to_owned());
    }
    let fixed = |shape: &str| Some(shape.to_owned());
    if is_email(text) {
        return fixed("<email>");
    }
    if is_uuid(text) {
        return fixed("<UUID>");
    }
    if text.parse::<IpAddr>().is_ok() || text.parse::<SocketAddr>().is_ok() {
        return fixed("<IP address>");
    }
    if let Some((scheme, rest)) = text.split_once("://")
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    {
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        return fixed(if authority.contains('@') { "<URL with credentials>" } else { "<URL>" });
    }
    if TOKENS.iter().any(|start| text.len() > 2 * start.len() + 4 && text.starts_with(start)) {
        return fixed("<token>");
    }
    if length >= MIN_SECRET_CHARS && text.chars().all(|c| c.is_ascii_hexdigit()) {
        return Some(format!("<hex of {length} digits>"));
    }
    let count = digits(text);
    if count > MAX_WORD_DIGITS && text.chars().all(|c| c.is_ascii_digit() || " +-./()".contains(c))
    {
        return Some(match text.split_once('.') {
            Some((whole, fraction))
                if [whole, fraction].iter().all(|it| it.len() == digits(it)) =>
            {
                format!("<{}.{}>", nines(whole.len()), nines(fraction.len()))
            }
            _ => format!("<{count} digits>"),
        });
    }
    let is_in_runs = |c: char| c.is_ascii_alphanumeric() || "_-.:/#,=+$|~*%&".contains(c);
    if length <= MAX_LAID_OUT_CHARS && text.chars().all(is_in_runs) {
        return laid_out(text);
    }
    free_text()
}

/// A string of runs of letters and digits, of which those that may be secret are told by length alone; `None` where none is.
fn laid_out(text: &str) -> Option<String> {
    let mut shown = String::new();
    let mut is_masked = false;
    let mut is_person = false;
    let mut rest = text;
    while !rest.is_empty() {
        let run = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let (word, after) = rest.split_at(run);
        let digits = digits(word);
        let mask = if word.is_empty() {
            None
        } else if is_person {
            Some(format!("x{{{run}}}"))
        } else if digits == run {
            (digits > MAX_WORD_DIGITS).then(|| nines(run))
        } else {
            let is_mixed = digits > 0 && (digits > MAX_WORD_DIGITS || run >= MIN_SECRET_CHARS);
            (is_mixed || run > MAX_WORD_CHARS || !is_cased_as_words(word))
                .then(|| format!("x{{{run}}}"))
        };
        is_person |= is_about_a_person(word);
        is_masked |= mask.is_some();
        shown.push_str(mask.as_deref().unwrap_or(word));
        // Between runs is ASCII.
        let (between, next) = after.split_at(usize::from(!after.is_empty()));
        shown.push_str(between);
        rest = next;
    }
    is_masked.then(|| format!("<{shown}>"))
}

/// Whether what follows this word in a path or a name is somebody's: `user/ada`.
fn is_about_a_person(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    let word = word.strip_suffix('s').unwrap_or(&word);
    PEOPLE.contains(&word)
}

/// Whether a word is written as words are: small letters with capitals that begin a word each, or capitals alone.
fn is_cased_as_words(word: &str) -> bool {
    let letters: Vec<char> = word.chars().filter(char::is_ascii_alphabetic).collect();
    let begun =
        letters.windows(2).filter(|it| it[0].is_lowercase() && it[1].is_uppercase()).count();
    begun <= 1 + letters.len() / 4
}

fn nines(count: usize) -> String {
    format!("9{{{count}}}")
}

fn digits_of(text: &str) -> usize {
    digits(text.split(['e', 'E']).next().unwrap_or(text))
}

fn digits(text: &str) -> usize {
    text.bytes().filter(u8::is_ascii_digit).count()
}

fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    let is_solid = |part: &str| !part.is_empty() && !part.contains(char::is_whitespace);
    is_solid(local)
        && is_solid(domain)
        && !local.contains([':', '/'])
        && domain.split('.').all(|label| !label.is_empty())
        && domain.contains('.')
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.char_indices().all(|(at, c)| match at {
            8 | 13 | 18 | 23 => c == '-',
            _ => c.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::is_data;

    #[test]
    fn json_in_strings_is_shown_by_the_same_rules() {
        let inner = json!({"email": "ada@example.org", "n": [1, 123_456_789]}).to_string();
        let event = json!({"body": inner, "author": "{\"a\":1}", "twice": json!({"body": "[true]"}).to_string(), "no": "{a}"});
        let shown = super::value(&Vec::new(), &event);
        assert_eq!(
            shown,
            r#"{"author":"<text of 7 characters>","body":{"<JSON in a string>":{"email":"<email>","n":[1,"<integer of 9 digits>"]}},"no":"<text of 3 characters>","twice":{"<JSON in a string>":{"body":{"<JSON in a string>":[true]}}}}"#
        );
    }

    #[test]
    fn keys_that_are_ids_or_people_are_data() {
        for key in
            ["ada@example.org", "1234567890", "203.0.113.7", "6dcb09b5b57875f334f61aebed695e2e"]
        {
            assert!(is_data(key), "{key}");
        }
        for key in [
            "",
            "name",
            "sha256FingerprintOfKey",
            "a key of words",
            "https://schema.org/name",
            "2026-03-02",
            "v1",
        ] {
            assert!(!is_data(key), "{key}");
        }
    }
}
