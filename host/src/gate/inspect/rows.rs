//! The one form of loop that has a bound: over the rows of a column.
//!
//! A rendered extractor goes over rows in functions of their own, which do nothing else. Its parameters are the address of
//! the input block and where the result has got to; a column's slot says where the first row lies and how many there are:
//!
//! ```text
//! $row = $block + load(slot + 4); $left = load(slot + 8)
//! loop: while $left is not 0 {
//!     $to = call f($block, $row, $to); if $to < 0 { leave }
//!     $row += stride; $left -= 1
//! }
//! return $to
//! ```
//!
//! The host writes `stride` bytes of records for each row, which are a part of the block, so that there are no more rows than
//! bytes of block divided by the stride. That holds where the slot is a column's, of that stride: of a rendered module the
//! renderer knows, of any other the [verifier](super::verify) finds out.

use wasmparser::Operator;

/// A function that calls another one for each row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RowLoop {
    /// Where the slot of the column has the offset of the first row, counted from the block's first byte.
    pub(super) head: u64,
    /// The function that it calls.
    pub(super) callee: u32,
    /// Bytes of a row, more than none.
    pub(super) stride: u32,
}

/// An operator of the form.
#[derive(Clone, Copy)]
enum LoopStep {
    Get(u32),
    Set(u32),
    /// Loads the offset of the first row.
    First,
    /// Loads the number of rows, which follows it.
    Count,
    Const(i32),
    Stride,
    Add,
    Sub,
    IsZero,
    IsLess,
    Block,
    Loop,
    Branch(u32),
    BranchIf(u32),
    Call,
    End,
}

const BLOCK: u32 = 0;
const TO: u32 = 1;
const ROW: u32 = 2;
const LEFT: u32 = 3;

/// The function's body, its locals aside.
const FORM: [LoopStep; 34] = {
    use LoopStep::{
        Add, Block, Branch, BranchIf, Call, Const, Count, End, First, Get, IsLess, IsZero, Loop,
        Set, Stride, Sub,
    };
    [
        Get(BLOCK),
        Get(BLOCK),
        First,
        Add,
        Set(ROW),
        Get(BLOCK),
        Count,
        Set(LEFT),
        Block,
        Loop,
        Get(LEFT),
        IsZero,
        BranchIf(1),
        Get(BLOCK),
        Get(ROW),
        Get(TO),
        Call,
        Set(TO),
        Get(TO),
        Const(0),
        IsLess,
        BranchIf(1),
        Get(ROW),
        Stride,
        Add,
        Set(ROW),
        Get(LEFT),
        Const(1),
        Sub,
        Set(LEFT),
        Branch(0),
        End,
        End,
        Get(TO),
    ]
};

/// Holds the operators of a body against the form, one by one.
#[derive(Clone, Debug, Default)]
pub(super) struct Matcher {
    /// Operators that fitted.
    seen: usize,
    differs: bool,
    found: RowLoop,
}

impl Matcher {
    /// The next operator.
    pub(super) fn see(&mut self, operator: &Operator<'_>) {
        let fits = match FORM.get(self.seen) {
            Some(step) => self.fits(*step, operator),
            // The end of the body.
            None => self.seen == FORM.len() && matches!(operator, Operator::End),
        };
        self.differs |= !fits;
        self.seen += 1;
    }

    /// The loop, once the whole body has been seen, where it is one.
    pub(super) fn finish(self) -> Option<RowLoop> {
        (!self.differs && self.seen == FORM.len() + 1).then_some(self.found)
    }

