//! The functions of WASI that a guest is linked with: those of `wasmtime-wasi`, each with what it costs and where it stops.
//!
//! Each is the function that `wasmtime_wasi::p1` makes of the interface's definition, called here rather than through its
//! `add_to_linker_sync`: that one adds every function there is, charges nothing, and blocks on a runtime, which panics inside a
//! task of an asynchronous one.

use std::future::Future;

use wasmtime::{Caller, Engine, Extern, Linker, Trap};
use wasmtime_wasi::p1::types::{Errno, Error, Filestat, Filetype, Lookupflags};
use wasmtime_wasi::p1::wasi_snapshot_preview1::{self as preview1, WasiSnapshotPreview1};
use wiggle::{GuestMemory, GuestPtr, run_in_dummy_executor};

use super::Host;
use super::host::MAX_OPEN;
use crate::abi::section::MEMORY_EXPORT;
use crate::gate::inspect::{Grant, WASI_FUNCTIONS, WASI_MODULE, WasiFunction};
use crate::sandbox::GuestError;
use crate::sandbox::store::StoreState;

/// Fuel of a byte that is written, read or filled, of a path, of a list of buffers, or of the place for a list of entries or
/// the path of a directory.
const BYTE: u64 = 1;

/// Bytes of a buffer in a list of them: its address and its length.
const BUFFER_BYTES: u64 = 8;

/// Most buffers of one call, as many as Linux takes: going through them takes time even where none has a byte.
const MAX_BUFFERS: u32 = 1024;

/// How many random bytes are made at a time.
const RANDOM_PIECE: u32 = 64 << 10;

type WasiCaller<'a> = Caller<'a, StoreState>;
type Result<T> = wasmtime::Result<T>;
/// What asking the file system gives.
type FileResult<T> = std::result::Result<T, Error>;

/// A linker that has the functions of a grant and nothing else, each under the name and at the price that its definition says.
pub(in crate::sandbox) fn linker(engine: &Engine, grant: Grant) -> Result<Linker<StoreState>> {
    let mut linker = Linker::new(engine);
    for function in WASI_FUNCTIONS.iter().filter(|function| grant.allows(function)) {
        link(&mut linker, function)?;
    }
    Ok(linker)
}

