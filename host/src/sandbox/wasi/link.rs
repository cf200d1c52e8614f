//! The functions of WASI that a guest is linked with: those of `wasmtime-wasi`, each with what it costs and where it stops.
//!
//! Each is the function that `wasmtime_wasi::p1` makes of the interface's definition, called here rather than through its
//! `add_to_linker_sync`: that one adds every function there is, charges nothing, and blocks on a runtime, which panics inside a
//! task of an asynchronous one.

use std::future::Future;

use wasmtime::{Caller, Engine, Extern, Linker, Trap};
use wasmtime_wasi::p1::types::{Errno, Error, Fd, Filestat, Filetype, Lookupflags};
use wasmtime_wasi::p1::wasi_snapshot_preview1::{self as preview1, WasiSnapshotPreview1};
use wiggle::{GuestMemory, GuestPtr, run_in_dummy_executor};

use super::Host;
use super::host::MAX_OPEN;
use crate::abi::section::MEMORY_EXPORT;
use crate::gate::inspect::{Grant, WASI_MODULE, WasiFunction};
use crate::sandbox::GuestError;
use crate::sandbox::store::StoreState;

/// Fuel of a byte that is written, read or filled, of a path, of a list of buffers, or of the place for a list of entries or
/// the path of a directory.
const BYTE: u64 = 1;

/// Most buffers of one call, as many as Linux takes: going through them takes time even where none has a byte.
const MAX_BUFFERS: u32 = 1024;

/// How many random bytes are made at a time.
const RANDOM_PIECE: u32 = 64 << 10;

type Guest<'a> = Caller<'a, StoreState>;
type Result<T> = wasmtime::Result<T>;

/// A linker that has the functions of a grant and nothing else.
pub(in crate::sandbox) fn linker(engine: &Engine, grant: Grant) -> Result<Linker<StoreState>> {
    let mut linker = Linker::new(engine);
    if grant >= Grant::Core {
        core(&mut linker)?;
    }
    if grant >= Grant::Files {
        files(&mut linker)?;
    }
    Ok(linker)
}

/// Links a function of `wasmtime-wasi` at its price and, where a length is named, that of as many bytes.
macro_rules! link {
    ($linker:ident, $name:ident($($argument:ident: $ty:ty),*) $(, $length:ident)?) => {{
        let price = price(stringify!($name));
        $linker.func_wrap(
            WASI_MODULE,
            stringify!($name),
            move |mut guest: Guest<'_>, $($argument: $ty),*| -> Result<i32> {
                spend(&mut guest, price $(+ bytes($length))?)?;
                within(&mut guest, |host, memory| {
                    preview1::$name(&mut host.context, memory, $($argument),*)
                })
            },
        )?
    }};
    ($linker:ident, async $name:ident($($argument:ident: $ty:ty),*) $(, $length:ident)?) => {{
        let price = price(stringify!($name));
        $linker.func_wrap(
            WASI_MODULE,
            stringify!($name),
            move |mut guest: Guest<'_>, $($argument: $ty),*| -> Result<i32> {
                spend(&mut guest, price $(+ bytes($length))?)?;
                within(&mut guest, |host, memory| {
                    ready(preview1::$name(&mut host.context, memory, $($argument),*))?
                })
            },
        )?
    }};
}

fn core(linker: &mut Linker<StoreState>) -> Result<()> {
    link!(linker, args_get(list: i32, bytes: i32));
    link!(linker, args_sizes_get(count: i32, bytes: i32));
    link!(linker, environ_get(list: i32, bytes: i32));
    link!(linker, environ_sizes_get(count: i32, bytes: i32));
    link!(linker, clock_time_get(clock: i32, precision: i64, time: i32));
    let price_of_random = price("random_get");
    linker.func_wrap(
        WASI_MODULE,
        "random_get",
        move |mut guest: Guest<'_>, place: i32, length: i32| -> Result<i32> {
            spend(&mut guest, price_of_random + bytes(length))?;
            within(&mut guest, |host, memory| random(host, memory, place as u32, length as u32))
        },
    )?;
    let price_of_write = price("fd_write");
    linker.func_wrap(
        WASI_MODULE,
        "fd_write",
        move |mut guest: Guest<'_>, fd: i32, list: i32, count: i32, written: i32| -> Result<i32> {
            spend(&mut guest, price_of_write + buffers(count))?;
            let (errno, bytes) = within(&mut guest, |host, memory| {
                if count as u32 > MAX_BUFFERS {
                    return Ok((Errno::Inval as i32, 0));
                }
                let before = host.log.len();
                let written =
                    preview1::fd_write(&mut host.context, memory, fd, list, count, written);
                let errno = ready(written)??;
                Ok((errno, host.log.len().saturating_sub(before)))
            })?;
            spend(&mut guest, BYTE.saturating_mul(bytes as u64))?;
            Ok(errno)
        },
    )?;
    let price_of_exit = price("proc_exit");
    linker.func_wrap(
        WASI_MODULE,
        "proc_exit",
        move |mut guest: Guest<'_>, status: i32| -> Result<()> {
            spend(&mut guest, price_of_exit)?;
            Err(GuestError::Exit { status }.into())
        },
    )?;
    Ok(())
}