    fn fits(&mut self, step: LoopStep, operator: &Operator<'_>) -> bool {
        match (step, operator) {
            (LoopStep::Get(local), Operator::LocalGet { local_index })
            | (LoopStep::Set(local), Operator::LocalSet { local_index }) => *local_index == local,
            (LoopStep::First, Operator::I32Load { memarg }) => {
                self.found.head = memarg.offset;
                true
            }
            (LoopStep::Count, Operator::I32Load { memarg }) => memarg.offset == self.found.head + 4,
            (LoopStep::Const(constant), Operator::I32Const { value }) => *value == constant,
            (LoopStep::Stride, Operator::I32Const { value }) => match u32::try_from(*value) {
                Ok(stride) if stride > 0 => {
                    self.found.stride = stride;
                    true
                }
                _ => false,
            },
            (LoopStep::Branch(depth), Operator::Br { relative_depth })
            | (LoopStep::BranchIf(depth), Operator::BrIf { relative_depth }) => {
                *relative_depth == depth
            }
            (LoopStep::Call, Operator::Call { function_index }) => {
                self.found.callee = *function_index;
                true
            }
            (LoopStep::Add, Operator::I32Add)
            | (LoopStep::Sub, Operator::I32Sub)
            | (LoopStep::IsZero, Operator::I32Eqz)
            | (LoopStep::IsLess, Operator::I32LtS)
            | (LoopStep::Block, Operator::Block { .. })
            | (LoopStep::Loop, Operator::Loop { .. })
            | (LoopStep::End, Operator::End) => true,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use wasmparser::{Parser, Payload};

    use super::super::body;
    use super::super::cost::OPERATOR_COST;
    use super::super::limits::StructuralLimits;
    use super::super::problem::Problems;
    use super::RowLoop;

    const FORM: &str = "
        (local.set $row (i32.add (local.get $block) (i32.load offset=24 (local.get $block))))
        (local.set $left (i32.load offset=28 (local.get $block)))
        (block $done
          (loop $next
            (br_if $done (i32.eqz (local.get $left)))
            (local.set $to (call $item (local.get $block) (local.get $row) (local.get $to)))
            (br_if $done (i32.lt_s (local.get $to) (i32.const 0)))
            (local.set $row (i32.add (local.get $row) (i32.const 36)))
            (local.set $left (i32.sub (local.get $left) (i32.const 1)))
            (br $next)))
        (local.get $to)";

    fn row_loop(body: &str) -> Option<RowLoop> {
        let text = format!(
            "(module (memory 1)
               (func $item (param i32 i32 i32) (result i32) (local.get 2))
               (func (param $block i32) (param $to i32) (result i32) (local $row i32) (local $left i32) {body}))"
        );
        let wasm = wat::parse_str(text).expect("a module");
        let limits = StructuralLimits::default();
        let mut functions = Parser::new(0).parse_all(&wasm).filter_map(|payload| match payload {
            Ok(Payload::CodeSectionEntry(body)) => {
                body::read(&body, 0, &OPERATOR_COST, &mut Problems::new(&limits))
            }
            _ => None,
        });
        functions.nth(1).and_then(|code| code.row_loop)
    }

    #[test]
    fn the_form_is_known_with_its_callee_and_its_stride() {
        assert_eq!(row_loop(FORM), Some(RowLoop { head: 24, callee: 0, stride: 36 }));
    }

    #[test]
    fn no_other_loop_is_taken_for_it() {
        for (part, other) in [
            // Counts nothing, something else, or backwards.
            ("(i32.const 1)))\n", "(i32.const 0)))\n"),
            ("(i32.sub (local.get $left)", "(i32.add (local.get $left)"),
            ("(local.set $left (i32.sub", "(local.set $row (i32.sub"),
            ("offset=28", "offset=24"),
            ("offset=28", "offset=40"),
            ("(i32.load offset=28", "(i32.load8_u offset=28"),
            // Doesn't end where the count does.
            ("(br_if $done (i32.eqz (local.get $left)))", ""),
            (
                "(br_if $done (i32.eqz (local.get $left)))",
                "(br_if $done (i32.eqz (local.get $to)))",
            ),
            (
                "(br_if $done (i32.eqz (local.get $left)))",
                "(br_if $next (i32.eqz (local.get $left)))",
            ),
            // Rows of no bytes.
            ("(i32.const 36)", "(i32.const 0)"),
            ("(i32.const 36)", "(i32.const -12)"),
            // Does something besides.
            ("(br $next)", "(local.set $left (i32.const 9)) (br $next)"),
            (
                "(br $next)",
                "(drop (call $item (local.get 0) (local.get 0) (local.get 0))) (br $next)",
            ),
            ("(block $done", "(local.set $left (i32.const -1)) (block $done"),
            ("(local.get $to)))\n", "(i32.const 0)))\n"),
            (
                "(br $next)))\n        (local.get $to)",
                "(br $next)))\n        (local.get $to) (nop)",
            ),
        ] {
            let body = FORM.replacen(part, other, 1);
            assert_ne!(body, FORM, "{part}");
            assert_eq!(row_loop(&body), None, "{part} -> {other}");
        }
        assert_eq!(row_loop("(local.get $to)"), None);
        assert_eq!(row_loop("(loop $again (br $again)) (local.get $to)"), None);
    }
}
