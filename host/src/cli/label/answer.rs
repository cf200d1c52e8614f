//! What a person says of a result.

use std::io::{self, BufRead, Write};

use crate::cli::error::CliError;

/// What is to be done with a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Accept,
    Skip,
    Quit,
}

impl Answer {
    /// The answer on a line; none where it is another one.
    fn read(line: &str) -> Option<Self> {
        match line.trim().to_ascii_lowercase().as_str() {
            "a" | "accept" | "y" | "yes" => Some(Self::Accept),
            "s" | "skip" | "n" | "no" => Some(Self::Skip),
            "q" | "quit" => Some(Self::Quit),
            _ => None,
        }
    }
}

/// Asks on stderr until there is an answer on stdin. Where stdin ends, there is none to be had.
pub(super) fn ask() -> Result<Answer, CliError> {
    let mut input = io::stdin().lock();
    loop {
        let mut stderr = anstream::stderr();
        // There is nowhere left to report that stderr can't be written.
        let _ = write!(stderr, "a accept, s skip, q quit: ").and_then(|()| stderr.flush());
        let mut line = Vec::new();
        let read = io::Read::take(&mut input, MAX_LINE_BYTES).read_until(b'\n', &mut line);
        match read {
            Ok(0) => return Ok(Answer::Quit),
            Ok(_) => {}
            Err(source) => {
                let (path, expected) = ("stdin".into(), "an answer");
                return Err(CliError::FileNotReadable { path, expected, source });
            }
        }
        if let Some(answer) = Answer::read(&String::from_utf8_lossy(&line)) {
            return Ok(answer);
        }
    }
}

/// How long a line is that is read at once.
const MAX_LINE_BYTES: u64 = 1_024;

#[cfg(test)]
mod tests {
    use super::Answer;

    #[test]
    fn an_answer_is_a_key_or_a_word() {
        for (line, expected) in [
            ("a\n", Some(Answer::Accept)),
            (" Accept ", Some(Answer::Accept)),
            ("s", Some(Answer::Skip)),
            ("Q\r\n", Some(Answer::Quit)),
            ("", None),
            ("ab", None),
        ] {
            assert_eq!(Answer::read(line), expected, "{line:?}");
        }
    }
}
