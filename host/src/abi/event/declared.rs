//! A declaration made ready: for each input, how it is computed and from which values.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::slice;

use serde_json::Value;

use super::trie::Trie;
use super::withhold::Withhold;
use crate::abi::section::{Input, InputKind, Rows};
use crate::abi::slot::{Slot, SlotKind};
use crate::plan::expr::{
    CompiledCondition, CompiledQuery, CompiledTest, CompiledValue, Empty, Expression, Level,
    Listed, Over, QueryScope, Reference, SharedParts, Source,
};

/// The inputs of a declaration, and its iterations, made ready.
#[derive(Clone, Debug)]
pub(crate) struct PreparedSection {
    /// In the order of declaration.
    pub(crate) prepared: Vec<PreparedInput>,
    /// Those without rows, in the order of declaration.
    pub(crate) event_inputs: Vec<InputRun>,
    /// In the order of declaration.
    pub(crate) tables: Vec<PreparedRows>,
    /// Whether all there is are values at paths of the event, as they are, and tests of them.
    pub(crate) is_plain: bool,
    /// What an empty string counts as.
    pub(crate) empty: Empty,
    /// How many parts of expressions are evaluated once for all that have them in common.
    pub(crate) shared_parts: usize,
}

/// Inputs one after the other that are ruled out together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InputRun {
    /// The input that has to be true, or these are absent.
    pub(crate) only_if: Option<usize>,
    pub(crate) inputs: Range<usize>,
}

impl InputRun {
    /// All inputs without rows, in as few runs as there are.
    fn all(inputs: &[Input]) -> Vec<Self> {
        let mut runs: Vec<Self> = Vec::new();
        for (index, input) in inputs.iter().enumerate().filter(|(_, input)| input.rows.is_none()) {
            match runs.last_mut() {
                Some(run) if run.inputs.end == index && run.only_if == input.only_if => {
                    run.inputs.end += 1;
                }
                _ => runs.push(Self { only_if: input.only_if, inputs: index..index + 1 }),
            }
        }
        runs
    }
}

/// How an input is computed.
#[derive(Clone, Debug)]
pub(crate) struct PreparedInput {
    pub(crate) source: InputSource,
    /// The input that has to be true, or this one is absent.
    pub(crate) only_if: Option<usize>,
    /// Whether the event is rejected where a conversion fails.
    pub(crate) rejects: bool,
    pub(crate) scope: ValueScope,
}

/// What an input is made from.
// Which one it is has a byte of its own: in what a field leaves unused, it takes ten instructions to find out.
#[repr(u8)]
#[derive(Clone, Debug)]
pub(crate) enum InputSource {
    /// The value, as it is.
    Value(ValuePlace),
    /// Whether the value is truthy.
    Truthy(ValuePlace),
    /// The first of these that is there and isn't null, as it is, or else the constant, as canonical JSON.
    First(Vec<ValuePlace>, Option<String>),
    /// What is made of these values.
    Evaluated(CompiledValue, Vec<ValuePlace>),
    /// Whether the value passes the test.
    Test(ValuePlace, CompiledTest),
    /// Whether the condition holds of these values.
    Condition(CompiledCondition, Vec<ValuePlace>),
}

impl InputSource {
    fn places(&mut self) -> &mut [ValuePlace] {
        match self {
            Self::Value(place) | Self::Truthy(place) | Self::Test(place, _) => {
                slice::from_mut(place)
            }
            Self::First(places, _) | Self::Evaluated(_, places) | Self::Condition(_, places) => {
                places
            }
        }
    }
}

/// A value at one of the levels. A plan has hundreds of them, and each is read for every event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ValuePlace {
    level: u8,
    /// The number of the path among those that are read at its level.
    path: u32,
    /// The number of its slot there.
    slot: u32,
    /// Whether an object or an array here is withheld.
    withheld: bool,
    /// What an empty string here counts as.
    empty: Empty,
}

impl ValuePlace {
    /// What its path starts from.
    #[inline]
    pub(crate) fn level(self) -> u8 {
        self.level
    }

