//! One function's body, read operator by operator.

use std::collections::BTreeMap;

use wasmparser::{FuncValidator, FunctionBody, Operator, OperatorsReader, WasmModuleResources};
use wasmtime::OperatorCost;

use super::limits::Limit;
use super::problem::{Fault, ModulePlace, Problems};
use super::rows::{Matcher, RowLoop};

/// Measures of a body that the structural limits bound.
#[derive(Clone, Debug, Default)]
pub(super) struct BodyShape {
    pub(super) bytes: u64,
    pub(super) locals: u64,
    pub(super) nesting: u64,
    pub(super) loops: u64,
    pub(super) nested_loops: u64,
    /// Targets of the largest `br_table`.
    pub(super) br_table_targets: u64,
    /// Where control flow may part or meet: blocks, loops, ifs, elses and targets of branches.
    pub(super) branches: u64,
    /// Height of the operand stack where it is highest; known once the body is validated.
    pub(super) operands: u64,
}

/// What a body does, as far as that can be read off it.
#[derive(Clone, Debug)]
pub(super) struct Code {
    pub(super) shape: BodyShape,
    /// Fuel of running each operator once, and of entry; bulk operations of constant length included.
    pub(super) fuel: u64,
    /// The part of it that the operators in loops cost.
    pub(super) loop_fuel: u64,
    /// Whether all that the body does is to call a function for each row.
    pub(super) row_loop: Option<RowLoop>,
    /// Whether there are bulk operations whose length isn't a constant.
    pub(super) bulk: bool,
    /// Callees, and how many call operators name each.
    pub(super) calls: BTreeMap<u32, u64>,
    pub(super) calls_indirectly: bool,
    pub(super) grows_memory: bool,
    /// An operator that changes the table or drops a segment, if there is one.
    pub(super) lasting: Option<&'static str>,
}

/// Reads a body, in time and space linear in its size; `None` when it has a problem.
pub(super) fn read(
    body: &FunctionBody<'_>,
    function: u32,
    costs: &OperatorCost,
    problems: &mut Problems<'_>,
) -> Option<Code> {
    let place = ModulePlace::Func(function);
    let bytes = body.range().len() as u64;
    if !problems.within(place.clone(), Limit::BodyBytes, bytes) {
        return None;
    }
    let code = match BodyReader::new(costs).run(body) {
        Ok(code) => code,
        Err(error) => {
            problems.push(place, Fault::decoding(&error));
            return None;
        }
    };
    let shape = &code.shape;
    let mut clean = true;
    for (limit, used) in [
        (Limit::Locals, shape.locals),
        (Limit::Nesting, shape.nesting),
        (Limit::NestedLoops, shape.nested_loops),
        (Limit::BrTableTargets, shape.br_table_targets),
    ] {
        clean &= problems.within(place.clone(), limit, used);
    }
    clean.then_some(code)
}

/// Validates a body; how high its operand stack gets.
pub(super) fn validate(
    body: &FunctionBody<'_>,
    validator: &mut FuncValidator<impl WasmModuleResources>,
) -> wasmparser::Result<u64> {
    let mut reader = body.get_binary_reader();
    validator.read_locals(&mut reader)?;
    reader.set_features(super::features::features());
    let mut highest = 0;
    while !reader.eof() {
        reader.visit_operator(&mut validator.visitor(reader.original_position()))??;
        highest = highest.max(validator.operand_stack_height());
    }
    reader.finish_expression(&validator.visitor(reader.original_position()))?;
    Ok(u64::from(highest))
}

/// The name of an operator that changes the table or drops a segment.
fn lasting(operator: &Operator<'_>) -> Option<&'static str> {
    match operator {
        Operator::DataDrop { .. } => Some("data.drop"),
        Operator::ElemDrop { .. } => Some("elem.drop"),
        Operator::TableCopy { .. } => Some("table.copy"),
        Operator::TableInit { .. } => Some("table.init"),
        // No guest may use those of reference types today.
        Operator::TableFill { .. } => Some("table.fill"),
        Operator::TableGrow { .. } => Some("table.grow"),
        Operator::TableSet { .. } => Some("table.set"),
        _ => None,
    }
}

struct BodyReader<'a> {
    costs: &'a OperatorCost,
    code: Code,
    /// Whether each open block is a loop.
    open: Vec<bool>,
    open_loops: u64,
    /// The constant that the operator before pushed.
    constant: Option<i32>,
    row_loop: Matcher,
}

