//! A panic as a trap, with a message that the host can read.

#![allow(unsafe_code, reason = "the message lies where the host finds it")]

use core::cell::UnsafeCell;
use core::fmt::{self, Write};

/// Most bytes of a message.
const MAX_MESSAGE: usize = 500;

/// What only the panic handler writes to.
struct Shared<T>(UnsafeCell<T>);

// SAFETY: a module of the ABI has one thread, and a panic is the last thing that it does.
unsafe impl<T> Sync for Shared<T> {}

/// A message, as the host finds it: an address and a length. Without a panic the length is 0.
#[repr(C)]
struct Message {
    address: *const u8,
    length: usize,
}

static TEXT: Shared<[u8; MAX_MESSAGE]> = Shared(UnsafeCell::new([0; MAX_MESSAGE]));

/// Exported as a global that holds its address.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "it is the name of the export")]
static retort_message: Shared<Message> =
    Shared(UnsafeCell::new(Message { address: TEXT.0.get().cast(), length: 0 }));

/// Text that is cut off where there is no more room.
struct Bounded<'a> {
    text: &'a mut [u8; MAX_MESSAGE],
    length: usize,
}

impl Write for Bounded<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = MAX_MESSAGE - self.length;
        let text = text.get(..text.floor_char_boundary(room)).unwrap_or_default();
        if let Some(place) = self.text.get_mut(self.length..self.length + text.len()) {
            place.copy_from_slice(text.as_bytes());
            self.length += text.len();
        }
        Ok(())
    }
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: nothing else refers to them, and nothing runs after this.
    let (text, message) = unsafe { (&mut *TEXT.0.get(), &mut *retort_message.0.get()) };
    let mut out = Bounded { text, length: 0 };
    let _ = match info.location() {
        Some(at) => write!(out, "panicked at {at}: {}", info.message()),
        None => write!(out, "panicked: {}", info.message()),
    };
    message.length = out.length;
    core::arch::wasm32::unreachable()
}
