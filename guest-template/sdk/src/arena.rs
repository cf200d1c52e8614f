//! Where the next piece of memory lies: addresses alone, so that it can be tested anywhere.

/// A piece of memory that is handed out from its beginning to its end.
#[derive(Debug)]
pub(crate) struct Arena {
    next: usize,
    end: usize,
}

impl Arena {
    pub(crate) const fn new() -> Self {
        Self { next: 0, end: 0 }
    }

    /// Begins again: all that was handed out is free.
    pub(crate) fn reset(&mut self, from: usize, end: usize) {
        (self.next, self.end) = (from, end);
    }

    /// Hands out so many bytes. `grow` is asked for memory up to an address at least, and tells where it then ends.
    pub(crate) fn place(
        &mut self,
        size: usize,
        align: usize,
        grow: impl FnOnce(usize) -> Option<usize>,
    ) -> Option<usize> {
        let at = self.next.checked_next_multiple_of(align)?;
        self.extend(at.checked_add(size)?, grow)?;
        Some(at)
    }

    /// Makes the last piece larger or smaller where it lies; `None` for another piece, and where there is no memory.
    pub(crate) fn resize(
        &mut self,
        at: usize,
        size: usize,
        new_size: usize,
        grow: impl FnOnce(usize) -> Option<usize>,
    ) -> Option<()> {
        if at.checked_add(size)? != self.next {
            return (new_size <= size).then_some(());
        }
        self.extend(at.checked_add(new_size)?, grow)
    }

    /// Takes the last piece back; any other is lost until the arena is reset.
    pub(crate) fn give_back(&mut self, at: usize, size: usize) {
        if at.checked_add(size) == Some(self.next) {
            self.next = at;
        }
    }

    fn extend(&mut self, to: usize, grow: impl FnOnce(usize) -> Option<usize>) -> Option<()> {
        if to > self.end {
            self.end = grow(to).filter(|end| *end >= to)?;
        }
        self.next = to;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::Arena;

    #[test]
    fn pieces_lie_one_after_another_and_the_last_one_grows_in_place() {
        let mut arena = Arena::new();
        arena.reset(1001, 2000);
        let none = |_| None;
        assert_eq!(arena.place(10, 8, none), Some(1008));
        assert_eq!(arena.place(4, 4, none), Some(1020));
        assert_eq!(arena.resize(1008, 10, 20, none), None, "not the last one");
        assert_eq!(arena.resize(1008, 10, 5, none), Some(()));
        assert_eq!(arena.resize(1020, 4, 400, none), Some(()));
        assert_eq!(arena.place(1, 1, none), Some(1420));
        arena.give_back(1420, 1);
        arena.give_back(1008, 10);
        assert_eq!(arena.place(2, 1, none), Some(1420));
    }

    #[test]
    fn memory_is_asked_for_when_there_is_none_left() {
        let mut arena = Arena::new();
        arena.reset(0, 100);
        assert_eq!(arena.place(101, 1, |to| Some(to + 9)), Some(0));
        assert_eq!(arena.place(9, 1, |_| None), Some(101));
        assert_eq!(arena.place(1, 1, |_| None), None);
        assert_eq!(arena.place(1, 1, |_| Some(5)), None, "less than was asked for");
        assert_eq!(arena.place(usize::MAX, 1, Some), None);
        assert_eq!(arena.place(1, 1, Some), Some(110), "what failed took nothing");
    }
}
