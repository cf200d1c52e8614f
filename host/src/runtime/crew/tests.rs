//! What holds of threads whatever serves the lines.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::io;
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, mpsc};
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::runtime::error::StreamError;
use crate::runtime::outputs::{Observer, Progress, Writers};
use crate::runtime::sink::LineWriters;
use crate::runtime::source::StreamPosition;
use crate::runtime::summary::Summary;

const LIMIT: usize = 12;

/// Bytes of a chunk, for a stream that is stopped without grace.
const IMPATIENT: usize = 123;

const BOUNDS: Bounds = Bounds { line: LIMIT, grace: Duration::from_secs(60) };

/// Gives each line back, and does what the line says.
struct Echo;

impl Serve for Echo {
    fn begin_input(&mut self) {}

    fn serve(&mut self, origin: &Origin, line: Line<'_>, output: &mut Output) {
        output.summary.events += 1;
        match line {
            Line::Whole { number, text } => {
                write!(output.out, "{}{number}:", origin.head).unwrap();
                if text.starts_with(b"p") {
                    output.summary.events -= 1;
                    // Unlike `panic!` it says nothing on stderr.
                    resume_unwind(Box::new("as it was told"));
                }
                if text.starts_with(b"s") {
                    thread::sleep(Duration::from_micros(200));
                }
                output.out.extend_from_slice(text);
                output.out.push(b'\n');
            }
            Line::TooLong { number, bytes } => {
                writeln!(output.rejects, "{}{number}: {bytes}", origin.head).unwrap();
            }
        }
    }

    fn recover(&mut self, origin: &Origin, number: u64, output: &mut Output) {
        writeln!(output.rejects, "{}{number} has panicked", origin.head).unwrap();
        *output.summary.rejects.entry("panicked").or_default() += 1;
        output.summary.events += 1;
    }
}

/// What a run wrote.
#[derive(Debug, Default, PartialEq, Eq)]
struct Written {
    out: Vec<u8>,
    rejects: Vec<u8>,
    summary: Summary,
}

/// How a run is set up.
#[derive(Clone, Copy, Debug)]
struct Way {
    threads: usize,
    is_ordered: bool,
    chunk_bytes: usize,
}

impl Way {
    /// Chunks of one length are left in the middle once the stream is stopped.
    fn bounds(self) -> Bounds {
        match self.chunk_bytes {
            IMPATIENT => Bounds { grace: Duration::ZERO, ..BOUNDS },
            _ => BOUNDS,
        }
    }
}

fn run_crew<R: Read + Send>(
    inputs: Vec<R>,
    way: Way,
    stop: Option<Arc<AtomicBool>>,
    observer: Option<&mut Observer<'_>>,
) -> (Written, Result<bool, StreamError>) {
    let mut written = Written::default();
    let Written { out, rejects, summary } = &mut written;
    let ended = run_into(inputs, way, stop, observer, (out, rejects, summary));
    (written, ended)
}

fn run_into<R: Read + Send, O: Write + Send, J: Write + Send>(
    inputs: Vec<R>,
    way: Way,
    stop: Option<Arc<AtomicBool>>,
    observer: Option<&mut Observer<'_>>,
    (out, rejects, summary): (&mut O, &mut J, &mut Summary),
) -> Result<bool, StreamError> {
    let inputs = inputs.into_iter().enumerate();
    let inputs = inputs.map(|(index, reader)| StreamInput::new(reader).named(index.to_string()));
    let source = Source::new(inputs, LIMIT, way.chunk_bytes, stop);
    let mut sink = LineWriters { out, rejects };
    let writers = Writers::new(&mut sink, summary, observer);
    let outputs = Outputs::new(writers, way.threads, way.is_ordered);
    let mut servers: Vec<Echo> = (0..way.threads).map(|_| Echo).collect();
    let source = run(&mut servers, source, way.bounds(), &outputs);
    Ok(outputs.into_whole()? & source.into_ended()?)
}

