//! Names that have to differ, held against each other while an extractor is compiled.

use crate::declaration::{MAX_EVENT_TYPES as MAX, same};

/// Places for names, of which half may be taken.
const PLACES: usize = 2 * MAX;

/// The first name that stands there twice, of as many as event types there may be.
///
/// Each is looked for by its hash: a compiler that works constants out takes half a minute to compare a thousand long names with each
/// other.
pub(crate) const fn first_twice(names: &[&'static str]) -> Option<&'static str> {
    assert!(names.len() <= MAX, "there is room for no more");
    // The number of a name, counted from one.
    let mut places = [0_u16; PLACES];
    let mut index = 0;
    while index < names.len() {
        let mut place = hash(names[index]) % PLACES;
        while places[place] != 0 {
            if same(names[places[place] as usize - 1], names[index]) {
                return Some(names[index]);
            }
            place = (place + 1) % PLACES;
        }
        index += 1;
        places[place] = index as u16;
    }
    None
}

/// FNV-1a.
const fn hash(name: &str) -> usize {
    let bytes = name.as_bytes();
    let mut hash = 0x811c_9dc5_u32;
    let mut index = 0;
    while index < bytes.len() {
        hash = (hash ^ bytes[index] as u32).wrapping_mul(0x0100_0193);
        index += 1;
    }
    hash as usize
}

#[cfg(test)]
mod tests {
    use alloc::boxed::Box;
    use alloc::format;
    use alloc::string::String;
    use alloc::vec::Vec;

    use super::{MAX, first_twice};

    #[test]
    fn the_first_name_that_is_there_twice_is_found() {
        assert_eq!(first_twice(&[]), None);
        assert_eq!(first_twice(&["a", "b", ""]), None);
        assert_eq!(first_twice(&["a", "b", "c", "b", "a"]), Some("b"));
        assert_eq!(first_twice(&["", "a", ""]), Some(""));
    }

    #[test]
    fn as_many_as_there_may_be_have_room() {
        let name = |index: usize| -> &'static str {
            Box::leak::<'static>(String::into_boxed_str(format!("{}{index}", "x".repeat(60))))
        };
        let mut names: Vec<&'static str> = (0..MAX).map(name).collect();
        assert_eq!(first_twice(&names), None);
        names[MAX - 1] = names[0];
        assert_eq!(first_twice(&names), Some(names[0]));
    }
}
