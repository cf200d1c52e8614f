//! The steps of a bundle's case: what somebody does to files who can write to the directory.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};
use rustix::fs::{FileType, Mode, mknodat};
use wasmtime::Engine;

use super::expand::unescaped;
use super::good_bundle::GoodBundle;
use super::manifest;

/// One step: a verb, a file and what there is besides. Files are named from the bundle's directory; `..` leads to the
/// directory of bundles, and nothing leads out of that.
#[derive(Debug)]
pub(super) struct CaseStep {
    verb: Verb,
    words: Vec<String>,
}

/// What a step does, with how many words follow.
#[derive(Clone, Copy, Debug)]
enum Verb {
    Append,
    Copy,
    Directory,
    Flip,
    HardLink,
    Link,
    Module,
    Move,
    Native,
    Pipe,
    Remove,
    Replace,
    Resize,
    Seal,
    Swap,
    Write,
}

const VERBS: &[(&str, Verb, usize)] = &[
    ("append", Verb::Append, 2),
    ("copy", Verb::Copy, 2),
    ("directory", Verb::Directory, 1),
    ("flip", Verb::Flip, 2),
    ("hard-link", Verb::HardLink, 2),
    ("link", Verb::Link, 2),
    ("module", Verb::Module, 2),
    ("move", Verb::Move, 2),
    ("native", Verb::Native, 1),
    ("pipe", Verb::Pipe, 1),
    ("remove", Verb::Remove, 1),
    ("replace", Verb::Replace, 3),
    ("resize", Verb::Resize, 2),
    ("seal", Verb::Seal, 0),
    ("swap", Verb::Swap, 2),
    ("write", Verb::Write, 2),
];

impl CaseStep {
    /// Reads a line: words as a shell has them.
    ///
    /// # Errors
    /// Why it is none.
    pub(super) fn parse(line: &str) -> Result<Self, String> {
        let mut words = shlex::split(line).ok_or("a quote without an end")?.into_iter();
        let verb = words.next().unwrap_or_default();
        let Some((_, verb, count)) = VERBS.iter().find(|(name, ..)| *name == verb) else {
            return Err("there is no such step".to_owned());
        };
        let words: Vec<String> = words.collect();
        if words.len() != *count {
            return Err(format!("expected {count} words after the verb, found {}", words.len()));
        }
        Ok(Self { verb: *verb, words })
    }

    /// Takes the step.
    ///
    /// # Errors
    /// Why it can't be taken.
    pub(super) fn take(&self, good: &GoodBundle) -> Result<(), String> {
        let files = CaseFiles::of(good).map_err(|error| error.to_string())?;
        let word = |index: usize| self.words.get(index).map_or("", String::as_str);
        let bytes = |index: usize| unescaped(word(index));
        let name = String::from_utf8(bytes(0)).map_err(|error| error.to_string())?;
        let name = name.as_str();
        let done = match self.verb {
            Verb::Append => files.edit(name, |content| content.extend(bytes(1))),
            Verb::Copy => files.read(name).and_then(|content| files.write(word(1), &content)),
            Verb::Directory => files.dir.create_dir(files.path(name)),
            Verb::Flip => {
                let at: usize = number(word(1))?;
                files.edit(name, |content| {
                    if let Some(byte) = content.get_mut(at) {
                        *byte ^= 1;
                    }
                })
            }
            Verb::HardLink => {
                files.dir.hard_link(files.path(word(1)), &files.dir, files.path(name))
            }
            Verb::Link => files.dir.symlink_contents(word(1), files.path(name)),
            Verb::Module => {
                let module = crate::render::compile::compile_text(word(1))
                    .map_err(|error| error.to_string())?;
                files.write(name, &module)
            }
            Verb::Move => files.dir.rename(files.path(name), &files.dir, files.path(word(1))),
            Verb::Native => {
                let module = files.read(MODULE).map_err(|error| error.to_string())?;
                let code = Engine::default().precompile_module(&module);
                files.write(name, &code.map_err(|error| error.to_string())?)
            }
            Verb::Pipe => {
                let path = files.path(name);
                let mode = Mode::RUSR | Mode::WUSR;
                mknodat(&files.dir, path, FileType::Fifo, mode, 0).map_err(io::Error::from)
            }
            Verb::Remove => files.remove(name),
            Verb::Replace => {
                let mut is_there = false;
                let replaced = files.edit(name, |content| {
                    is_there = replace(content, &bytes(1), &bytes(2));
                });
                if !is_there {
                    return Err("what is to be replaced isn't there".to_owned());
                }
                replaced
            }
            Verb::Resize => {
                let length = number(word(1))?;
                let mut options = OpenOptions::new();
                let file = files.dir.open_with(files.path(name), options.write(true));
                file.and_then(|file| file.set_len(length))
            }
            Verb::Seal => manifest::seal(good.path()),
            Verb::Swap => files.swap(name, word(1)),
            Verb::Write => files.write(name, &bytes(1)),
        };
        done.map_err(|error| error.to_string())
    }
}

/// The module of the good bundle.
const MODULE: &str = "extractor.wasm";

fn number<T: std::str::FromStr>(word: &str) -> Result<T, String>
where
    T::Err: std::fmt::Display,
{
    word.parse().map_err(|error| format!("{word}: {error}"))
}

/// Replaces the first occurrence, if there is one.
fn replace(content: &mut Vec<u8>, old: &[u8], new: &[u8]) -> bool {
    let Some(at) = memchr::memmem::find(content, old) else { return false };
    content.splice(at..at + old.len(), new.iter().copied());
    true
}

/// The files of a bundle and of its neighbours.
struct CaseFiles {
    dir: Dir,
    bundle: PathBuf,
}

impl CaseFiles {
    fn of(good: &GoodBundle) -> io::Result<Self> {
        let dir = Dir::open_ambient_dir(good.root(), ambient_authority())?;
        let bundle = good.path().file_name().map(PathBuf::from).unwrap_or_default();
        Ok(Self { dir, bundle })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.bundle.join(Path::new(name))
    }

    fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        self.dir.read(self.path(name))
    }

    /// Puts a new file in the place of whatever has this name.
    fn write(&self, name: &str, content: &[u8]) -> io::Result<()> {
        match self.remove(name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        self.dir.open_with(self.path(name), &options)?.write_all(content)
    }

    fn edit(&self, name: &str, change: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        let mut content = self.read(name)?;
        change(&mut content);
        self.write(name, &content)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let path = self.path(name);
        if self.dir.symlink_metadata(&path)?.is_dir() {
            self.dir.remove_dir_all(path)
        } else {
            self.dir.remove_file(path)
        }
    }

    fn swap(&self, one: &str, other: &str) -> io::Result<()> {
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
