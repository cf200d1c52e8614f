//! Pieces of text that are written one behind another, in a room that is made once for all of them.

#![allow(
    unsafe_code,
    reason = "a check of the room for each piece is most of what writing it takes"
)]

use alloc::vec::Vec;

/// What is written in one go: text, the text of a literal, a byte, or several of those.
pub(crate) trait Piece: Copy {
    /// How many bytes it has. No sum of the lengths of what fits into memory a few times over is too large for this.
    fn length(self) -> u64;

    /// Writes it, and gives where it ends.
    ///
    /// # Safety
    /// There is room for [`length`](Self::length) bytes from there on, which nothing else refers to.
    unsafe fn write(self, to: *mut u8) -> *mut u8;
}

impl Piece for u8 {
    #[inline(always)]
    fn length(self) -> u64 {
        1
    }

    #[inline(always)]
    unsafe fn write(self, to: *mut u8) -> *mut u8 {
        // SAFETY: the caller has made room for a byte, and a byte behind a room is an address in the same buffer.
        unsafe {
            to.write(self);
            to.add(1)
        }
    }
}

/// A literal: its length is known when it is compiled, so that it is written without a loop.
impl<const N: usize> Piece for &[u8; N] {
    #[inline(always)]
    fn length(self) -> u64 {
        N as u64
    }

    #[inline(always)]
    unsafe fn write(self, to: *mut u8) -> *mut u8 {
        // SAFETY: the caller has made room for N bytes, which a literal doesn't lie in.
        unsafe {
            to.cast::<[u8; N]>().write_unaligned(*self);
            to.add(N)
        }
    }
}

/// A name of the extractor's: mostly a literal, whose length the compiler knows where it is written.
#[derive(Clone, Copy)]
pub(crate) struct Name<'a>(pub(crate) &'a [u8]);

impl Piece for Name<'_> {
    #[inline(always)]
    fn length(self) -> u64 {
        self.0.len() as u64
    }

    #[inline(always)]
    unsafe fn write(self, to: *mut u8) -> *mut u8 {
        // SAFETY: the caller has made room for that many bytes, which nothing else refers to.
        unsafe {
            core::ptr::copy_nonoverlapping(self.0.as_ptr(), to, self.0.len());
            to.add(self.0.len())
        }
    }
}

impl Piece for &[u8] {
    #[inline(always)]
    fn length(self) -> u64 {
        self.len() as u64
    }

    #[inline(always)]
    unsafe fn write(self, to: *mut u8) -> *mut u8 {
        // SAFETY: the caller has made room for that many bytes, which nothing else refers to.
        unsafe {
            copy(self.as_ptr(), to, self.len());
            to.add(self.len())
        }
    }
}

macro_rules! several {
    ($($name:ident)*) => {
        impl<$($name: Piece),*> Piece for ($($name,)*) {
            #[inline(always)]
            #[allow(non_snake_case, reason = "a name for each type")]
            fn length(self) -> u64 {
                let ($($name,)*) = self;
                0 $(+ $name.length())*
            }

            #[inline(always)]
            #[allow(non_snake_case, reason = "a name for each type")]
            unsafe fn write(self, to: *mut u8) -> *mut u8 {
                let ($($name,)*) = self;
                // SAFETY: the room is that of all of them, and each begins where the one before it ends.
                unsafe {
                    $(let to = $name.write(to);)*
                    to
                }
            }
        }
    };
}

several!(A B);
several!(A B C);
several!(A B C D);
several!(A B C D E);
several!(A B C D E F);
several!(A B C D E F G);
several!(A B C D E F G H);
several!(A B C D E F G H I);
several!(A B C D E F G H I J);
several!(A B C D E F G H I J K);

/// Bytes behind its end that a buffer has room for at any time.
pub(crate) const AHEAD: usize = 64;

/// Text to which pieces are added.
#[derive(Debug)]
pub(crate) struct Buffer {
    /// Its capacity is its length and [`AHEAD`] at least.
    bytes: Vec<u8>,
}

impl Default for Buffer {
    fn default() -> Self {
        Self::with_capacity(AHEAD)
    }
}