fn files(linker: &mut Linker<StoreState>) -> Result<()> {
    link!(linker, async fd_fdstat_get(fd: i32, stat: i32));
    link!(linker, fd_prestat_get(fd: i32, stat: i32));
    link!(linker, fd_prestat_dir_name(fd: i32, path: i32, length: i32), length);
    link!(linker, async fd_seek(fd: i32, offset: i64, whence: i32, at: i32));
    stats(linker)?;
    let price_of_read = price("fd_read");
    linker.func_wrap(
        WASI_MODULE,
        "fd_read",
        move |mut guest: Guest<'_>, fd: i32, list: i32, count: i32, read: i32| -> Result<i32> {
            spend(&mut guest, price_of_read + buffers(count))?;
            let (errno, bytes) = within(&mut guest, |host, memory| {
                if count as u32 > MAX_BUFFERS {
                    return Ok((Errno::Inval as i32, 0));
                }
                let errno =
                    ready(preview1::fd_read(&mut host.context, memory, fd, list, count, read))??;
                let bytes =
                    if errno == 0 { memory.read(GuestPtr::<u32>::new(read as u32))? } else { 0 };
                Ok((errno, bytes))
            })?;
            spend(&mut guest, BYTE.saturating_mul(u64::from(bytes)))?;
            Ok(errno)
        },
    )?;
    let price_of_close = price("fd_close");
    linker.func_wrap(
        WASI_MODULE,
        "fd_close",
        move |mut guest: Guest<'_>, fd: i32| -> Result<i32> {
            spend(&mut guest, price_of_close)?;
            within(&mut guest, |host, memory| {
                let errno = ready(preview1::fd_close(&mut host.context, memory, fd))??;
                if errno == 0 {
                    host.open.remove(&(fd as u32));
                }
                Ok(errno)
            })
        },
    )?;
    linker.func_wrap(WASI_MODULE, "path_open", path_open)?;
    Ok(())
}

/// The functions that tell of files. What they tell is that of the data: what reading changes, and what tells of the machine,
/// is left out.
fn stats(linker: &mut Linker<StoreState>) -> Result<()> {
    let price_of_stat = price("fd_filestat_get");
    linker.func_wrap(
        WASI_MODULE,
        "fd_filestat_get",
        move |mut guest: Guest<'_>, fd: i32, stat: i32| -> Result<i32> {
            spend(&mut guest, price_of_stat)?;
            within(&mut guest, |host, memory| {
                let told =
                    WasiSnapshotPreview1::fd_filestat_get(&mut host.context, memory, Fd::from(fd));
                let told = ready(told)?;
                tell(memory, stat, told)
            })
        },
    )?;
    let price_of_stat = price("path_filestat_get");
    linker.func_wrap(
        WASI_MODULE,
        "path_filestat_get",
        move |mut guest: Guest<'_>,
              fd: i32,
              lookup: i32,
              path: i32,
              length: i32,
              stat: i32|
              -> Result<i32> {
            spend(&mut guest, price_of_stat + bytes(length))?;
            within(&mut guest, |host, memory| {
                let Ok(lookup) = Lookupflags::try_from(lookup) else {
                    return Ok(Errno::Inval as i32);
                };
                let told = WasiSnapshotPreview1::path_filestat_get(
                    &mut host.context,
                    memory,
                    Fd::from(fd),
                    lookup,
                    GuestPtr::new((path as u32, length as u32)),
                );
                let told = ready(told)?;
                tell(memory, stat, told)
            })
        },
    )?;
    let price_of_list = price("fd_readdir");
    linker.func_wrap(
        WASI_MODULE,
        "fd_readdir",
        move |mut guest: Guest<'_>,
              fd: i32,
              list: i32,
              length: i32,
              cookie: i64,
              used: i32|
              -> Result<i32> {
            spend(&mut guest, price_of_list + bytes(length))?;
            within(&mut guest, |host, memory| {
                let place = GuestPtr::<[u8]>::new((list as u32, length as u32));
                // Before anything is written, so that no part of a list stays there.
                memory.as_slice(place)?;
                let listed = WasiSnapshotPreview1::fd_readdir(
                    &mut host.context,
                    memory,
                    Fd::from(fd),
                    GuestPtr::new(list as u32),
                    length as u32,
                    cookie as u64,
                );
                let bytes = match ready(listed)? {
                    Ok(bytes) => bytes,
                    Err(error) => return errno(error),
                };
                // The place of the number may be one inside the list, which is read before.
                without_inodes(memory, list as u32, bytes)?;
                memory.write(GuestPtr::new(used as u32), bytes)?;
                Ok(Errno::Success as i32)
            })
        },
    )?;
    Ok(())
}