fn link(linker: &mut Linker<StoreState>, function: &WasiFunction) -> Result<()> {
    let &WasiFunction { name, fuel, .. } = function;
    /// Links what is done for a call with these arguments at a price.
    macro_rules! link {
        ($price:expr, ($($argument:ident: $ty:ty),*), |$host:ident, $memory:ident| $run:expr) => {
            linker.func_wrap(
                WASI_MODULE,
                name,
                move |mut guest: WasiCaller<'_>, $($argument: $ty),*| -> Result<i32> {
                    spend(&mut guest, $price)?;
                    within(&mut guest, |$host, $memory| $run)
                },
            )
        };
    }
    /// Links a function of `wasmtime-wasi` with its arguments as they are, one that is `ready` at once where it says so.
    macro_rules! as_it_is {
        ($price:expr, $name:ident($($argument:ident: $ty:ty),*) $($ready:ident)?) => {
            link!($price, ($($argument: $ty),*), |host, memory| {
                let done = preview1::$name(&mut host.context, memory, $($argument),*);
                $(let done = $ready(done)?;)?
                done
            })
        };
    }
    match name {
        "args_get" => as_it_is!(fuel, args_get(list: i32, bytes: i32)),
        "args_sizes_get" => as_it_is!(fuel, args_sizes_get(count: i32, bytes: i32)),
        "environ_get" => as_it_is!(fuel, environ_get(list: i32, bytes: i32)),
        "environ_sizes_get" => as_it_is!(fuel, environ_sizes_get(count: i32, bytes: i32)),
        "clock_time_get" => {
            as_it_is!(fuel, clock_time_get(clock: i32, precision: i64, time: i32))
        }
        "fd_fdstat_get" => as_it_is!(fuel, fd_fdstat_get(fd: i32, stat: i32) ready),
        "fd_prestat_get" => as_it_is!(fuel, fd_prestat_get(fd: i32, stat: i32)),
        "fd_prestat_dir_name" => {
            as_it_is!(fuel + bytes(length), fd_prestat_dir_name(fd: i32, path: i32, length: i32))
        }
        "fd_seek" => {
            as_it_is!(fuel, fd_seek(fd: i32, offset: i64, whence: i32, at: i32) ready)
        }
        "random_get" => link!(fuel + bytes(length), (place: i32, length: i32), |host, memory| {
            random(host, memory, place as u32, length as u32)
        }),
        "fd_close" => link!(fuel, (fd: i32), |host, memory| {
            let errno = ready(preview1::fd_close(&mut host.context, memory, fd))??;
            if errno == 0 {
                host.open.remove(&(fd as u32));
            }
            Ok(errno)
        }),
        "fd_filestat_get" => link!(fuel, (fd: i32, stat: i32), |host, memory| {
            let context = &mut host.context;
            let found = ready(WasiSnapshotPreview1::fd_filestat_get(context, memory, fd.into()))?;
            write_stat(memory, stat, found)
        }),
        "path_filestat_get" => link!(
            fuel + bytes(length),
            (fd: i32, lookup: i32, path: i32, length: i32, stat: i32),
            |host, memory| {
                let found = stat_of(host, memory, fd, lookup, path, length)?;
                write_stat(memory, stat, found)
            }
        ),
        "fd_readdir" => link!(
            fuel + bytes(length),
            (fd: i32, list: i32, length: i32, cookie: i64, used: i32),
            |host, memory| {
                read_directory(host, memory, fd, (list as u32, length as u32), cookie, used)
            }
        ),
        "path_open" => link!(
            fuel + bytes(length),
            (fd: i32, lookup: i32, path: i32, length: i32, how: i32, rights: i64, inheriting: i64,
                flags: i32, opened: i32),
            |host, memory| {
                if let Some(errno) = unfit_to_open(host, memory, fd, lookup, path, length)? {
                    return Ok(errno as i32);
                }
                let errno = ready(preview1::path_open(
                    &mut host.context, memory, fd, lookup, path, length, how, rights, inheriting,
                    flags, opened,
                ))??;
                if errno == 0 {
                    host.open.insert(memory.read(GuestPtr::<u32>::new(opened as u32))?);
                }
                Ok(errno)
            }
        ),
        "fd_write" => linker.func_wrap(
            WASI_MODULE,
            name,
            move |mut guest: WasiCaller<'_>, fd: i32, list: i32, count: i32, written: i32| {
                through_buffers(&mut guest, fuel, count, |host, memory| {
                    let before = host.log.len();
                    let context = &mut host.context;
                    let done = preview1::fd_write(context, memory, fd, list, count, written);
                    let errno = ready(done)??;
                    Ok((errno, host.log.len().saturating_sub(before) as u64))
                })
            },
        ),
        "fd_read" => linker.func_wrap(
            WASI_MODULE,
            name,
            move |mut guest: WasiCaller<'_>, fd: i32, list: i32, count: i32, read: i32| {
                through_buffers(&mut guest, fuel, count, |host, memory| {
                    let context = &mut host.context;
                    let done = preview1::fd_read(context, memory, fd, list, count, read);
                    match ready(done)?? {
                        0 => Ok((0, memory.read(GuestPtr::<u32>::new(read as u32))?.into())),
                        errno => Ok((errno, 0)),
                    }
                })
            },
        ),
        "proc_exit" => linker.func_wrap(
            WASI_MODULE,
            name,
            move |mut guest: WasiCaller<'_>, status: i32| -> Result<()> {
                spend(&mut guest, fuel)?;
                Err(GuestError::Exit { status }.into())
            },
        ),
        _ => return Err(wasmtime::Error::msg(format!("`{name}` is granted and not there"))),
    }?;
    Ok(())
}