    /// The number of its slot at its level.
    #[inline]
    pub(crate) fn slot(self) -> usize {
        self.slot as usize
    }

    /// Whether an object or an array here is withheld.
    pub(crate) fn is_withheld(self) -> bool {
        self.withheld
    }

    /// The same place where an empty string is a value.
    pub(crate) fn as_it_is(self) -> Self {
        Self { empty: Empty::Value, ..self }
    }

    /// What of that which was found here is to be read. Objects and arrays are withheld where a policy may deny something in
    /// them.
    #[inline(always)]
    pub(crate) fn read(self, found: Slot) -> Slot {
        // Its two quotes are all that there is of an empty string.
        let is_empty = found.kind == SlotKind::String && found.end - found.start == 2;
        if is_empty && self.empty == Empty::Absent {
            return Slot::default();
        }
        if self.withheld && matches!(found.kind, SlotKind::Object | SlotKind::Array) {
            return Slot { kind: SlotKind::Denied, ..Slot::default() };
        }
        found
    }
}

/// For how long an input has the same value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueScope {
    /// For one event.
    Event,
    /// For one element of an iteration outside, by its level.
    Element(usize),
    /// For one row.
    Row,
}

/// What an iteration goes over.
#[derive(Clone, Debug)]
pub(crate) enum PreparedList {
    /// What is at the first of these places at which there is such a thing.
    At(Over, Vec<ValuePlace>),
    /// The array that is made of these values.
    By(CompiledValue, Vec<ValuePlace>),
}

/// An iteration: its rows, and what they hold.
#[derive(Clone, Debug)]
pub(crate) struct PreparedRows {
    pub(crate) list: PreparedList,
    /// What has to hold of an element, and of which values.
    pub(crate) condition: Option<(CompiledCondition, Vec<ValuePlace>)>,
    /// The iteration that it lies in.
    pub(crate) within: Option<usize>,
    /// The input that has to be true, or there are no rows.
    pub(crate) only_if: Option<usize>,
    /// The paths that are read in an element.
    pub(crate) trie: Trie,
    /// The inputs that are its columns.
    pub(crate) columns: Vec<usize>,
    /// The iterations that lie in it.
    pub(crate) inner: Vec<usize>,
    /// Whether it has columns, or one that lies in it has.
    pub(crate) is_asked_for: bool,
    /// With how many restricted keys the key of an entry is compared, if it has a dot.
    pub(crate) key_weight: u64,
}

/// The paths that are read at one level, each once but for those of the inputs themselves.
#[derive(Default)]
struct PathNumbers {
    listed: Vec<Option<Vec<String>>>,
    known: HashMap<Vec<String>, usize>,
    /// Those that lead to what is gone over.
    taped: HashSet<usize>,
}

impl PathNumbers {
    fn number(&mut self, path: &[String]) -> usize {
        if let Some(number) = self.known.get(path) {
            return *number;
        }
        let number = self.listed.len();
        self.list(Some(path.to_vec()));
        number
    }

    fn list(&mut self, path: Option<Vec<String>>) {
        if let Some(path) = &path {
            self.known.insert(path.clone(), self.listed.len());
        }
        self.listed.push(path);
    }
}

/// While a declaration is made ready.
struct Builder<'a> {
    rows: &'a [Rows],
    event: PathNumbers,
    elements: Vec<PathNumbers>,
    withheld: Option<&'a dyn Withhold>,
    empty: Empty,
}