/// Writes what is told of a file: its type, and its size if it is a regular file. The rest is that of the machine, or of who has
/// read the file and when.
fn tell(
    memory: &mut GuestMemory<'_>,
    place: i32,
    told: std::result::Result<Filestat, Error>,
) -> Result<i32> {
    let Filestat { filetype, size, .. } = match told {
        Ok(told) => told,
        Err(error) => return errno(error),
    };
    let size = if filetype == Filetype::RegularFile { size } else { 0 };
    let stat = Filestat { dev: 0, ino: 0, filetype, nlink: 1, size, atim: 0, mtim: 0, ctim: 0 };
    memory.write(GuestPtr::new(place as u32), stat)?;
    Ok(Errno::Success as i32)
}

/// Overwrites the numbers of the files in so many bytes of a list of directory entries, the last of which may be cut off.
fn without_inodes(memory: &mut GuestMemory<'_>, list: u32, bytes: u32) -> Result<()> {
    // An entry: where the next begins, the number of the file, the length of the name, the type; then the name.
    const INODE: std::ops::Range<usize> = 8..16;
    const NAME_LENGTH: std::ops::Range<usize> = 16..20;
    const ENTRY: usize = 24;
    let Some(mut rest) = memory.as_slice_mut(GuestPtr::<[u8]>::new((list, bytes)))? else {
        return Err(wasmtime::Error::msg("the memory of an extractor is shared"));
    };
    while rest.len() > INODE.start {
        let end = INODE.end.min(rest.len());
        rest[INODE.start..end].fill(0);
        let Some(length) = rest.get(NAME_LENGTH).and_then(|length| length.try_into().ok()) else {
            return Ok(());
        };
        let next = ENTRY.saturating_add(u32::from_le_bytes(length) as usize);
        rest = rest.get_mut(next..).unwrap_or_default();
    }
    Ok(())
}

/// Fills a range of the guest's memory, piece by piece: all that is asked for at once is made before it is known whether it
/// fits, and takes as much memory of the host.
fn random(host: &mut Host, memory: &mut GuestMemory<'_>, place: u32, length: u32) -> Result<i32> {
    memory.as_slice(GuestPtr::<[u8]>::new((place, length)))?;
    let mut done = 0;
    while done < length {
        host.in_time()?;
        let piece = RANDOM_PIECE.min(length - done);
        // The range is in the memory, so that the sum is an address.
        let at = place + done;
        let errno = preview1::random_get(&mut host.context, memory, at as i32, piece as i32)?;
        if errno != 0 {
            return Ok(errno);
        }
        done += piece;
    }
    Ok(Errno::Success as i32)
}

/// Opens a regular file or a directory. Anything else is refused before it is opened: opening a pipe waits for whoever
/// writes to it, and opening a device may do anything.
#[allow(clippy::too_many_arguments, reason = "they are those of the interface")]
fn path_open(
    mut guest: Guest<'_>,
    fd: i32,
    lookup: i32,
    path: i32,
    length: i32,
    how: i32,
    rights: i64,
    inheriting: i64,
    flags: i32,
    opened: i32,
) -> Result<i32> {
    spend(&mut guest, price("path_open") + bytes(length))?;
    within(&mut guest, |host, memory| {
        if host.open.len() >= MAX_OPEN {
            return Ok(Errno::Mfile as i32);
        }
        let Ok(flags_of_lookup) = Lookupflags::try_from(lookup) else {
            return Ok(Errno::Inval as i32);
        };
        let context = &mut host.context;
        let name = GuestPtr::<str>::new((path as u32, length as u32));
        let stat = ready(WasiSnapshotPreview1::path_filestat_get(
            context,
            memory,
            Fd::from(fd),
            flags_of_lookup,
            name,
        ))?;
        match stat.map(|stat| stat.filetype) {
            Ok(Filetype::RegularFile | Filetype::Directory) => {}
            Ok(_) => return Ok(Errno::Acces as i32),
            Err(error) => return errno(error),
        }
        let errno = ready(preview1::path_open(
            context, memory, fd, lookup, path, length, how, rights, inheriting, flags, opened,
        ))??;
        if errno == 0 {
            host.open.insert(memory.read(GuestPtr::<u32>::new(opened as u32))?);
        }
        Ok(errno)
    })
}

