//! The module's side of the ABI, and its memory.

#![allow(unsafe_code, reason = "the ABI is made of addresses")]

use alloc::borrow::Cow;
use core::alloc::{GlobalAlloc, Layout};
use core::arch::wasm32::{memory_grow, memory_size};
use core::cell::UnsafeCell;

use crate::arena::Arena;
use crate::block::{Block, Extractor};

const PAGE: usize = 1 << 16;
/// Pages that memory grows by, at least: growing costs more than having.
const GROWTH: usize = 16;
/// The alignment of the input block: that of anything that a compiler may load at once.
const ALIGN: usize = 16;

/// Memory that is handed out piece after piece, and all of it anew for each event.
///
/// Nothing may be kept from one event to the next: statics can't hold what lies here. The source gate refuses them.
struct EventMemory(UnsafeCell<Arena>);

// SAFETY: a module of the ABI has one thread.
unsafe impl Sync for EventMemory {}

#[cfg_attr(not(feature = "std"), global_allocator)]
static MEMORY: EventMemory = EventMemory(UnsafeCell::new(Arena::new()));

unsafe extern "C" {
    /// Where the linker says that free memory begins.
    static __heap_base: u8;
    /// Runs what has to be run before anything else. That it is called from here keeps the linker from calling it in each export.
    fn __wasm_call_ctors();
}

fn grow(to: usize) -> Option<usize> {
    let pages = memory_size(0);
    let missing = to.div_ceil(PAGE).saturating_sub(pages);
    if missing > 0
        && memory_grow(0, missing.max(GROWTH)) == usize::MAX
        && memory_grow(0, missing) == usize::MAX
    {
        return None;
    }
    // All 65,536 pages have one byte more than an address can tell.
    Some(memory_size(0).saturating_mul(PAGE))
}

impl EventMemory {
    #[allow(clippy::mut_from_ref, reason = "each use ends before the next one begins")]
    fn arena(&self) -> &mut Arena {
        // SAFETY: there is one thread, and no function that holds this calls another that takes it.
        unsafe { &mut *self.0.get() }
    }
}

// SAFETY: the arena hands out pieces that don't overlap, of the size and alignment asked for, within the memory.
unsafe impl GlobalAlloc for EventMemory {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let at = self.arena().place(layout.size(), layout.align(), grow);
        at.map_or(core::ptr::null_mut(), |at| at as *mut u8)
    }

    #[inline]
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        self.arena().give_back(at as usize, layout.size());
    }

    #[inline]
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        if self.arena().resize(at as usize, layout.size(), new_size, grow).is_some() {
            return at;
        }
        // SAFETY: the caller vouches for the size, with the alignment that there was.
        let new_layout = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        // SAFETY: the size isn't zero, as for the caller.
        let new = unsafe { self.alloc(new_layout) };
        if !new.is_null() {
            // SAFETY: both pieces have that many bytes, and one of them is new.
            unsafe { core::ptr::copy_nonoverlapping(at, new, layout.size().min(new_size)) };
        }
        new
    }
}

/// Where the host may put an input block of so many bytes; 0 where there is no memory.
#[must_use]
pub fn buffer(length: u32) -> u32 {
    // With the standard library what it keeps may lie there, so it is another one that hands out memory, and nothing is reset.
    if cfg!(not(feature = "std")) {
        let from = (&raw const __heap_base) as usize;
        MEMORY.arena().reset(from, memory_size(0).saturating_mul(PAGE));
    }
    let Ok(layout) = Layout::from_size_align((length as usize).max(1), ALIGN) else { return 0 };
    // SAFETY: the size isn't zero.
    let at = unsafe {
        #[cfg(feature = "std")]
        let at = std::alloc::alloc(layout);
        #[cfg(not(feature = "std"))]
        let at = MEMORY.alloc(layout);
        at
    };
    at as u32
}

/// What is called once, before anything else.
pub fn initialize() {
    // SAFETY: the linker makes it, and nothing else calls it.
    unsafe { __wasm_call_ctors() };
}

/// Serves the event whose block lies there: the address of the result in the high half, its length in the low one.
#[must_use]
pub fn serve<T: Extractor>(block: u32, length: u32) -> u64 {
    // SAFETY: the host has put a block of that length there, as `buffer` told it to, and writes nothing while this runs.
    let bytes = unsafe { core::slice::from_raw_parts(block as *const u8, length as usize) };
    let result = match T::call(Block::new(bytes)) {
        Cow::Borrowed(result) => result,
        Cow::Owned(result) => result.leak(),
    };
    (result.as_ptr() as u64) << 32 | result.len() as u64
}

/// Compares memory: the compiler calls it, and there is no C library that has it.
///
/// # Safety
/// Both pieces have that many bytes.
#[cfg(not(feature = "std"))]
#[unsafe(no_mangle)]
unsafe extern "C" fn memcmp(left: *const u8, right: *const u8, length: usize) -> i32 {
    let mut at = 0;
    while at + 8 <= length {
        // SAFETY: there are eight bytes from there on.
        let (a, b) = unsafe {
            (
                left.add(at).cast::<u64>().read_unaligned(),
                right.add(at).cast::<u64>().read_unaligned(),
            )
        };
        if a != b {
            return if a.swap_bytes() < b.swap_bytes() { -1 } else { 1 };
        }
        at += 8;
    }
    while at < length {
        // SAFETY: there is a byte there.
        let (a, b) = unsafe { (*left.add(at), *right.add(at)) };
        if a != b {
            return i32::from(a) - i32::from(b);
        }
        at += 1;
    }
    0
}

/// Compares memory for equality alone.
///
/// # Safety
/// As for [`memcmp`].
#[cfg(not(feature = "std"))]
#[unsafe(no_mangle)]
unsafe extern "C" fn bcmp(left: *const u8, right: *const u8, length: usize) -> i32 {
    // SAFETY: the caller vouches for it.
    unsafe { memcmp(left, right, length) }
}