impl PreparedSection {
    /// Makes a declaration ready, with the paths that are read of an event itself. There the input that was declared at an
    /// index has the number of that index, if it is what is at a path of the event or a test of that, and `watched` has the
    /// number after the last input.
    pub(super) fn new(
        inputs: &[Input],
        rows: &[Rows],
        watched: Option<&[String]>,
        withheld: Option<&dyn Withhold>,
        empty: Empty,
    ) -> (Self, Trie) {
        let mut event = PathNumbers::default();
        for input in inputs {
            let path = own_path(input).filter(|_| input.rows.is_none());
            event.list(path.map(|reference| reference.path.clone()));
        }
        event.list(watched.map(<[String]>::to_vec));
        let elements = rows.iter().map(|_| PathNumbers::default()).collect();
        let mut builder = Builder { rows, event, elements, withheld, empty };
        let prepared =
            inputs.iter().enumerate().map(|(index, input)| builder.prepare(index, input));
        let mut prepared: Vec<PreparedInput> = prepared.collect();
        let mut lists: Vec<_> = rows.iter().map(|rows| builder.list(rows)).collect();
        let mut conditions: Vec<_> =
            (0..rows.len()).map(|index| builder.condition(index)).collect();
        let shared_parts = builder.share(inputs, &mut prepared, &mut lists, &mut conditions);
        let paths = &builder.event;
        let event = Trie::new(&paths.listed, &paths.taped);
        let elements = builder.elements.iter();
        let elements: Vec<Trie> =
            elements.map(|paths| Trie::new(&paths.listed, &paths.taped)).collect();
        let lay_out = |places: &mut [ValuePlace], rows| {
            let levels = builder.levels(rows);
            for place in places {
                let own = iteration(&levels, place.level).and_then(|own| elements.get(own));
                place.slot = own.unwrap_or(&event).position(place.path as usize);
            }
        };
        for (input, prepared) in inputs.iter().zip(&mut prepared) {
            lay_out(prepared.source.places(), input.rows);
        }
        for (rows, list) in rows.iter().zip(&mut lists) {
            let (PreparedList::At(_, places) | PreparedList::By(_, places)) = list;
            lay_out(places, rows.within);
        }
        for (index, condition) in conditions.iter_mut().enumerate() {
            if let Some((_, places)) = condition {
                lay_out(places, Some(index));
            }
        }
        let columns = inputs.iter().filter_map(|input| input.rows);
        let asked_for: HashSet<usize> =
            columns.flat_map(|index| Rows::around(rows, index)).collect();
        let gone_over = lists.into_iter().zip(conditions);
        let tables = rows.iter().zip(gone_over).zip(elements).enumerate();
        let tables = tables.map(|(index, ((rows, (list, condition)), trie))| PreparedRows {
            list,
            condition,
            within: rows.within,
            only_if: rows.only_if,
            trie,
            columns: positions(inputs, |input| input.rows == Some(index)),
            inner: positions(builder.rows, |rows| rows.within == Some(index)),
            is_asked_for: asked_for.contains(&index),
            key_weight: withheld.map_or(0, |withheld| withheld.weight(index)),
        });
        let tables: Vec<PreparedRows> = tables.collect();
        let is_plain = tables.is_empty() && empty == Empty::Value && prepared.iter().all(|it| {
            it.only_if.is_none()
                && matches!(it.source, InputSource::Value(place) | InputSource::Truthy(place) if !place.withheld)
        });
        let event_inputs = InputRun::all(inputs);
        let section = Self { prepared, event_inputs, tables, is_plain, empty, shared_parts };
        (section, event)
    }
}

fn positions<T>(list: &[T], is_wanted: impl Fn(&T) -> bool) -> Vec<usize> {
    list.iter().enumerate().filter(|(_, item)| is_wanted(item)).map(|(index, _)| index).collect()
}

/// The iteration whose elements are at a level, of the [levels](Builder::levels) that something sees; `None` for the event.
fn iteration(levels: &[Option<usize>], level: u8) -> Option<usize> {
    levels.get(usize::from(level)).copied().flatten()
}

/// The path of an input that is what is there, as it is, or a test of it.
fn own_path(input: &Input) -> Option<&Reference> {
    match &input.what {
        InputKind::Truthy(reference) => Some(reference),
        InputKind::Value(value) => plain_path(value),
        InputKind::When(_) => None,
    }
}

/// The path of a value that is what is there, as it is.
fn plain_path(value: &Expression) -> Option<&Reference> {
    match &value.source {
        Source::Path(reference) if value.convert.is_empty() => Some(reference),
        _ => None,
    }
}