/// The number of an error, or the trap that it is.
fn errno(error: Error) -> Result<i32> {
    Ok(error.downcast()? as i32)
}

/// The price of a call of a function that is granted.
fn price(name: &str) -> u64 {
    WasiFunction::named(name).map_or(0, |function| function.fuel)
}

/// The price of so many bytes. Lengths are unsigned; the interface's definition merely has one type of integer.
fn bytes(length: i32) -> u64 {
    BYTE * u64::from(length as u32)
}

/// The price of a list of so many buffers, of 8 bytes each.
fn buffers(count: i32) -> u64 {
    8 * bytes(count)
}

fn spend(guest: &mut Guest<'_>, price: u64) -> Result<()> {
    match guest.get_fuel()?.checked_sub(price) {
        Some(left) => guest.set_fuel(left),
        None => {
            guest.set_fuel(0)?;
            Err(Trap::OutOfFuel.into())
        }
    }
}

/// Runs a function on the calling instance's state and memory.
fn within<T>(
    guest: &mut Guest<'_>,
    run: impl FnOnce(&mut Host, &mut GuestMemory<'_>) -> Result<T>,
) -> Result<T> {
    // A function that the host calls itself, because a module exports what it imports, has no instance.
    let Some(Extern::Memory(memory)) = guest.get_export(MEMORY_EXPORT) else {
        let trap = "a function of WASI was called from outside the extractor".to_owned();
        return Err(GuestError::Trap { trap }.into());
    };
    let (bytes, state) = memory.data_and_store_mut(guest);
    let Some(host) = state.wasi() else {
        let trap = "the extractor has no WASI".to_owned();
        return Err(GuestError::Trap { trap }.into());
    };
    host.in_time()?;
    // What is copied for one call is never more than the guest has.
    host.context.set_hostcall_fuel(bytes.len());
    run(host, &mut GuestMemory::Unshared(bytes)).map_err(pointer_outside)
}

/// The value of a future that doesn't wait for anything.
fn ready<F: Future>(future: F) -> Result<F::Output> {
    run_in_dummy_executor(future)
}

/// A pointer that isn't in the guest's memory as the error that it is.
fn pointer_outside(error: wasmtime::Error) -> wasmtime::Error {
    let mut cause = error.downcast_ref::<wiggle::GuestError>();
    while let Some(wiggle::GuestError::InFunc { err, .. }) = cause {
        cause = Some(err);
    }
    match cause {
        Some(wiggle::GuestError::PtrOverflow | wiggle::GuestError::PtrOutOfBounds(_)) => {
            GuestError::OutOfBounds.into()
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use wasmtime::Store;

    use super::*;
    use crate::gate::inspect::WASI_FUNCTIONS;
    use crate::sandbox::Limits;

    #[test]
    fn a_linker_has_the_functions_of_its_grant_with_their_types_and_nothing_else() {
        let engine = Engine::new(wasmtime::Config::new().consume_fuel(true)).unwrap();
        for grant in Grant::ALL {
            let linker = linker(&engine, grant).unwrap();
            let mut store = Store::new(&engine, StoreState::new(&Limits::default(), None));
            let mut linked: Vec<(String, String)> = linker
                .iter(&mut store)
                .map(|(module, name, item)| (format!("{module}.{name}"), item))
                .collect::<Vec<_>>()
                .into_iter()
                .map(|(name, item)| (name, signature(&item.into_func().unwrap().ty(&store))))
                .collect();
            linked.sort();
            let mut expected: Vec<(String, String)> = WASI_FUNCTIONS
                .iter()
                .filter(|function| grant.allows(function))
                .map(|function| (format!("{WASI_MODULE}.{}", function.name), function.signature()))
                .collect();
            expected.sort();
            assert_eq!(linked, expected, "{grant:?}");
        }
    }

    fn signature(ty: &wasmtime::FuncType) -> String {
        let params: Vec<String> = ty.params().map(|ty| ty.to_string()).collect();
        let results: Vec<String> = ty.results().map(|ty| ty.to_string()).collect();
        match results.as_slice() {
            [result] => format!("({}) -> {result}", params.join(", ")),
            _ => format!("({}) -> ({})", params.join(", "), results.join(", ")),
        }
    }
}
