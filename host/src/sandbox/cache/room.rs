//! How full a directory is, so that it isn't listed for each entry that is written.

use super::directory::UnfitDirectory;

/// How many entries are written between two times that the directory is listed: other processes write there too.
const WRITES: u32 = 64;

/// What the entries of a directory take, as far as is known.
#[derive(Debug, Default)]
pub(super) struct Room {
    /// What they took when the directory was last listed, and what was written since.
    taken: u64,
    /// How many may be written until it is listed again.
    writes_left: u32,
}

impl Room {
    /// Makes room for an entry of `bytes`, where all may take `max_bytes`. `make` removes what is oldest until the others take as
    /// much as it is told, and says how much that is.
    pub(super) fn take(
        &mut self,
        bytes: u64,
        max_bytes: u64,
        make: impl FnOnce(u64) -> Result<u64, UnfitDirectory>,
    ) -> Result<(), UnfitDirectory> {
        let is_known = self.writes_left > 0 && self.taken.saturating_add(bytes) <= max_bytes;
        if is_known {
            self.writes_left -= 1;
        } else {
            // Not known until that has gone well.
            self.writes_left = 0;
            self.taken = make(max_bytes.saturating_sub(bytes))?;
            self.writes_left = WRITES;
        }
        self.taken = self.taken.saturating_add(bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_listed_when_it_is_full_and_now_and_then() {
        let mut room = Room::default();
        let mut listed = Vec::new();
        for write in 0..WRITES + 10 {
            let made = room.take(1, 1000, |left| {
                listed.push((write, left));
                Ok(0)
            });
            assert!(made.is_ok());
        }
        assert_eq!(listed, [(0, 999), (WRITES + 1, 999)]);
        for (bytes, expected) in [(900, None), (300, Some(700)), (1, Some(999))] {
            let mut left = None;
            let made = room.take(bytes, 1000, |allowed| {
                left = Some(allowed);
                Ok(700)
            });
            assert!(made.is_ok());
            assert_eq!(left, expected, "{bytes}");
        }
        assert!(room.take(1000, 1000, |_| Err(UnfitDirectory::Missing)).is_err());
        assert!(room.take(1, 1000, |_| Err(UnfitDirectory::Missing)).is_err());
    }
}