impl<'a> BodyReader<'a> {
    fn new(costs: &'a OperatorCost) -> Self {
        let code = Code {
            shape: BodyShape::default(),
            fuel: super::cost::ENTRY_COST,
            loop_fuel: 0,
            row_loop: None,
            bulk: false,
            calls: BTreeMap::new(),
            calls_indirectly: false,
            grows_memory: false,
            lasting: None,
        };
        let row_loop = Matcher::default();
        Self { costs, code, open: Vec::new(), open_loops: 0, constant: None, row_loop }
    }

    fn run(mut self, body: &FunctionBody<'_>) -> wasmparser::Result<Code> {
        self.code.shape.bytes = body.range().len() as u64;
        let mut locals = body.get_locals_reader()?;
        for _ in 0..locals.get_count() {
            let (count, _) = locals.read()?;
            self.code.shape.locals += u64::from(count);
        }
        let mut reader = locals.get_binary_reader();
        reader.set_features(super::features::features());
        let mut operators = OperatorsReader::new(reader);
        while !operators.eof() {
            self.operator(&operators.read()?);
        }
        operators.finish()?;
        self.code.row_loop = self.row_loop.finish();
        Ok(self.code)
    }

    /// How many places `operator` adds where control flow may part or meet.
    fn branches(operator: &Operator<'_>) -> u64 {
        match operator {
            Operator::Block { .. }
            | Operator::Loop { .. }
            | Operator::If { .. }
            | Operator::Else
            | Operator::Br { .. }
            | Operator::BrIf { .. } => 1,
            Operator::BrTable { targets } => u64::from(targets.len()) + 1,
            _ => 0,
        }
    }

    fn operator(&mut self, operator: &Operator<'_>) {
        self.row_loop.see(operator);
        // Costs are at most 255.
        self.spend(u64::try_from(self.costs.cost(operator)).unwrap_or(u64::MAX));
        let shape = &mut self.code.shape;
        shape.branches += Self::branches(operator);
        match operator {
            Operator::Block { .. } | Operator::If { .. } => self.enter(false),
            Operator::Loop { .. } => {
                shape.loops += 1;
                self.enter(true);
            }
            Operator::End => self.leave(),
            Operator::BrTable { targets } => {
                shape.br_table_targets = shape.br_table_targets.max(u64::from(targets.len()));
            }
            Operator::Call { function_index } => {
                *self.code.calls.entry(*function_index).or_default() += 1;
            }
            Operator::CallIndirect { .. } => self.code.calls_indirectly = true,
            Operator::MemoryGrow { .. } => self.code.grows_memory = true,
            Operator::MemoryCopy { .. } => self.bulk(self.costs.variable.memory_copy_per_byte),
            Operator::MemoryFill { .. } => self.bulk(self.costs.variable.memory_fill_per_byte),
            Operator::MemoryInit { .. } => self.bulk(self.costs.variable.memory_init_per_byte),
            Operator::TableCopy { .. } => self.bulk(self.costs.variable.table_copy_per_element),
            Operator::TableInit { .. } => self.bulk(self.costs.variable.table_init_per_element),
            _ => {}
        }
        if let Some(operator) = lasting(operator) {
            self.code.lasting = Some(operator);
        }
        self.constant = match operator {
            Operator::I32Const { value } => Some(*value),
            _ => None,
        };
    }

    fn enter(&mut self, is_loop: bool) {
        self.open.push(is_loop);
        self.open_loops += u64::from(is_loop);
        let shape = &mut self.code.shape;
        shape.nesting = shape.nesting.max(self.open.len() as u64);
        shape.nested_loops = shape.nested_loops.max(self.open_loops);
    }

    /// Closes the innermost block; the body's own `end` finds none.
    fn leave(&mut self) {
        if self.open.pop() == Some(true) {
            self.open_loops -= 1;
        }
    }

    /// A bulk operation: its length is on top of the stack.
    fn bulk(&mut self, cost_per_unit: u8) {
        match self.constant {
            // The engine reads a negative constant as an unbounded length.
            Some(length) => {
                let units = u64::try_from(length).unwrap_or(u64::MAX);
                self.spend(units.saturating_mul(u64::from(cost_per_unit)));
            }
            None => self.code.bulk = true,
        }
    }

    fn spend(&mut self, fuel: u64) {
        self.code.fuel = self.code.fuel.saturating_add(fuel);
        if self.open_loops > 0 {
            self.code.loop_fuel = self.code.loop_fuel.saturating_add(fuel);
        }
    }
}
