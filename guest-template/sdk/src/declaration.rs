//! What an extractor declares, and its JSON form, made by the compiler: docs/abi.md has the form.
//!
//! All of it is `const`, so that a mistake ends the build. What only the host can judge (expressions, conditions) passes here,
//! and the gates look at it.

use crate::names::first_twice;

/// Most bytes of the section.
const MAX_SECTION: usize = 256 << 10;
/// Most event types.
pub(crate) const MAX_EVENT_TYPES: usize = 1024;
const MAX_EVENT_TYPE: usize = 1024;
const MAX_INPUTS: usize = 1024;
const MAX_ROWS: usize = 16;
const MAX_PATH: usize = 127;
/// Most steps of one chain of conversions.
const MAX_ENTRIES: usize = 256;
/// How deep the JSON of an input may nest.
const MAX_DEPTH: usize = 128;

/// An extractor's declaration, by names.
#[derive(Clone, Copy, Debug)]
pub struct Declaration {
    /// The function's name.
    pub function: &'static str,
    /// Types and prefixes.
    pub event_types: &'static [&'static str],
    /// What becomes of the same id twice.
    pub on_duplicate: Option<&'static str>,
    /// What empty strings count as.
    pub empty: Option<&'static str>,
    /// Where times without an offset are.
    pub time_zone: Option<&'static str>,
    /// The inputs without rows.
    pub inputs: &'static [Input],
    /// The iterations.
    pub rows: &'static [Rows],
}

/// An input, or a column of rows.
#[derive(Clone, Copy, Debug)]
pub struct Input {
    /// Its name.
    pub name: &'static str,
    /// The word before the path or the text.
    pub kind: Option<&'static str>,
    /// The keys of its path.
    pub path: Option<&'static [&'static str]>,
    /// The text in the place of a path.
    pub text: Option<&'static str>,
    /// The conversions.
    pub convert: Option<&'static [&'static str]>,
    /// The test that has to hold, by name.
    pub guard: Option<&'static str>,
    /// What becomes of the event where a conversion fails.
    pub on_error: Option<&'static str>,
}

/// An iteration with its columns.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    /// Its name.
    pub name: &'static str,
    /// The word before the path or the text.
    pub kind: Option<&'static str>,
    /// The keys of its path.
    pub path: Option<&'static [&'static str]>,
    /// The text in the place of a path.
    pub text: Option<&'static str>,
    /// The iteration around, by name.
    pub within: Option<&'static str>,
    /// What has to hold of an element.
    pub condition: Option<&'static str>,
    /// The test that has to hold, by name.
    pub guard: Option<&'static str>,
    /// The columns.
    pub columns: &'static [Input],
}

/// A text that there is one of or none.
#[must_use]
pub const fn first(all: &[&'static str]) -> Option<&'static str> {
    match all {
        [first, ..] => Some(*first),
        [] => None,
    }
}

/// A list that there is one of or none.
#[must_use]
pub const fn first_list(all: &[&'static [&'static str]]) -> Option<&'static [&'static str]> {
    match all {
        [first, ..] => Some(*first),
        [] => None,
    }
}

/// How many bytes the section has.
#[must_use]
pub const fn section_length(declaration: &Declaration) -> usize {
    declaration.check();
    let mut sink = Sink::<0>::new();
    declaration.write(&mut sink);
    if sink.at > MAX_SECTION {
        refuse(&["the declaration: expected at most 256 KiB of JSON, found more"]);
    }
    sink.at
}

/// The section: of `N` bytes, as [`section_length`] tells.
#[must_use]
pub const fn section<const N: usize>(declaration: &Declaration) -> [u8; N] {
    let mut sink = Sink::<N>::new();
    declaration.write(&mut sink);
    assert!(sink.at == N, "the section has the length that was measured");
    sink.bytes
}