/// The same, line by line.
fn expected(inputs: &[Vec<u8>]) -> Written {
    let mut written = Written::default();
    for (index, input) in inputs.iter().enumerate() {
        for (line, text) in (1..).zip(input.split(|byte| *byte == b'\n')) {
            if text.trim_ascii().is_empty() {
                continue;
            }
            let head = format!("{{\"file\":\"{index}\",\"line\":{line}");
            written.summary.events += 1;
            if text.len() > LIMIT {
                writeln!(written.rejects, "{head}: {}", text.len()).unwrap();
            } else if text.starts_with(b"p") {
                writeln!(written.rejects, "{head} has panicked").unwrap();
                *written.summary.rejects.entry("panicked").or_default() += 1;
            } else {
                write!(written.out, "{head}:").unwrap();
                written.out.extend_from_slice(text);
                written.out.push(b'\n');
            }
        }
    }
    written
}

fn sorted(text: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    lines.sort_unstable();
    lines
}

/// Gives what it has in reads of these lengths, in turns; before one of length 0 it is interrupted.
struct Pieces {
    text: Vec<u8>,
    at: usize,
    lengths: Vec<usize>,
    reads: usize,
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.lengths[self.reads % self.lengths.len()];
        self.reads += 1;
        if length == 0 {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let rest = &self.text[self.at..];
        let length = length.min(buffer.len()).min(rest.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        self.at += length;
        Ok(length)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_the_same_whatever_the_threads_chunks_and_reads(
        inputs in prop::collection::vec("[aps\u{e9} \r\n]{0,120}", 0..4),
        lengths in prop::collection::vec(0usize..40, 1..5),
        threads in 1usize..9,
        chunk_bytes in 1usize..60,
        is_ordered: bool,
    ) {
        let inputs: Vec<Vec<u8>> = inputs.into_iter().map(String::into_bytes).collect();
        // One read at least has to bring something.
        let lengths = [lengths, vec![3]].concat();
        let pieces = inputs.iter().map(|text| {
            Pieces { text: text.clone(), at: 0, lengths: lengths.clone(), reads: 0 }
        });
        let way = Way { threads, is_ordered, chunk_bytes };
        let mut positions = Vec::new();
        let mut seen = (0, 0);
        let mut observer: Observer<'_> = Box::new(|progress: &Progress<'_>| {
            positions.extend(progress.position);
            seen = (progress.out_bytes, progress.rejects_bytes);
        });
        let (written, ended) = run_crew(pieces.collect(), way, None, Some(&mut observer));
        drop(observer);
        prop_assert!(ended.unwrap());
        let expected = expected(&inputs);
        prop_assert_eq!(&written.summary, &expected.summary);
        prop_assert_eq!(seen, (written.out.len() as u64, written.rejects.len() as u64));
        if is_ordered {
            prop_assert_eq!(&written, &expected);
            let place = |it: &StreamPosition| (it.input, it.at.offset, it.at.line);
            prop_assert!(positions.is_sorted_by_key(place), "{:?}", positions);
        } else {
            prop_assert_eq!(sorted(&written.out), sorted(&expected.out));
            prop_assert_eq!(sorted(&written.rejects), sorted(&expected.rejects));
        }
    }

    #[test]
    fn a_stream_goes_on_from_any_place_that_it_told(
        inputs in prop::collection::vec("[as \n]{0,60}", 1..4),
        chunk_bytes in 1usize..20,
        place in 0usize..40,
    ) {
        let inputs: Vec<Vec<u8>> = inputs.into_iter().map(String::into_bytes).collect();
        let mut places = Vec::new();
        let mut observer: Observer<'_> = Box::new(|progress: &Progress<'_>| {
            let summary = progress.summary.clone();
            places.push((progress.position.unwrap(), progress.out_bytes, progress.rejects_bytes, summary));
        });
        let way = Way { threads: 3, is_ordered: true, chunk_bytes };
        let readers = inputs.iter().map(Vec::as_slice).collect();
        let (whole, _) = run_crew(readers, way, None, Some(&mut observer));
        drop(observer);
        let Some((at, out, rejects, mut summary)) = places.get(place).cloned() else { return Ok(()) };
        let rest = inputs.iter().enumerate().skip(at.input).map(|(index, text)| {
            let begun = index == at.input;
            let input = StreamInput::new(&text[if begun { at.at.offset as usize } else { 0 }..]);
            let input = input.named(index.to_string());
            if begun { input.starting_at(at.at) } else { input }
        });
        let source = Source::new(rest, LIMIT, chunk_bytes, None);
        let mut written = (whole.out[..out as usize].to_vec(), whole.rejects[..rejects as usize].to_vec());
        let mut sink = LineWriters { out: &mut written.0, rejects: &mut written.1 };
        let writers = Writers::new(&mut sink, &mut summary, None);
        let outputs = Outputs::new(writers, 2, true);
        run(&mut [Echo, Echo], source, way.bounds(), &outputs);
        drop(outputs);
        prop_assert_eq!(written, (whole.out, whole.rejects));
        prop_assert_eq!(summary, whole.summary);
    }
}