impl Buffer {
    #[inline(never)]
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self { bytes: Vec::with_capacity(capacity.saturating_add(AHEAD)) }
    }

    #[inline]
    pub(crate) fn as_slice(&self) -> &[u8] {
        &self.bytes
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Adds pieces, one behind another.
    #[inline(always)]
    pub(crate) fn push(&mut self, pieces: impl Piece) {
        self.make_room(pieces.length());
        // SAFETY: behind the end there is room for all of them; it belongs to the buffer, which nothing else refers to. What is within
        // the new length is written then.
        unsafe {
            let start = self.bytes.as_mut_ptr();
            let end = pieces.write(start.add(self.bytes.len()));
            self.bytes.set_len(end as usize - start as usize);
        }
    }

    #[inline(always)]
    fn make_room(&mut self, length: u64) {
        if ((self.bytes.capacity() - self.bytes.len()) as u64) < length + AHEAD as u64 {
            grow(&mut self.bytes, length);
        }
    }

    /// Writes pieces behind the end, in the room that is always there, without adding them yet. Gives their length; where they are
    /// longer than that room nothing is written, and there is `None`.
    #[inline(always)]
    pub(crate) fn write_ahead(&mut self, pieces: impl Piece) -> Option<usize> {
        let length = pieces.length();
        if length > AHEAD as u64 {
            return None;
        }
        // SAFETY: there is room for so many bytes behind the end.
        unsafe { pieces.write(self.bytes.as_mut_ptr().add(self.bytes.len())) };
        Some(length as usize)
    }

    /// Adds what was written ahead, and pieces behind it.
    ///
    /// # Safety
    /// So many bytes were written ahead, and nothing was done with the buffer since.
    #[inline(always)]
    pub(crate) unsafe fn push_behind(&mut self, ahead: usize, pieces: impl Piece) {
        // SAFETY: they are written, and within the capacity. Room ahead is made again by what follows.
        unsafe { self.bytes.set_len(self.bytes.len() + ahead) };
        self.push(pieces);
    }

    #[inline]
    pub(crate) fn truncate(&mut self, length: usize) {
        self.bytes.truncate(length);
    }

    pub(crate) fn remove(&mut self, from: usize, to: usize) {
        self.bytes.drain(from..to);
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

#[cold]
#[inline(never)]
fn grow(bytes: &mut Vec<u8>, length: u64) {
    // More than addresses can tell is refused by the buffer.
    bytes.reserve(usize::try_from(length).unwrap_or(usize::MAX).saturating_add(AHEAD));
}

/// As much as is copied at once.
type Wide = [u64; 2];
/// Four times that.
type Line = [Wide; 4];

/// The longest text that isn't left to the machine to copy, which costs a unit of fuel for each byte, and some time to begin.
const SHORT: usize = 1024;

/// Copies text, which is mostly a few bytes: what doesn't fill pieces of 16 is copied from both ends, to the same place in the middle.
///
/// # Safety
/// Both pieces have that many bytes, and don't overlap.
#[inline(never)]
unsafe fn copy(from: *const u8, to: *mut u8, length: usize) {
    // SAFETY: each part ends within the length: the last one ends with it, and those before it end before.
    unsafe {
        if length >= 16 {
            if length > 64 {
                return copy_long(from, to, length);
            }
            part::<Wide>(from, to, 0);
            if length > 32 {
                part::<Wide>(from, to, 16);
                part::<Wide>(from, to, length - 32);
            }
            part::<Wide>(from, to, length - 16);
        } else if length >= 8 {
            part::<u64>(from, to, 0);
            part::<u64>(from, to, length - 8);
        } else if length >= 4 {
            part::<u32>(from, to, 0);
            part::<u32>(from, to, length - 4);
        } else if length > 0 {
            part::<u8>(from, to, 0);
            part::<u8>(from, to, length / 2);
            part::<u8>(from, to, length - 1);
        }
    }
}

/// Copies text of more than 64 bytes.
///
/// # Safety
/// As for [`copy`].
#[inline(never)]
unsafe fn copy_long(from: *const u8, to: *mut u8, length: usize) {
    // SAFETY: each part ends within the length.
    unsafe {
        if length > SHORT {
            return core::ptr::copy_nonoverlapping(from, to, length);
        }
        let last = length - 64;
        let mut at = 0;
        while at < last {
            part::<Line>(from, to, at);
            at += 64;
        }
        part::<Line>(from, to, last);
    }
}

/// Copies as many bytes as the type has, which lie so many bytes behind both beginnings.
///
/// # Safety
/// Both have them there.
#[inline(always)]
unsafe fn part<T>(from: *const u8, to: *mut u8, at: usize) {
    // SAFETY: as for the caller; any bytes may be read as what is only written again.
    unsafe { to.add(at).cast::<T>().write_unaligned(from.add(at).cast::<T>().read_unaligned()) };
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::{AHEAD, Buffer, Name};

    #[test]
    fn text_of_each_length_is_what_it_was() {
        let text: Vec<u8> = (0..=255).collect();
        for length in 0..text.len() {
            for before in [0, 1, 7, 100] {
                let mut bytes = Buffer::with_capacity(0);
                bytes.push(vec![b'-'; before].as_slice());
                bytes.push((b'[', &text[..length], Name(&text[..length]), b"]\n"));
                let text = &text[..length];
                let expected = [&vec![b'-'; before], &b"["[..], text, text, b"]\n"].concat();
                assert_eq!(bytes.as_slice(), expected);
            }
        }
    }

    #[test]
    fn a_buffer_with_room_stays_where_it_is() {
        let mut bytes = Buffer::with_capacity(9);
        let start = bytes.as_slice().as_ptr();
        bytes.push((b"abc", &b"de"[..], (b'f', b"gh")));
        assert_eq!((bytes.as_slice().as_ptr(), bytes.as_slice()), (start, &b"abcdefgh"[..]));
        bytes.push(b"i");
        assert_eq!(bytes.as_slice(), b"abcdefghi");
    }

    #[test]
    fn what_is_written_ahead_counts_when_it_is_added() {
        let mut bytes = Buffer::with_capacity(0);
        for length in 0..=AHEAD {
            let (text, before) = (vec![b'a'; length], bytes.len());
            assert_eq!(bytes.write_ahead(Name(&text)), Some(length));
            // SAFETY: it was just written.
            unsafe { bytes.push_behind(length, b"]") };
            assert_eq!(bytes.as_slice()[before..], [text.as_slice(), b"]"].concat());
        }
        let before = bytes.len();
        assert_eq!(bytes.write_ahead(Name(&[b'a'; AHEAD + 1])), None);
        assert_eq!(bytes.write_ahead(b"abc"), Some(3));
        assert_eq!(bytes.len(), before);
    }
}