impl Declaration {
    const fn check(&self) {
        check_function(plain(self.function));
        if self.event_types.is_empty() || self.event_types.len() > MAX_EVENT_TYPES {
            refuse(&["event_types: expected 1 to 1024 of them"]);
        }
        let mut index = 0;
        while index < self.event_types.len() {
            let event_type = self.event_types[index];
            if event_type.is_empty() || event_type.len() > MAX_EVENT_TYPE {
                refuse(&["event_types: expected 1 to 1024 bytes in each"]);
            }
            index += 1;
        }
        if let Some(event_type) = first_twice(self.event_types) {
            refuse(&["event_types: expected each once, found \"", event_type, "\" twice"]);
        }
        check_word("on_duplicate", self.on_duplicate, &["last", "reject"]);
        check_word("empty", self.empty, &["value", "absent"]);
        let mut inputs = self.inputs.len();
        let mut index = 0;
        while index < self.rows.len() {
            inputs += self.rows[index].columns.len();
            index += 1;
        }
        if inputs > MAX_INPUTS {
            refuse(&["inputs: expected at most 1024 with all columns, found more"]);
        }
        if self.rows.len() > MAX_ROWS {
            refuse(&["rows: expected at most 16 iterations, found more"]);
        }
    }

    const fn write<const N: usize>(&self, out: &mut Sink<N>) {
        out.text("{\"abi\":1,\"function\":");
        out.string(plain(self.function));
        out.text(",\"event_types\":");
        out.strings(self.event_types);
        out.text(",\"inputs\":[");
        self.write_inputs(out, self.inputs, None);
        let mut rows = 0;
        while rows < self.rows.len() {
            self.write_inputs(out, self.rows[rows].columns, Some(rows));
            rows += 1;
        }
        out.text("]");
        if !self.rows.is_empty() {
            out.text(",\"rows\":[");
            let mut rows = 0;
            while rows < self.rows.len() {
                if rows > 0 {
                    out.text(",");
                }
                self.write_rows(out, rows);
                rows += 1;
            }
            out.text("]");
        }
        out.member("on_duplicate", self.on_duplicate);
        out.member("empty", self.empty);
        out.member("time_zone", self.time_zone);
        out.text("}");
    }

    const fn write_inputs<const N: usize>(
        &self,
        out: &mut Sink<N>,
        inputs: &[Input],
        rows: Option<usize>,
    ) {
        let mut index = 0;
        while index < inputs.len() {
            if index > 0 || (rows.is_some() && out.last() == b'}') {
                out.text(",");
            }
            self.write_input(out, &inputs[index], index, rows);
            index += 1;
        }
    }

    const fn write_input<const N: usize>(
        &self,
        out: &mut Sink<N>,
        input: &Input,
        index: usize,
        rows: Option<usize>,
    ) {
        let depth = match rows {
            Some(rows) => self.depth(rows),
            None => 0,
        };
        out.text("{");
        match input.kind {
            None => out.path(input, depth),
            Some(kind) => {
                if let Some(up) = levels_up(kind) {
                    let level = if up == usize::MAX { Some(0) } else { depth.checked_sub(up) };
                    match level {
                        Some(level) => out.path(input, level),
                        None => refuse(&["input `", input.name, "`: there is no `", kind, "`"]),
                    }
                } else if same(kind, "truthy") {
                    out.path(input, depth);
                    out.text(",\"as\":\"truthy\"");
                } else if same(kind, "when") {
                    out.text("\"when\":");
                    out.json(input.name, input.text, b'{');
                } else if same(kind, "expression") {
                    out.expression(input.name, input.text, depth);
                } else if same(kind, "json") {
                    out.members(input.name, input.text);
                } else {
                    refuse(&[
                        "input `",
                        input.name,
                        "`: expected `event`, `parent`, `parent2`, `parent3`, `truthy`, `when`, \
                         `expression` or `json`, found `",
                        kind,
                        "`",
                    ]);
                }
            }
        }
        let takes_path = match input.kind {
            None => true,
            Some(kind) => levels_up(kind).is_some() || same(kind, "truthy"),
        };
        if takes_path && input.text.is_some() || !takes_path && input.path.is_some() {
            refuse(&["input `", input.name, "`: expected a path or a text, found the other one"]);
        }
        if let Some(steps) = input.convert {
            if steps.len() > MAX_ENTRIES {
                refuse(&["input `", input.name, "`: expected at most 256 conversions"]);
            }
            out.text(",\"as\":[");
            let mut step = 0;
            while step < steps.len() {
                if step > 0 {
                    out.text(",");
                }
                if starts_with(steps[step], b'{') {
                    out.json(input.name, Some(steps[step]), b'{');
                } else {
                    out.string(steps[step]);
                }
                step += 1;
            }
            out.text("]");
        }
        if let Some(rows) = rows {
            out.text(",\"rows\":");
            out.number(rows);
        }
        if let Some(guard) = input.guard {
            out.text(",\"if\":");
            let place = match rows {
                Some(rows) => match position(self.rows[rows].columns, index, guard) {
                    Some(place) => Some(self.first_column(rows) + place),
                    None => position(self.inputs, self.inputs.len(), guard),
                },
                None => position(self.inputs, index, guard),
            };
            match place {
                Some(place) => out.number(place),
                None => refuse(&["input `", input.name, "`: no earlier input is `", guard, "`"]),
            }
        }
        if let Some(on_error) = input.on_error {
            if !same(on_error, "reject") {
                refuse(&["input `", input.name, "`: expected `or reject`"]);
            }
            out.member("on_error", Some("reject"));
        }
        out.text("}");
    }

