//! The steps of a bundle's case: what somebody does to files who can write to the directory.

use std::fmt::Display;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};
use rustix::fs::{FileType, Mode, mknodat};
use wasmtime::Engine;

use super::expand::unescaped;
use super::good_bundle::GoodBundle;
use super::manifest;
use crate::render::compile::compile_text;
use crate::sandbox::files;

/// One step: a verb, a file and what there is besides. Files are named from the bundle's directory; `..` leads to the
/// directory of bundles, and nothing leads out of that.
#[derive(Debug)]
pub(super) struct CaseStep {
    take: Take,
    words: Vec<String>,
}

/// Takes a step on the file of a name with the words after that, as many as the verb has; or says why it can't be taken.
type Take = fn(&CaseFiles<'_>, &str, &[String]) -> Result<(), StepError>;

/// Why a step can't be taken.
type StepError = Box<dyn std::error::Error>;

/// Each verb, with how many words follow: the first is a file's name.
const VERBS: &[(&str, usize, Take)] = &[
    ("append", 2, |files, name, rest| {
        files.edit(name, |content| content.extend(unescaped(&rest[0])))
    }),
    ("copy", 2, |files, name, rest| files.write(&rest[0], &files.read(name)?)),
    ("directory", 1, |files, name, _| Ok(files.dir.create_dir(files.path(name))?)),
    ("flip", 2, |files, name, rest| {
        let at: usize = number(&rest[0])?;
        files.edit(name, |content| {
            if let Some(byte) = content.get_mut(at) {
                *byte ^= 1;
            }
        })
    }),
    ("hard-link", 2, |files, name, rest| {
        Ok(files.dir.hard_link(files.path(&rest[0]), &files.dir, files.path(name))?)
    }),
    ("link", 2, |files, name, rest| Ok(files.dir.symlink_contents(&rest[0], files.path(name))?)),
    ("module", 2, |files, name, rest| files.write(name, &compile_text(&rest[0])?)),
    ("move", 2, |files, name, rest| {
        Ok(files.dir.rename(files.path(name), &files.dir, files.path(&rest[0]))?)
    }),
    ("native", 1, |files, name, _| {
        files.write(name, &Engine::default().precompile_module(&files.read(MODULE)?)?)
    }),
    ("pipe", 1, |files, name, _| {
        let mode = Mode::RUSR | Mode::WUSR;
        Ok(mknodat(&files.dir, files.path(name), FileType::Fifo, mode, 0)?)
    }),
    ("remove", 1, |files, name, _| Ok(files.remove(name)?)),
    ("replace", 3, |files, name, rest| {
        let mut is_there = false;
        files.edit(name, |content| {
            is_there = replace(content, &unescaped(&rest[0]), &unescaped(&rest[1]));
        })?;
        if is_there { Ok(()) } else { Err("what is to be replaced isn't there".into()) }
    }),
    ("resize", 2, |files, name, rest| {
        let length = number(&rest[0])?;
        let file = files.dir.open_with(files.path(name), OpenOptions::new().write(true))?;
        Ok(file.set_len(length)?)
    }),
    ("seal", 0, |files, _, _| Ok(manifest::seal(files.good.path())?)),
    ("swap", 2, |files, name, rest| files.swap(name, &rest[0])),
    ("write", 2, |files, name, rest| files.write(name, &unescaped(&rest[0]))),
];

impl CaseStep {
    /// Reads a line: words as a shell has them.
    ///
    /// # Errors
    /// Why it is none.
    pub(super) fn parse(line: &str) -> Result<Self, String> {
        let mut words = shlex::split(line).ok_or("a quote without an end")?.into_iter();
        let verb = words.next().unwrap_or_default();
        let Some((_, count, take)) = VERBS.iter().find(|(name, ..)| *name == verb) else {
            return Err("there is no such step".to_owned());
        };
        let words: Vec<String> = words.collect();
        if words.len() != *count {
            return Err(format!("expected {count} words after the verb, found {}", words.len()));
        }
        Ok(Self { take: *take, words })
    }

    /// Takes the step.
    ///
    /// # Errors
    /// Why it can't be taken.
    pub(super) fn take(&self, good: &GoodBundle) -> Result<(), String> {
        let files = CaseFiles::of(good).map_err(|error| error.to_string())?;
        let (name, rest) =
            self.words.split_first().map_or(("", &[][..]), |(name, rest)| (name, rest));
        let name = String::from_utf8(unescaped(name)).map_err(|error| error.to_string())?;
        (self.take)(&files, &name, rest).map_err(|error| error.to_string())
    }
}

/// The module of the good bundle.
const MODULE: &str = "extractor.wasm";

fn number<T: FromStr<Err: Display>>(word: &str) -> Result<T, String> {
    word.parse().map_err(|error| format!("{word}: {error}"))
}

/// Replaces the first occurrence, if there is one.
fn replace(content: &mut Vec<u8>, old: &[u8], new: &[u8]) -> bool {
    let Some(at) = memchr::memmem::find(content, old) else { return false };
    content.splice(at..at + old.len(), new.iter().copied());
    true
}

/// The files of a bundle and of its neighbours.
struct CaseFiles<'g> {
    dir: Dir,
    good: &'g GoodBundle,
}

impl<'g> CaseFiles<'g> {
    fn of(good: &'g GoodBundle) -> io::Result<Self> {
        Ok(Self { dir: Dir::open_ambient_dir(good.root(), ambient_authority())?, good })
    }

    fn path(&self, name: &str) -> PathBuf {
        Path::new(self.good.path().file_name().unwrap_or_default()).join(name)
    }

    fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        self.dir.read(self.path(name))
    }

    /// Puts a new file in the place of whatever has this name.
    fn write(&self, name: &str, content: &[u8]) -> Result<(), StepError> {
        match self.remove(name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        Ok(self.dir.open_with(self.path(name), &options)?.write_all(content)?)
    }

    fn edit(&self, name: &str, change: impl FnOnce(&mut Vec<u8>)) -> Result<(), StepError> {
        let mut content = self.read(name)?;
        change(&mut content);
        self.write(name, &content)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        files::remove(&self.dir, self.path(name))
    }

    fn swap(&self, one: &str, other: &str) -> Result<(), StepError> {
        let (first, second) = (self.read(one)?, self.read(other)?);
        self.write(one, &second)?;
        self.write(other, &first)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;

    #[test]
    fn a_step_is_a_verb_and_its_words() {
        let step = CaseStep::parse(r#"replace plan.json '"a": 1' '\x00 b'"#).unwrap();
        assert_eq!(step.words, ["plan.json", "\"a\": 1", "\\x00 b"]);
        for (line, says) in [
            ("", "no such step"),
            ("burn x", "no such step"),
            ("write x", "expected 2 words"),
            ("seal x", "expected 0 words"),
            ("write x 'y", "a quote without an end"),
        ] {
            let error = CaseStep::parse(line).unwrap_err();
            assert!(error.contains(says), "{line}: {error}");
        }
    }

    #[test]
    fn the_first_occurrence_is_replaced() {
        let mut content = b"abcabc".to_vec();
        assert!(replace(&mut content, b"bc", b"X"));
        assert_eq!(content, b"aXabc");
        assert!(!replace(&mut content, b"Y", b""));
    }
}
