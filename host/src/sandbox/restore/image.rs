//! What a new instance of a module is like.

use std::num::NonZeroU32;
use std::ops::Range;

use wasmtime::Val;

/// Bytes that are told apart: the smallest page that there is.
const PAGE_BYTES: usize = 4 << 10;

/// Memory and globals of a new instance, and the fuel that it took to make and initialise it. Since nothing is imported, these are the same for all
/// instances of a module.
#[derive(Debug)]
pub(in crate::sandbox) struct Image {
    pub(in crate::sandbox) pages: Pages,
    /// The globals that can change, in the order of the module's exports.
    pub(in crate::sandbox) globals: Box<[Val]>,
    pub(in crate::sandbox) fuel: u64,
}

/// A memory, of which only what isn't zeros takes room.
#[derive(Debug)]
pub(in crate::sandbox) struct Pages {
    /// For each page the number of the one in `contents` that it is like, counted from 1; none for zeros, which are all that come after.
    numbers: Vec<Option<NonZeroU32>>,
    contents: Vec<u8>,
    bytes: usize,
}

impl Pages {
    pub(in crate::sandbox) fn of(memory: &[u8]) -> Self {
        let mut contents = Vec::new();
        let numbers = memory.chunks(PAGE_BYTES).map(|page| {
            if is_zeros(page) {
                return None;
            }
            contents.extend_from_slice(page);
            // The last page of a memory may be shorter where another one is larger than a page of WebAssembly.
            contents.resize(contents.len().next_multiple_of(PAGE_BYTES), 0);
            u32::try_from(contents.len() / PAGE_BYTES).ok().and_then(NonZeroU32::new)
        });
        let mut numbers: Vec<_> = numbers.collect();
        numbers.truncate(numbers.iter().rposition(Option::is_some).map_or(0, |last| last + 1));
        numbers.shrink_to_fit();
        contents.shrink_to_fit();
        Self { numbers, contents, bytes: memory.len() }
    }

    /// Bytes of the memory.
    pub(in crate::sandbox) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Makes `memory` as it was, where nothing but the pages of these ranges was written since.
    pub(in crate::sandbox) fn put_back(&self, memory: &mut [u8], written: &[Range<usize>]) {
        for range in written {
            let first = range.start / PAGE_BYTES;
            let end = range.end.min(memory.len());
            let pages = memory.get_mut(first * PAGE_BYTES..end).unwrap_or_default();
            for (page, at) in pages.chunks_mut(PAGE_BYTES).zip(first..) {
                match self.numbers.get(at).copied().flatten() {
                    Some(number) => {
                        let end = number.get() as usize * PAGE_BYTES;
                        let content = &self.contents[end - PAGE_BYTES..][..page.len()];
                        page.copy_from_slice(content);
                    }
                    // A page of zeros that was only read isn't there yet, and writing would bring it in.
                    None if is_zeros(page) => {}
                    None => page.fill(0),
                }
            }
        }
    }
}

fn is_zeros(page: &[u8]) -> bool {
    let (words, rest) = page.as_chunks::<16>();
    let mut words = words.chunks(8);
    words.all(|words| words.iter().fold(0, |all, word| all | u128::from_ne_bytes(*word)) == 0)
        && rest.iter().all(|byte| *byte == 0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_was_written_is_put_back(
            bytes in 1_usize..6 * PAGE_BYTES,
            image in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
            written in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        ) {
            let mut memory = vec![0; bytes];
            image.iter().for_each(|(at, byte)| memory[at.index(bytes)] = *byte);
            let pages = Pages::of(&memory);
            let expected = memory.clone();
            let mut ranges: Vec<Range<usize>> = Vec::new();
            for (at, byte) in written {
                let at = at.index(bytes);
                memory[at] = byte;
                let start = at - at % PAGE_BYTES;
                ranges.push(start..start + PAGE_BYTES);
            }
            pages.put_back(&mut memory, &ranges);
            prop_assert!(memory == expected);
        }
    }
}