    const fn write_rows<const N: usize>(&self, out: &mut Sink<N>, index: usize) {
        let rows = &self.rows[index];
        let around = self.within(index);
        out.text("{");
        match (rows.kind, rows.path) {
            (None, Some(path)) => out.list("array", rows.name, path),
            (Some(kind), Some(path)) if same(kind, "entries") => {
                out.list("entries", rows.name, path)
            }
            (Some(kind), None) if same(kind, "expression") => {
                let level = match around {
                    Some(around) => self.depth(around),
                    None => 0,
                };
                out.expression(rows.name, rows.text, level);
            }
            (Some(kind), None) if same(kind, "json") => out.members(rows.name, rows.text),
            _ => refuse(&[
                "rows `",
                rows.name,
                "`: expected `each [..]`, `each entries [..]`, `each expression \"..\"` or \
                 `each json \"..\"`",
            ]),
        }
        if rows.path.is_some() && rows.text.is_some() {
            refuse(&["rows `", rows.name, "`: expected a path or a text, found both"]);
        }
        if let Some(around) = around {
            out.text(",\"within\":");
            out.number(around);
        }
        if let Some(condition) = rows.condition {
            out.text(",\"where\":");
            out.json(rows.name, Some(condition), b'{');
        }
        if let Some(guard) = rows.guard {
            out.text(",\"if\":");
            match position(self.inputs, self.inputs.len(), guard) {
                Some(place) => out.number(place),
                None => refuse(&["rows `", rows.name, "`: no input is `", guard, "`"]),
            }
        }
        out.text("}");
    }

    /// The slot of the first column.
    const fn first_column(&self, rows: usize) -> usize {
        let mut first = self.inputs.len();
        let mut earlier = 0;
        while earlier < rows {
            first += self.rows[earlier].columns.len();
            earlier += 1;
        }
        first
    }

    /// How many iterations there are around an element, itself included.
    pub(crate) const fn depth(&self, rows: usize) -> usize {
        let mut depth = 1;
        let mut at = rows;
        // Each is within an earlier one.
        while let Some(around) = self.within(at) {
            depth += 1;
            at = around;
        }
        depth
    }

    /// The place of the iteration around.
    pub(crate) const fn within(&self, rows: usize) -> Option<usize> {
        let Some(name) = self.rows[rows].within else { return None };
        let mut earlier = 0;
        while earlier < rows {
            if same(self.rows[earlier].name, name) {
                return Some(earlier);
            }
            earlier += 1;
        }
        refuse(&["rows `", self.rows[rows].name, "`: no earlier rows are `", name, "`"])
    }
}

/// How many levels further out a path with this word before it starts; `usize::MAX` for the event.
pub(crate) const fn levels_up(kind: &str) -> Option<usize> {
    if same(kind, "event") {
        Some(usize::MAX)
    } else if same(kind, "parent") {
        Some(1)
    } else if same(kind, "parent2") {
        Some(2)
    } else if same(kind, "parent3") {
        Some(3)
    } else {
        None
    }
}

