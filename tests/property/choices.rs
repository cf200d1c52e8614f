//! Choices that are made by bytes.

/// A list of bytes, of which each choice takes one. The first of what there is to choose from is the plainest, and it is
/// what is chosen once there are no bytes left: so fewer and smaller bytes make simpler cases.
pub(crate) struct Choices<'b> {
    bytes: std::slice::Iter<'b, u8>,
}

impl<'b> Choices<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Self { bytes: bytes.iter() }
    }

    fn next(&mut self) -> u8 {
        self.bytes.next().copied().unwrap_or(0)
    }

    /// A number below `count`, which is 256 at most.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        usize::from(self.next()) % count
    }

    /// Yes in `of` of 256 cases.
    pub(crate) fn chance(&mut self, of: u16) -> bool {
        u16::from(self.next()) + of >= 256
    }

    pub(crate) fn pick<'t, T>(&mut self, all: &'t [T]) -> &'t T {
        &all[self.below(all.len())]
    }
}

/// Keys that mean something to the plan, to the text formats on the way, or to a careless reader.
const ODD_KEYS: &[&str] = &[
    "event_type",
    "session_id",
    "span_id",
    "key",
    "value",
    "a.b",
    "0",
    "é",
    "🙂",
    "\"",
    "\\",
    "\n",
    "\0",
    "{",
    "}",
    "$",
    "^x",
    ";;",
    ") (func)",
    "\u{202e}",
    "\u{feff}",
    "\\u0061",
    // Alike in what the projector compares first: a sketch of length and ends, and the first eight bytes.
    "aaaaaaaa",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
];

pub(crate) fn key(choices: &mut Choices<'_>) -> String {
    if choices.chance(64) {
        (*choices.pick(ODD_KEYS)).to_owned()
    } else {
        (*choices.pick(&["a", "b", "id", "kind", "at", "name"])).to_owned()
    }
}

/// Texts that something is made of, or that look like it.
pub(crate) const TEXTS: &[&str] = &[
    "a",
    "b",
    "",
    "refs/tags/v12",
    "v12",
    " Trim Me ",
    "12",
    "-7",
    "true",
    "False",
    "1557933657",
    "2019-05-15T15:20:57.250+02:00",
    "2019-05-15",
    "{\"a\":{\"b\":1},\"b\":null}",
    "[1,\"é\"]",
    "\",\"node_id\":\"x",
    "a:b=c,d",
    "{a}",
    "İß🙂",
    "\u{202e}",
];

/// Numbers as an event writes them.
pub(crate) const NUMBERS: &[&str] = &[
    "1",
    "0",
    "-0",
    "0.0",
    "-0.0e5",
    "1e-400",
    "-17",
    "1.50",
    "1E5",
    "2.5e+3",
    "1557933657",
    "1557933657250",
    "9007199254740993",
    "18446744073709551616",
    "123456789012345678901234567890.123456789",
    "1.7976931348623157e308",
];