/// Runs a function that goes through a list of so many buffers, at its price and that of the list, then of the bytes that it
/// has moved, which it gives with the number of its error.
fn through_buffers(
    guest: &mut WasiCaller<'_>,
    price: u64,
    count: i32,
    run: impl FnOnce(&mut Host, &mut GuestMemory<'_>) -> Result<(i32, u64)>,
) -> Result<i32> {
    spend(guest, price + BUFFER_BYTES * bytes(count))?;
    let (errno, moved) = within(guest, |host, memory| {
        if count as u32 > MAX_BUFFERS { Ok((Errno::Inval as i32, 0)) } else { run(host, memory) }
    })?;
    spend(guest, BYTE.saturating_mul(moved))?;
    Ok(errno)
}

/// What is known of the file at a path from an open directory.
fn stat_of(
    host: &mut Host,
    memory: &mut GuestMemory<'_>,
    fd: i32,
    lookup: i32,
    path: i32,
    length: i32,
) -> Result<FileResult<Filestat>> {
    let Ok(lookup) = Lookupflags::try_from(lookup) else { return Ok(Err(Errno::Inval.into())) };
    let path = GuestPtr::new((path as u32, length as u32));
    let context = &mut host.context;
    ready(WasiSnapshotPreview1::path_filestat_get(context, memory, fd.into(), lookup, path))
}

/// Why a file isn't opened, if it isn't: only regular files and directories are. Anything else is refused before it is opened:
/// opening a pipe waits for whoever writes to it, and opening a device may do anything.
fn unfit_to_open(
    host: &mut Host,
    memory: &mut GuestMemory<'_>,
    fd: i32,
    lookup: i32,
    path: i32,
    length: i32,
) -> Result<Option<Errno>> {
    if host.open.len() >= MAX_OPEN {
        return Ok(Some(Errno::Mfile));
    }
    match stat_of(host, memory, fd, lookup, path, length)?.map(|stat| stat.filetype) {
        Ok(Filetype::RegularFile | Filetype::Directory) => Ok(None),
        Ok(_) => Ok(Some(Errno::Acces)),
        Err(error) => error.downcast().map(Some),
    }
}

/// Writes entries of a directory to a place of so many bytes, without what tells of the machine.
fn read_directory(
    host: &mut Host,
    memory: &mut GuestMemory<'_>,
    fd: i32,
    (list, length): (u32, u32),
    cookie: i64,
    used: i32,
) -> Result<i32> {
    // Before anything is written, so that no part of a list stays there.
    memory.as_slice(GuestPtr::<[u8]>::new((list, length)))?;
    let (context, at) = (&mut host.context, GuestPtr::new(list));
    let listed = ready(WasiSnapshotPreview1::fd_readdir(
        context,
        memory,
        fd.into(),
        at,
        length,
        cookie as u64,
    ))?;
    let bytes = match listed {
        Ok(bytes) => bytes,
        Err(error) => return errno(error),
    };
    // The place of the number may be one inside the list, which is read before.
    without_inodes(memory, list, bytes)?;
    memory.write(GuestPtr::new(used as u32), bytes)?;
    Ok(Errno::Success as i32)
}

/// Writes what a guest learns of a file: its type, and its size if it is a regular file. The rest is that of the machine, or of who has
/// read the file and when.
fn write_stat(
    memory: &mut GuestMemory<'_>,
    place: i32,
    found: FileResult<Filestat>,
) -> Result<i32> {
    let Filestat { filetype, size, .. } = match found {
        Ok(found) => found,
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

/// The number of an error, or the trap that it is.
fn errno(error: Error) -> Result<i32> {
    Ok(error.downcast()? as i32)
}

/// The price of so many bytes. Lengths are unsigned; the interface's definition merely has one type of integer.
fn bytes(length: i32) -> u64 {
    BYTE * u64::from(length as u32)
}

fn spend(guest: &mut WasiCaller<'_>, price: u64) -> Result<()> {
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
    guest: &mut WasiCaller<'_>,
    run: impl FnOnce(&mut Host, &mut GuestMemory<'_>) -> Result<T>,
) -> Result<T> {
    // A function that the host calls itself, because a module exports what it imports, has no instance.
    let Some(Extern::Memory(memory)) = guest.get_export(MEMORY_EXPORT) else {
        return Err(trap("a function of WASI was called from outside the extractor"));
    };
    let (bytes, state) = memory.data_and_store_mut(guest);
    let Some(host) = state.wasi() else {
        return Err(trap("the extractor has no WASI"));
    };
    host.in_time()?;
    // What is copied for one call is never more than the guest has.
    host.context.set_hostcall_fuel(bytes.len());
    run(host, &mut GuestMemory::Unshared(bytes)).map_err(pointer_outside)
}

fn trap(name: &str) -> wasmtime::Error {
    GuestError::Trap(name.to_owned()).into()
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
