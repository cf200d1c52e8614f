//! What is known of a value: an abstract domain in which every number depends on the input block alone.
//!
//! Two runs over the same block, on whatever else is in the memory, have the same numbers in all locals and on the stack;
//! only of vectors, which nothing computes with, a number of leading bytes is the same and the rest is whatever lay there.
//! So losing track of a number ([`AbstractValue::Number`]) is always right. What is kept of it is what loads, stores, calls and
//! returns have to know.

/// A point in the result: up to there, all bytes from its beginning were written in this call and depend on the block alone.
pub(super) type Base = u32;

/// The beginning of the result.
pub(super) const OUTPUT: Base = 0;

/// The most that is added to an address, and the most bytes that the memory may have: two of them fit in 32 bits, so no
/// address wraps around.
pub(super) const MOST: u32 = 1 << 30;

/// A record of the input block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum BlockSlot {
    /// Of the input with this number.
    Input(u32),
    /// Of the column with this number, in the row that the function was given.
    Column(u32),
}

/// A field of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordField {
    Kind,
    Offset,
    Length,
}

/// How much of a vector's beginning is known to be the same in every run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// So many bytes.
    Bytes(u32),
    /// The bytes of this record's text, as far as there are so many.
    Text(BlockSlot),
}

/// What holds if a condition does, or if it doesn't.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fact {
    /// The text of a record has so many bytes.
    LengthIs(BlockSlot, u32),
    /// It has at most so many.
    LengthAtMost(BlockSlot, u32),
    /// What a function gave back is where it has written to, and no failure.
    Written(Base),
    /// This number is negative.
    Negative(u32),
}

/// A few facts: what is beyond them is forgotten, so that conditions of conditions stay small.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ValueFacts(Vec<Fact>);

impl ValueFacts {
    const MOST: usize = 8;

    fn both(&self, other: &Self) -> Self {
        Self(self.0.iter().chain(&other.0).take(Self::MOST).copied().collect())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Fact> {
        self.0.iter().copied()
    }
}

impl From<Fact> for ValueFacts {
    fn from(fact: Fact) -> Self {
        Self(vec![fact])
    }
}

/// What is known of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AbstractValue {
    /// A number, the same in every run. Two with the same name are the same number.
    Number(u32),
    /// A constant of 32 bits.
    Const(i32),
    /// A constant of 64 bits.
    Wide(i64),
    /// The address of the input block, and so many bytes more.
    Block(u32),
    /// The address of the row that the function was given, and so many bytes more.
    Row(u32),
    /// A field of a record.
    Field(BlockSlot, RecordField),
    /// The address of a record's text.
    Text(BlockSlot),
    /// An address in the output area or after it: a point in the result, and so many bytes more.
    Out { base: Base, offset: u32 },
    /// What a function gave back: the point up to which the result is written now, or a negative number.
    Item(Base),
    /// What is not zero where a condition holds, with what follows from that, and from zero.
    Truth { holds: ValueFacts, fails: ValueFacts },
    /// The bytes from the beginning of the result to a point, and so many more.
    Length { base: Base, offset: u32 },
    /// The same with 64 bits.
    WideLength { base: Base, offset: u32 },
    /// The address of the result with 64 bits.
    WideAddress,
    /// The same in the high half.
    HighAddress,
    /// Address and length of the result, packed.
    Packed { base: Base, offset: u32 },
    /// No address, and any length: the host reads nothing.
    Refusal,
    /// A vector.
    Vector(Known),
}

impl AbstractValue {
    /// What holds where this number isn't zero, and where it is.
    pub(super) fn facts(&self) -> (ValueFacts, ValueFacts) {
        match self {
            Self::Truth { holds, fails } => (holds.clone(), fails.clone()),
            _ => (ValueFacts::default(), ValueFacts::default()),
        }
    }

    fn truth(holds: impl Into<ValueFacts>, fails: impl Into<ValueFacts>) -> Option<Self> {
        Some(Self::Truth { holds: holds.into(), fails: fails.into() })
    }

    /// `self == other`.
    pub(super) fn equals(&self, other: &Self) -> Option<Self> {
        let ((Self::Field(slot, RecordField::Length), Self::Const(length))
        | (Self::Const(length), Self::Field(slot, RecordField::Length))) = (self, other)
        else {
            return None;
        };
        Self::truth(Fact::LengthIs(*slot, length.cast_unsigned()), ValueFacts::default())
    }