const WAYS: [Way; 3] = [
    Way { threads: 1, is_ordered: true, chunk_bytes: 8 },
    Way { threads: 3, is_ordered: true, chunk_bytes: 8 },
    Way { threads: 3, is_ordered: false, chunk_bytes: 8 },
];

/// Lines without an end, counting the reads.
struct Endless<'a>(&'a AtomicUsize);

impl Read for Endless<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.fetch_add(1, Ordering::Relaxed);
        for (byte, text) in buffer.iter_mut().zip(b"aaaaaaa\n".iter().cycle()) {
            *byte = *text;
        }
        Ok(buffer.len())
    }
}

#[test]
fn a_writer_that_stands_still_stops_the_reader() {
    struct Still<'a>(&'a AtomicUsize, mpsc::Receiver<()>);
    impl Write for Still<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.fetch_add(1, Ordering::Relaxed);
            // Stands still until the other end is dropped, and says then that nobody reads it.
            self.1.recv().map_err(|_| io::ErrorKind::BrokenPipe)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    for way in WAYS {
        let (reads, writes) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let (go_on, still) = mpsc::sync_channel(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut before = usize::MAX;
                // As long as anything moves.
                while before != reads.load(Ordering::Relaxed) || writes.load(Ordering::Relaxed) == 0
                {
                    before = reads.load(Ordering::Relaxed);
                    thread::sleep(Duration::from_millis(100));
                }
                drop(go_on);
            });
            let mut out = Still(&writes, still);
            let mut summary = Summary::default();
            let sinks = (&mut out, &mut io::sink(), &mut summary);
            let ended = run_into(vec![Endless(&reads)], way, None, None, sinks);
            assert!(ended.unwrap_err().is_broken_pipe());
        });
        // One that each thread has, and what may be held.
        let most = way.threads + way.threads * 2;
        assert!(reads.into_inner() <= most, "{way:?}");
    }
}

