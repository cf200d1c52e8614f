//! How deep the schema of a file of Parquet nests, told before anything recurses over it.
//!
//! What a file says of itself is in the compact protocol of Thrift. Its schema is a list of elements, each with the number of its
//! children, which follow it. Only that is read here; whether the rest makes sense is for others to say.

/// How deep elements nest. `None` where that can't be told.
pub(super) fn of_schema(metadata: &[u8]) -> Option<usize> {
    let mut reader = Reader { rest: metadata };
    let mut field = 0;
    loop {
        let kind = reader.field(&mut field)?;
        match (field, kind) {
            (_, STOP) => return None,
            (2, LIST) => return reader.schema(),
            (_, kind) => reader.skip(kind, 0)?,
        }
    }
}

const STOP: u8 = 0;
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const I32: u8 = 5;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
const STRUCT: u8 = 12;

/// How deep values that are skipped may nest: types of elements do so a few times.
const MAX_SKIPPED: usize = 16;

struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    /// The elements, in the order of a walk from the root.
    fn schema(&mut self) -> Option<usize> {
        let (kind, count) = self.list()?;
        let mut deepest = 0;
        // How many children are still to come, of each element around the one at hand.
        let mut left: Vec<u64> = Vec::new();
        for _ in 0..count {
            while left.pop_if(|left| *left == 0).is_some() {}
            if let Some(left) = left.last_mut() {
                *left -= 1;
            }
            deepest = deepest.max(left.len());
            let children = (kind == STRUCT).then(|| self.element()).flatten()?;
            if children > 0 {
                left.push(children);
            }
        }
        Some(deepest)
    }

    /// How many children an element has.
    fn element(&mut self) -> Option<u64> {
        let (mut field, mut children) = (0, 0);
        loop {
            match (self.field(&mut field)?, field) {
                (STOP, _) => return Some(children),
                // Below zero is none.
                (I32, 5) => children = self.zigzag()?.try_into().unwrap_or(0),
                (kind, _) => self.skip(kind, 0)?,
            }
        }
    }

    /// The kind of the next field, whose number is told to `field`.
    fn field(&mut self, field: &mut i64) -> Option<u8> {
        let head = self.byte()?;
        let kind = head & 0x0f;
        if kind != STOP {
            *field = match i64::from(head >> 4) {
                0 => self.zigzag()?,
                more => field.checked_add(more)?,
            };
        }
        Some(kind)
    }

    /// The kind of a list's elements, and how many there are.
    fn list(&mut self) -> Option<(u8, u64)> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => self.varint()?,
            count => count.into(),
        };
        Some((head & 0x0f, count))
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        if depth > MAX_SKIPPED {
            return None;
        }
        match kind {
            TRUE | FALSE => {}
            BYTE => self.bytes(1)?,
            4..=I64 => _ = self.varint()?,
            DOUBLE => self.bytes(8)?,
            BINARY => {
                let length = self.varint()?;
                self.bytes(length.try_into().ok()?)?;
            }
            LIST | SET => {
                let (kind, count) = self.list()?;
                (0..count).try_for_each(|_| self.skip_one(kind, depth))?;
            }
            MAP => {
                let count = self.varint()?;
                let kinds = if count > 0 { self.byte()? } else { 0 };
                for _ in 0..count {
                    self.skip_one(kinds >> 4, depth)?;
                    self.skip_one(kinds & 0x0f, depth)?;
                }
            }
            STRUCT => {
                let mut field = 0;
                loop {
                    match self.field(&mut field)? {
                        STOP => break,
                        kind => self.skip(kind, depth + 1)?,
                    }
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// Skips an element of a list: where fields have a boolean in their heads, elements have a byte.
    fn skip_one(&mut self, kind: u8, depth: usize) -> Option<()> {
        let kind = if matches!(kind, TRUE | FALSE) { BYTE } else { kind };
        self.skip(kind, depth + 1)
    }

    fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(byte)
    }

    fn bytes(&mut self, count: usize) -> Option<()> {
        self.rest = self.rest.get(count..)?;
        Some(())
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn zigzag(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Metadata with a version, and a schema whose elements have these numbers of children.
    fn metadata(children: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0x15, 0x02, 0x19, 0xfc];
        let count = children.len();
        bytes.extend([
            u8::try_from(count & 0x7f).unwrap_or(0) | 0x80,
            u8::try_from(count >> 7).unwrap_or(0),
        ]);
        for children in children {
            // A name, and the children where there are any.
            bytes.extend([0x48, 0x01, b'n']);
            if *children > 0 {
                bytes.extend([0x15, children * 2]);
            }
            bytes.push(0);
        }
        bytes
    }

    #[test]
    fn depth_is_that_of_the_deepest_element() {
        for (children, depth) in
            [(&[0][..], 0), (&[1, 0], 1), (&[3, 0, 2, 0, 0, 0], 2), (&[2, 1, 1, 0, 0], 3)]
        {
            assert_eq!(of_schema(&metadata(children)), Some(depth), "{children:?}");
        }
        assert_eq!(of_schema(&metadata(&[1; 5_000])), Some(4_999));
    }

    #[test]
    fn what_is_cut_off_has_no_depth() {
        let whole = metadata(&[3, 0, 2, 0, 0, 0]);
        for at in 0..whole.len() {
            assert_eq!(of_schema(&whole[..at]), None, "{at}");
        }
        // Structs in structs, without an end.
        assert_eq!(of_schema(&[0x1c; 1_000]), None);
    }
}