    /// `self <= other`, without signs.
    pub(super) fn at_most(&self, other: &Self) -> Option<Self> {
        let (Self::Field(slot, RecordField::Length), Self::Const(most)) = (self, other) else {
            return None;
        };
        Self::truth(Fact::LengthAtMost(*slot, most.cast_unsigned()), ValueFacts::default())
    }

    /// `self < other`, with signs.
    pub(super) fn is_less(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (Self::Item(base), Self::Const(0)) => {
                Self::truth(ValueFacts::default(), Fact::Written(*base))
            }
            (Self::Number(name), Self::Const(0)) => {
                Self::truth(Fact::Negative(*name), ValueFacts::default())
            }
            _ => None,
        }
    }

    /// `self == 0`.
    pub(super) fn negated(&self) -> Option<Self> {
        let (holds, fails) = self.facts();
        Self::truth(fails, holds)
    }

    /// `self & other`: not zero only where neither is.
    pub(super) fn and(&self, other: &Self) -> Option<Self> {
        Self::truth(self.facts().0.both(&other.facts().0), ValueFacts::default())
    }

    /// `self | other`: zero only where both are.
    pub(super) fn or(&self, other: &Self) -> Option<Self> {
        Self::truth(ValueFacts::default(), self.facts().1.both(&other.facts().1))
    }

    /// `self + other`, where nothing of the result's state has to be known for it.
    pub(super) fn plus(&self, other: &Self) -> Option<Self> {
        let moved = |from: u32, by: i32| {
            let by = u32::try_from(by).ok()?;
            from.checked_add(by).filter(|sum| *sum <= MOST)
        };
        Some(match (self, other) {
            (Self::Const(one), Self::Const(other)) => Self::Const(one.wrapping_add(*other)),
            (Self::Block(from), Self::Const(by)) | (Self::Const(by), Self::Block(from)) => {
                Self::Block(moved(*from, *by)?)
            }
            (Self::Row(from), Self::Const(by)) | (Self::Const(by), Self::Row(from)) => {
                Self::Row(moved(*from, *by)?)
            }
            (Self::Out { base, offset }, Self::Const(by))
            | (Self::Const(by), Self::Out { base, offset }) => {
                Self::Out { base: *base, offset: moved(*offset, *by)? }
            }
            (Self::Block(0), Self::Field(slot, RecordField::Offset))
            | (Self::Field(slot, RecordField::Offset), Self::Block(0)) => Self::Text(*slot),
            _ => return None,
        })
    }

    /// `self - other`.
    pub(super) fn minus(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (Self::Out { base, offset }, Self::Out { base: OUTPUT, offset: 0 }) => {
                Some(Self::Length { base: *base, offset: *offset })
            }
            _ => None,
        }
    }

    /// With 64 bits, without a sign.
    pub(super) fn widened(&self) -> Option<Self> {
        match self {
            Self::Const(constant) => Some(Self::Wide(i64::from(constant.cast_unsigned()))),
            Self::Out { base: OUTPUT, offset: 0 } => Some(Self::WideAddress),
            Self::Length { base, offset } => {
                Some(Self::WideLength { base: *base, offset: *offset })
            }
            _ => None,
        }
    }

    /// `self << other`, of 64 bits.
    pub(super) fn shifted(&self, by: &Self) -> Option<Self> {
        (*self == Self::WideAddress && *by == Self::Wide(32)).then_some(Self::HighAddress)
    }

    /// `self | other`, of 64 bits.
    pub(super) fn packed(&self, other: &Self) -> Option<Self> {
        /// The high half all ones: whatever is set below, it stays that.
        const NO_ADDRESS: i64 = -1 << 32;
        let is_no_address =
            |value: &Self| matches!(value, Self::Wide(bits) if bits & NO_ADDRESS == NO_ADDRESS);
        match (self, other) {
            (Self::HighAddress, Self::WideLength { base, offset })
            | (Self::WideLength { base, offset }, Self::HighAddress) => {
                Some(Self::Packed { base: *base, offset: *offset })
            }
            _ if is_no_address(self) || is_no_address(other) => Some(Self::Refusal),
            _ => None,
        }
    }
}