/// The place of an input with this name among the first few.
const fn position(inputs: &[Input], before: usize, name: &str) -> Option<usize> {
    let mut index = 0;
    while index < before {
        if same(inputs[index].name, name) {
            return Some(index);
        }
        index += 1;
    }
    None
}

/// A name without the `r#` that makes one of a keyword.
const fn plain(name: &str) -> &str {
    match name.as_bytes() {
        [b'r', b'#', ..] => name.split_at(2).1,
        _ => name,
    }
}

/// Names that are the ABI's, or those of functions that the compiler calls.
const RESERVED: &[&str] =
    &["memory", "_start", "_initialize", "main", "memcpy", "memmove", "memset", "memcmp", "bcmp"];

const fn check_function(name: &str) {
    let bytes = name.as_bytes();
    let mut index = 0;
    while index < bytes.len() {
        if !(bytes[index].is_ascii_alphanumeric() || bytes[index] == b'_') {
            refuse(&[
                "function: expected ASCII letters, digits and underscores, found `",
                name,
                "`",
            ]);
        }
        index += 1;
    }
    let mut reserved = 0;
    while reserved < RESERVED.len() {
        if same(RESERVED[reserved], name) {
            refuse(&["function: `", name, "` is reserved"]);
        }
        reserved += 1;
    }
    let prefix = b"retort_";
    let mut index = 0;
    while index < prefix.len() && index < bytes.len() && bytes[index] == prefix[index] {
        index += 1;
    }
    if index == prefix.len() {
        refuse(&["function: names that begin with retort_ are reserved, found `", name, "`"]);
    }
}

const fn check_word(what: &str, found: Option<&str>, allowed: &[&str]) {
    let Some(found) = found else { return };
    let mut index = 0;
    while index < allowed.len() {
        if same(allowed[index], found) {
            return;
        }
        index += 1;
    }
    refuse(&[
        what,
        ": expected \"",
        allowed[0],
        "\" or \"",
        allowed[1],
        "\", found \"",
        found,
        "\"",
    ]);
}

pub(crate) const fn same(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    if left.len() != right.len() {
        return false;
    }
    let mut index = 0;
    while index < left.len() {
        if left[index] != right[index] {
            return false;
        }
        index += 1;
    }
    true
}

const fn starts_with(text: &str, byte: u8) -> bool {
    matches!(text.as_bytes(), [first, ..] if *first == byte)
}

/// Ends the build with a message that is put together.
const fn refuse(pieces: &[&str]) -> ! {
    let mut text = [b' '; 400];
    let mut at = 0;
    let mut piece = 0;
    while piece < pieces.len() {
        let bytes = pieces[piece].as_bytes();
        let mut index = 0;
        while index < bytes.len() && at < text.len() {
            text[at] = if bytes[index].is_ascii() { bytes[index] } else { b'?' };
            at += 1;
            index += 1;
        }
        piece += 1;
    }
    let (text, _) = text.split_at(at);
    match core::str::from_utf8(text) {
        Ok(text) => panic!("{}", text),
        Err(_) => panic!("the declaration can't be made"),
    }
}

/// Where the JSON goes; with an `N` of 0, nowhere, so that it is only counted.
struct Sink<const N: usize> {
    bytes: [u8; N],
    at: usize,
    latest: u8,
}

impl<const N: usize> Sink<N> {
    const fn new() -> Self {
        Self { bytes: [0; N], at: 0, latest: 0 }
    }

    const fn last(&self) -> u8 {
        self.latest
    }

    const fn byte(&mut self, byte: u8) {
        if self.at < N {
            self.bytes[self.at] = byte;
        }
        self.at += 1;
        self.latest = byte;
    }

    const fn text(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut index = 0;
        while index < bytes.len() {
            self.byte(bytes[index]);
            index += 1;
        }
    }

    const fn string(&mut self, text: &str) {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        self.byte(b'"');
        let bytes = text.as_bytes();
        let mut index = 0;
        while index < bytes.len() {
            match bytes[index] {
                byte @ (b'"' | b'\\') => {
                    self.byte(b'\\');
                    self.byte(byte);
                }
                byte @ 0..=0x1f => {
                    self.text("\\u00");
                    self.byte(HEX[(byte >> 4) as usize]);
                    self.byte(HEX[(byte & 15) as usize]);
                }
                byte => self.byte(byte),
            }
            index += 1;
        }
        self.byte(b'"');
    }