/// The paths of a value that is what is at the first of several where there is something, as it is, and the constant that it is
/// otherwise.
fn plain_paths(value: &Expression) -> Option<(Vec<&Reference>, Option<&Value>)> {
    let Source::Coalesce(values) = &value.source else { return None };
    if !value.convert.is_empty() {
        return None;
    }
    let (paths, constant) = match values.split_last() {
        Some((Expression { source: Source::Constant(constant), convert, .. }, paths))
            if convert.is_empty() && !constant.is_null() =>
        {
            (paths, Some(constant))
        }
        _ => (values.as_slice(), None),
    };
    let paths = paths.iter().map(plain_path).collect::<Option<_>>()?;
    Some((paths, constant))
}

impl Builder<'_> {
    fn prepare(&mut self, index: usize, input: &Input) -> PreparedInput {
        let mut places = Vec::new();
        let mut resolve = |reference: &Reference| {
            places.push(match input.rows {
                // What is at a path of the event has the number of its input.
                None if own_path(input).is_some() => self.placed(0, None, index, &reference.path),
                rows => self.place(reference, rows),
            });
            places.len() - 1
        };
        let source = match &input.what {
            InputKind::Truthy(reference) => {
                resolve(reference);
                InputSource::Truthy(places[0])
            }
            InputKind::Value(value) => {
                if let Some(reference) = plain_path(value) {
                    resolve(reference);
                    InputSource::Value(places[0])
                } else if let Some((paths, constant)) = plain_paths(value) {
                    for reference in paths {
                        resolve(reference);
                    }
                    InputSource::First(places.clone(), constant.map(Value::to_string))
                } else {
                    let compiled = CompiledValue::new(value, &mut resolve);
                    InputSource::Evaluated(compiled, places.clone())
                }
            }
            InputKind::When(condition) => match CompiledCondition::new(condition, &mut resolve) {
                CompiledCondition::Test(index, test) => InputSource::Test(places[index], test),
                compiled => InputSource::Condition(compiled, places.clone()),
            },
        };
        let deepest = places.iter().map(|place| usize::from(place.level)).max().unwrap_or(0);
        let own = self.levels(input.rows).len() - 1;
        let scope = match deepest {
            _ if deepest == own => ValueScope::Row,
            0 => ValueScope::Event,
            level => ValueScope::Element(level),
        };
        let rejects = !input.on_error.is_omit();
        PreparedInput { source, only_if: input.only_if, rejects, scope }
    }

    /// Finds the parts that expressions have in common, and marks them; gives how many there are. Notes as well what expressions go
    /// over.
    fn share(
        &mut self,
        inputs: &[Input],
        prepared: &mut [PreparedInput],
        lists: &mut [PreparedList],
        conditions: &mut [Option<(CompiledCondition, Vec<ValuePlace>)>],
    ) -> usize {
        let mut parts = SharedParts::default();
        let mut taped = HashSet::new();
        // All are counted before the first one is marked.
        for marks in [false, true] {
            let mut visit = |query: &mut CompiledQuery, places: &[ValuePlace], rows| {
                let levels = self.levels(rows);
                let place = |index: usize| match places.get(index) {
                    Some(it) => {
                        (it.level.into(), format!("{:?} {}", iteration(&levels, it.level), it.path))
                    }
                    None => (0, String::new()),
                };
                let gone_over = query.taken_apart().filter_map(|index| places.get(index));
                // What is in an element is on the tape of what it is an element of.
                taped.extend(
                    gone_over.filter(|place| place.level == 0).map(|place| place.path as usize),
                );
                let mut read = query.inputs().iter().filter_map(|index| places.get(*index));
                let withheld = read.any(|place| place.withheld);
                let scope = QueryScope { place: &place, level: levels.len() - 1, withheld };
                if marks { parts.mark(query, &scope) } else { parts.count(query, &scope) }
            };
            for (input, prepared) in inputs.iter().zip(&mut *prepared) {
                match &mut prepared.source {
                    InputSource::Evaluated(value, places) => {
                        value.each_query(&mut |query| visit(query, places, input.rows));
                    }
                    InputSource::Condition(condition, places) => {
                        condition.each_query(&mut |query| visit(query, places, input.rows));
                    }
                    InputSource::Value(_)
                    | InputSource::Truthy(_)
                    | InputSource::First(..)
                    | InputSource::Test(..) => {}
                }
            }
            for (rows, list) in self.rows.iter().zip(&mut *lists) {
                if let PreparedList::By(value, places) = list {
                    value.each_query(&mut |query| visit(query, places, rows.within));
                }
            }
            for (index, condition) in conditions.iter_mut().enumerate() {
                if let Some((condition, places)) = condition {
                    condition.each_query(&mut |query| visit(query, places, Some(index)));
                }
            }
        }
        self.event.taped.extend(taped);
        parts.len()
    }

    /// The iteration of each level that something in `rows` sees, from the event on, which has none.
    fn levels(&self, rows: Option<usize>) -> Vec<Option<usize>> {
        let around = rows.map(|rows| Rows::around(self.rows, rows)).unwrap_or_default();
        std::iter::once(None).chain(around.into_iter().map(Some)).collect()
    }

    /// Where a path of something in `rows` leads. A section is checked to have no other levels than those.
    fn place(&mut self, reference: &Reference, rows: Option<usize>) -> ValuePlace {
        let level = reference.level.0;
        let iteration = iteration(&self.levels(rows), level);
        let paths = match iteration {
            Some(iteration) => self.elements.get_mut(iteration).unwrap_or(&mut self.event),
            None => &mut self.event,
        };
        let path = paths.number(&reference.path);
        self.placed(level, iteration, path, &reference.path)
    }

    /// The path with a number, of an iteration's elements or of the event.
    fn placed(
        &self,
        level: u8,
        iteration: Option<usize>,
        number: usize,
        path: &[String],
    ) -> ValuePlace {
        ValuePlace {
            level,
            // Far fewer paths fit into a section.
            path: number as u32,
            // Slots are laid out when all paths are known.
            slot: u32::MAX,
            withheld: self.withheld.is_some_and(|withheld| withheld.nested(iteration, path)),
            empty: self.empty,
        }
    }

    /// What an iteration goes over.
    fn list(&mut self, rows: &Rows) -> PreparedList {
        match &rows.iteration.list {
            Listed::At(over, paths) => PreparedList::At(*over, self.of(rows, paths)),
            Listed::By(query) => {
                let mut places = Vec::new();
                let expression =
                    Expression { source: Source::Query(query.clone()), convert: Vec::new() };
                let compiled = CompiledValue::new(&expression, &mut |reference| {
                    places.push(self.place(reference, rows.within));
                    places.len() - 1
                });
                PreparedList::By(compiled, places)
            }
        }
    }

    /// Where what an iteration goes over may be. To go over it is to read of its elements what is read of them, and no more.
    fn of(&mut self, rows: &Rows, paths: &[Vec<String>]) -> Vec<ValuePlace> {
        // Of the elements of the iteration outside, or of the event.
        let outside = self.levels(rows.within).len() - 1;
        let level = Level(u8::try_from(outside).unwrap_or(u8::MAX));
        let around = rows.within.and_then(|within| self.rows.get(within));
        // An entry as a whole isn't in the event: there is nothing to go over.
        let is_entry = around.is_some_and(|it| it.iteration.over() == Over::Entries);
        let paths = paths.iter().filter(|path| !(is_entry && path.is_empty()));
        let references = paths.map(|path| Reference { path: path.clone(), level });
        let places = references.map(|reference| self.place(&reference, rows.within));
        let places = places.map(|place| ValuePlace { withheld: false, ..place });
        let places: Vec<ValuePlace> = places.collect();
        let in_event = places.iter().filter(|place| place.level == 0);
        self.event.taped.extend(in_event.map(|place| place.path as usize));
        places
    }

    /// What has to hold of the elements of an iteration.
    fn condition(&mut self, index: usize) -> Option<(CompiledCondition, Vec<ValuePlace>)> {
        let condition = self.rows.get(index)?.iteration.condition.as_ref()?;
        let mut places = Vec::new();
        let compiled = CompiledCondition::new(condition, &mut |reference| {
            places.push(self.place(reference, Some(index)));
            places.len() - 1
        });
        Some((compiled, places))
    }
}