#[test]
fn a_chunk_that_comes_to_much_is_written_in_parts_and_in_order() {
    /// Makes a million bytes of each line.
    struct Large;
    impl Serve for Large {
        fn begin_input(&mut self) {}
        fn serve(&mut self, _: &Origin, line: Line<'_>, output: &mut Output) {
            let Line::Whole { number, .. } = line else { return };
            output.out.resize(output.out.len() + 1_000_000, b'0');
            writeln!(output.out, "{number}").unwrap();
        }
        fn recover(&mut self, _: &Origin, _: u64, _: &mut Output) {}
    }
    /// Checks what is written, which comes in whole lines.
    #[derive(Default)]
    struct Checked(u64, usize);
    impl Write for Checked {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            for line in std::str::from_utf8(bytes).unwrap().split_terminator('\n') {
                self.0 += 1;
                assert_eq!(line.trim_start_matches('0'), self.0.to_string());
            }
            self.1 = self.1.max(bytes.len());
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let text = "a\n".repeat(60);
    let source = Source::new([StreamInput::new(text.as_bytes())].into_iter(), LIMIT, 40, None);
    let (mut out, mut summary) = (Checked::default(), Summary::default());
    let mut sink = LineWriters { out: &mut out, rejects: io::sink() };
    let outputs = Outputs::new(Writers::new(&mut sink, &mut summary, None), 3, true);
    run(&mut [Large, Large, Large], source, BOUNDS, &outputs);
    drop(outputs);
    assert_eq!(out.0, 60);
    assert!(out.1 <= PART_BYTES + 2_000_000, "{}", out.1);
}

#[test]
fn what_fails_ends_it_and_what_came_before_is_written() {
    struct Failing(&'static [u8]);
    impl Read for Failing {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match self.0.read(buffer)? {
                0 => Err(io::ErrorKind::TimedOut.into()),
                read => Ok(read),
            }
        }
    }
    for way in WAYS {
        let inputs = vec![Failing(b"s1\n\na2\na3\na4\na5\ncut"), Failing(b"never\n")];
        let (written, ended) = run_crew(inputs, way, None, None);
        let error = ended.unwrap_err();
        let told = "0: the events can't be read after line 6: ";
        assert!(error.to_string().starts_with(told), "{error}");
        let whole = expected(&[b"s1\n\na2\na3\na4\na5\n".to_vec()]);
        assert_eq!(sorted(&written.out), sorted(&whole.out), "{way:?}");
        assert_eq!(written.summary, whole.summary);
    }
}

#[test]
fn a_panic_outside_of_an_event_ends_all_threads() {
    struct Panicking;
    impl Read for Panicking {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            resume_unwind(Box::new("the reader"))
        }
    }
    impl Write for Panicking {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            resume_unwind(Box::new("the writer"))
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let message = |panicked: thread::Result<_>| {
        panicked.map(drop).unwrap_err().downcast_ref::<&str>().copied()
    };
    for way in WAYS {
        let panicked = catch_unwind(|| run_crew(vec![Panicking], way, None, None));
        assert_eq!(message(panicked.map(drop)), Some("the reader"));
        let reads = AtomicUsize::new(0);
        let panicked = catch_unwind(|| {
            let mut summary = Summary::default();
            let sinks = (&mut Panicking, &mut io::sink(), &mut summary);
            run_into(vec![Endless(&reads)], way, None, None, sinks).is_ok()
        });
        assert_eq!(message(panicked.map(drop)), Some("the writer"));
    }
}

#[test]
fn a_stream_that_is_stopped_writes_what_it_has_read() {
    /// Waits after its text until somebody wakes it, as a pipe would.
    struct Waiting<'a>(&'static [u8], &'a (Mutex<bool>, Condvar));
    impl Read for Waiting<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if !self.0.is_empty() {
                return self.0.read(buffer);
            }
            let mut woken = self.1.0.lock().unwrap();
            while !*woken {
                woken = self.1.1.wait(woken).unwrap();
            }
            Err(io::ErrorKind::Interrupted.into())
        }
    }
    for way in WAYS {
        let (stop, wake) = (Arc::new(AtomicBool::new(false)), (Mutex::new(false), Condvar::new()));
        let (written, ended) = thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(50));
                stop.store(true, Ordering::Relaxed);
                *wake.0.lock().unwrap() = true;
                wake.1.notify_all();
            });
            let inputs = vec![Waiting(b"a1\na2\na3\na4\nbegun", &wake)];
            run_crew(inputs, way, Some(Arc::clone(&stop)), None)
        });
        assert!(!ended.unwrap(), "{way:?}");
        let whole = expected(&[b"a1\na2\na3\na4\n".to_vec()]);
        assert_eq!(sorted(&written.out), sorted(&whole.out), "{way:?}");
        // Nothing is read of a stream that is stopped already.
        let (written, ended) = run_crew(vec![&b"a1\n"[..]], way, Some(stop), None);
        assert_eq!((written, ended.unwrap()), (Written::default(), false));
    }
}

#[test]
fn a_stream_that_is_stopped_leaves_a_chunk_that_takes_long() {
    let text = "s12345\n".repeat(2_000);
    let whole = expected(&[text.clone().into_bytes()]);
    for (threads, is_ordered) in [(1, true), (3, true), (3, false)] {
        let way = Way { threads, is_ordered, chunk_bytes: IMPATIENT };
        let stop = Arc::new(AtomicBool::new(false));
        let mut last = None;
        let mut observer: Observer<'_> =
            Box::new(|progress: &Progress<'_>| last = progress.position);
        let (written, ended) = thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(30));
                stop.store(true, Ordering::Relaxed);
            });
            let inputs = vec![text.as_bytes()];
            run_crew(inputs, way, Some(Arc::clone(&stop)), Some(&mut observer))
        });
        drop(observer);
        assert!(!ended.unwrap(), "{way:?}");
        let lines = written.out.split(|byte| *byte == b'\n').count() as u64 - 1;
        assert!((1..2_000).contains(&lines), "{lines}");
        assert_eq!(written.summary.events, lines);
        if is_ordered {
            assert!(whole.out.starts_with(&written.out), "{way:?}");
            let at = last.unwrap().at;
            assert_eq!((at.line, at.offset), (lines, lines * 7));
        }
    }
}