    const fn strings(&mut self, all: &[&str]) {
        self.text("[");
        let mut index = 0;
        while index < all.len() {
            if index > 0 {
                self.text(",");
            }
            self.string(all[index]);
            index += 1;
        }
        self.text("]");
    }

    const fn number(&mut self, number: usize) {
        if number >= 10 {
            self.number(number / 10);
        }
        self.byte(b'0' + (number % 10) as u8);
    }

    const fn member(&mut self, key: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.text(",");
            self.string(key);
            self.text(":");
            self.string(value);
        }
    }

    const fn list(&mut self, key: &str, name: &str, path: &[&str]) {
        if path.len() > MAX_PATH {
            refuse(&["`", name, "`: expected at most 127 keys in a path"]);
        }
        self.string(key);
        self.text(":");
        self.strings(path);
    }

    const fn path(&mut self, input: &Input, level: usize) {
        match input.path {
            Some(path) => self.list("path", input.name, path),
            None => refuse(&["input `", input.name, "`: expected a path, `[\"key\", ..]`"]),
        }
        if level > 0 {
            self.text(",\"level\":");
            self.number(level);
        }
    }

    const fn expression(&mut self, name: &str, text: Option<&str>, level: usize) {
        let Some(text) = text else {
            refuse(&["`", name, "`: expected `expression \"..\"`"]);
        };
        self.text("\"expression\":{\"text\":");
        self.string(text);
        if level > 0 {
            self.text(",\"level\":");
            self.number(level);
        }
        self.text("}");
    }

    /// The members of a JSON object, without its braces.
    const fn members(&mut self, name: &str, text: Option<&str>) {
        let text = checked(name, text, b'{');
        let bytes = text.as_bytes();
        let mut index = 1;
        while index + 1 < bytes.len() {
            self.byte(bytes[index]);
            index += 1;
        }
    }

    const fn json(&mut self, name: &str, text: Option<&str>, begin: u8) {
        let text = checked(name, text, begin);
        self.text(text);
    }
}

/// JSON as a literal, as far as it is looked at here: it begins with its bracket and ends where that is closed, its strings end,
/// and there is no control character. The rest is the host's to judge.
const fn checked<'a>(name: &str, text: Option<&'a str>, begin: u8) -> &'a str {
    let Some(text) = text else { refuse(&["`", name, "`: expected a text of JSON"]) };
    if !starts_with(text, begin) {
        refuse(&[
            "`",
            name,
            "`: expected a JSON object that begins with its brace, found other text",
        ]);
    }
    let bytes = text.as_bytes();
    let mut open = [0u8; MAX_DEPTH];
    let mut depth = 0;
    let mut in_string = false;
    let mut index = 0;
    while index < bytes.len() {
        let byte = bytes[index];
        if byte < b' ' && (in_string || !matches!(byte, b'\n' | b'\t' | b'\r')) {
            refuse(&["`", name, "`: expected JSON, found a control character in it"]);
        }
        if in_string {
            if byte == b'\\' {
                index += 1;
            } else if byte == b'"' {
                in_string = false;
            }
        } else {
            match byte {
                b'"' => in_string = true,
                b'{' | b'[' => {
                    if depth == MAX_DEPTH {
                        refuse(&["`", name, "`: expected at most 128 levels of JSON"]);
                    }
                    open[depth] = byte;
                    depth += 1;
                }
                b'}' | b']' => {
                    // In ASCII a closing bracket is two behind its opening one.
                    if depth == 0 || open[depth - 1] + 2 != byte {
                        refuse(&["`", name, "`: expected JSON, found a bracket that closes none"]);
                    }
                    depth -= 1;
                    if depth == 0 && index + 1 < bytes.len() {
                        refuse(&["`", name, "`: expected one JSON object, found more behind it"]);
                    }
                }
                _ => {}
            }
        }
        index += 1;
    }
    if depth > 0 || in_string {
        refuse(&["`", name, "`: expected JSON, found text that breaks off"]);
    }
    text
}
