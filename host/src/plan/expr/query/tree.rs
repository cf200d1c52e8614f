//! An expression as it was written.

/// A part of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    /// Offset of what it is told by: a name, an operator.
    pub(crate) at: usize,
    /// Offset after that.
    pub(crate) end: usize,
    /// How deep it nests; a chain of fields is one level.
    pub(super) depth: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NodeKind {
    /// `@`, and what a bracket without a value before it stands on.
    Current,
    /// `$`
    Root,
    Variable(String),
    /// A key of the current object, and whether it is in quotes.
    Field(String, bool),
    /// JSON.
    Literal(String),
    /// `a.b`: null where `a` is, `b` of it otherwise.
    Sub(Box<Node>, Box<Node>),
    /// `a | b`: `b` of `a`, also of null.
    Pipe(Box<Node>, Box<Node>),
    Or(Box<Node>, Box<Node>),
    And(Box<Node>, Box<Node>),
    Not(Box<Node>),
    Compare(Comparison, Box<Node>, Box<Node>),
    Arithmetic(Operation, Box<Node>, Box<Node>),
    Negate(Box<Node>),
    Plus(Box<Node>),
    Ternary(Box<Node>, Box<Node>, Box<Node>),
    Index(Box<Node>, i64),
    Slice(Box<Node>, Slice),
    Flatten(Box<Node>),
    /// The right one of each element of the list that the left one gives; of a string that a slice gives, of that.
    Project(Box<Node>, Box<Node>),
    /// The same of each value of an object.
    ProjectValues(Box<Node>, Box<Node>),
    /// The last one of each element for which the second one is true.
    Filter(Box<Node>, Box<Node>, Box<Node>),
    List(Vec<Node>),
    Object(Vec<(String, Node)>),
    Call(String, Vec<Node>),
    /// `&a`, for a function to evaluate.
    Reference(Box<Node>),
    Let(Vec<(String, Node)>, Box<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    /// Whether it holds for two numbers in that order; none for a test of equality.
    pub(crate) fn orders(self, order: std::cmp::Ordering) -> Option<bool> {
        match self {
            Self::Equal | Self::NotEqual => None,
            Self::Less => Some(order.is_lt()),
            Self::LessOrEqual => Some(order.is_le()),
            Self::Greater => Some(order.is_gt()),
            Self::GreaterOrEqual => Some(order.is_ge()),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    FloorDivide,
}

/// `[start:stop:step]`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slice {
    pub(crate) start: Option<i64>,
    pub(crate) stop: Option<i64>,
    /// Not 0.
    pub(crate) step: i64,
}

impl Slice {
    /// The first index of a list of so many elements, and how many it takes, by steps.
    pub(crate) fn of(self, length: usize) -> (usize, usize) {
        let length = length as i64;
        let forward = self.step > 0;
        let (low, high) = if forward { (0, length) } else { (-1, length - 1) };
        let bound = |index: i64| {
            let index = if index < 0 { index.saturating_add(length) } else { index };
            index.clamp(low, high)
        };
        let start = self.start.map_or(if forward { low } else { high }, bound);
        let stop = self.stop.map_or(if forward { high } else { low }, bound);
        let span = if forward { stop - start } else { start - stop };
        let step = self.step.unsigned_abs();
        let count = if span <= 0 { 0 } else { (span as u64).div_ceil(step) };
        (start.max(0) as usize, count as usize)
    }
}

impl Node {
    pub(super) fn new(kind: NodeKind, at: usize, end: usize) -> Self {
        let depth = kind.depth();
        Self { kind, at, end, depth }
    }

    /// `@` where nothing is written.
    pub(super) fn current(at: usize) -> Self {
        Self::new(NodeKind::Current, at, at)
    }

    pub(crate) fn is_current(&self) -> bool {
        self.kind == NodeKind::Current
    }
}

impl NodeKind {
    fn depth(&self) -> usize {
        let of = |nodes: &[&Node]| 1 + nodes.iter().map(|node| node.depth).max().unwrap_or(0);
        match self {
            Self::Current | Self::Root | Self::Variable(_) | Self::Field(..) | Self::Literal(_) => {
                1
            }
            Self::Sub(left, right) if matches!(right.kind, Self::Field(..)) => left.depth,
            Self::Sub(a, b)
            | Self::Pipe(a, b)
            | Self::Or(a, b)
            | Self::And(a, b)
            | Self::Compare(_, a, b)
            | Self::Arithmetic(_, a, b)
            | Self::Project(a, b)
            | Self::ProjectValues(a, b) => of(&[a, b]),
            Self::Not(a)
            | Self::Negate(a)
            | Self::Plus(a)
            | Self::Index(a, _)
            | Self::Slice(a, _)
            | Self::Flatten(a)
            | Self::Reference(a) => of(&[a]),
            Self::Ternary(a, b, c) | Self::Filter(a, b, c) => of(&[a, b, c]),
            Self::List(all) | Self::Call(_, all) => {
                1 + all.iter().map(|node| node.depth).max().unwrap_or(0)
            }
            Self::Object(all) => 1 + all.iter().map(|(_, node)| node.depth).max().unwrap_or(0),
            Self::Let(bindings, body) => {
                let bound = bindings.iter().map(|(_, node)| node.depth).max().unwrap_or(0);
                1 + bound.max(body.depth)
            }
        }
    }
}
