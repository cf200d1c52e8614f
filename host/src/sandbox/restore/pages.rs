//! Which pages of a memory were written, as the kernel tells.

#[cfg(not(target_os = "linux"))]
pub(in crate::sandbox) use elsewhere::PageMap;
#[cfg(target_os = "linux")]
pub(in crate::sandbox) use linux::PageMap;

/// Bytes of written pages that are put back at most. What has written more gets a new instance, so that none holds much memory for long.
const MAX_WRITTEN_BYTES: u64 = 1 << 20;

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::File;
    use std::ops::Range;

    use rustix::ioctl::{Opcode, Updater, ioctl, opcode};
    use rustix::process::{Pid, getpid};

    use super::MAX_WRITTEN_BYTES;

    /// Ranges of written pages that are told apart at most.
    const MAX_RANGES: usize = 64;

    /// The kernel's account of this process's pages.
    #[derive(Debug)]
    pub(in crate::sandbox) struct PageMap {
        file: File,
        /// The process that opened the file, which goes on to be about that one in a process that is forked.
        process: Pid,
    }

    /// `struct page_region` of the kernel: a range of addresses.
    #[derive(Clone, Copy, Debug, Default)]
    #[repr(C)]
    struct Region {
        start: u64,
        end: u64,
        categories: u64,
    }

    /// `struct pm_scan_arg` of the kernel: what `PAGEMAP_SCAN` looks for, and how far it came.
    /// See <https://docs.kernel.org/admin-guide/mm/pagemap.html>.
    #[derive(Debug)]
    #[repr(C)]
    struct Scan {
        size: u64,
        flags: u64,
        start: u64,
        end: u64,
        walk_end: u64,
        regions: u64,
        regions_len: u64,
        max_pages: u64,
        category_inverted: u64,
        category_mask: u64,
        category_anyof_mask: u64,
        return_mask: u64,
    }

    const PAGEMAP_SCAN: Opcode = opcode::read_write::<Scan>(b'f', 16);

    /// Categories of pages.
    const IS_FILE: u64 = 1 << 2;
    const IS_PRESENT: u64 = 1 << 3;
    const IS_SWAPPED: u64 = 1 << 4;

    impl PageMap {
        /// `None` where there is no such account.
        pub(in crate::sandbox) fn open() -> Option<Self> {
            let file = File::open("/proc/self/pagemap").ok()?;
            let pages = Self { file, process: getpid() };
            pages.scan(0..0, &mut Vec::new()).then_some(pages)
        }

        /// Gives the ranges of `memory` outside of which it is as it was mapped; `false` where they are too many, or can't be told.
        ///
        /// That is all pages that are the process's own: a page that was never touched isn't there, or is in a file that backs the memory. A page
        /// that was swapped out is counted among them.
        pub(in crate::sandbox) fn written(
            &self,
            memory: &[u8],
            ranges: &mut Vec<Range<usize>>,
        ) -> bool {
            let start = memory.as_ptr().addr() as u64;
            self.scan(start..start + memory.len() as u64, ranges)
        }

        fn scan(&self, Range { start, end }: Range<u64>, ranges: &mut Vec<Range<usize>>) -> bool {
            ranges.clear();
            if getpid() != self.process {
                return false;
            }
            let mut regions = [Region::default(); MAX_RANGES];
            let mut scan = Scan {
                size: size_of::<Scan>() as u64,
                flags: 0,
                start,
                end,
                walk_end: 0,
                regions: regions.as_mut_ptr().expose_provenance() as u64,
                regions_len: regions.len() as u64,
                max_pages: MAX_WRITTEN_BYTES / 4096,
                category_inverted: IS_FILE,
                category_mask: IS_FILE,
                category_anyof_mask: IS_PRESENT | IS_SWAPPED,
                return_mask: 0,
            };
            #[allow(
                unsafe_code,
                reason = "an instance that is put back costs a fraction of a new one"
            )]
            // SAFETY: the operation takes a `struct pm_scan_arg`, which `Scan` is. It writes to that, and up to `regions_len` regions to
            // `regions`, which outlives the call and isn't borrowed. The addresses in between `start` and `end` are only looked up.
            let done = unsafe { ioctl(&self.file, Updater::<PAGEMAP_SCAN, Scan>::new(&mut scan)) };
            if done.is_err() || scan.walk_end != end {
                return false;
            }
            let found = regions.iter().take_while(|region| region.end != 0);
            // Both lie in the memory, so they fit.
            ranges.extend(found.map(|at| (at.start - start) as usize..(at.end - start) as usize));
            true
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use std::ops::Range;

    /// No system but Linux tells.
    #[derive(Debug)]
    pub(in crate::sandbox) enum PageMap {}

    impl PageMap {
        pub(in crate::sandbox) fn open() -> Option<Self> {
            None
        }

        pub(in crate::sandbox) fn written(&self, _: &[u8], _: &mut Vec<Range<usize>>) -> bool {
            match *self {}
        }
    }
}
