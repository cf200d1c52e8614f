//! A guest called as the host calls it, on memory in any state.

use retort::gate::{FuelBound, Inspected, ResetSafety, StructuralLimits, inspect};
use retort::internal::{
    block::BlockWriter,
    event::{Projection, Projector},
    inspect::{OPERATOR_COST, features},
};
use wasmparser::{DataKind, Operator, Parser, Payload};
use wasmtime::{Config, Engine, Instance, Memory, Module, Store, TypedFunc, WasmFeatures};

/// The usual events.
pub(super) const EVENTS: [&str; 8] = [
    r#"{"event_type":"e","a":"abcdefgh","b":"0123456789012","rows":[{"x":1,"y":"two"},{"x":"three"},{"y":[4]}]}"#,
    r#"{"event_type":"e","a":1,"b":2,"rows":[]}"#,
    r#"{"event_type":"e","a":"0123456789abcde","b":"01234567","rows":[{"x":"a","y":"b"}]}"#,
    r#"{"event_type":"e","a":"0123456789abcdef","b":[1,2,3]}"#,
    r#"{"event_type":"e","a":"0123456789abcdef0123456789abcdef0123456789","b":"-","rows":[{"x":"0123456789abcdef0123456789"}]}"#,
    r#"{"event_type":"e","b":"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789"}"#,
    r#"{"event_type":"e","a":[["0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789"]],"b":null,"rows":"none"}"#,
    r#"{"event_type":"e"}"#,
];

/// More than any guest here takes that isn't looping.
const FUEL: u64 = 20_000_000;
const PAGE: usize = 64 << 10;

/// An engine that counts fuel, and what is put into memory as dirt.
pub(super) struct Lab {
    engine: Engine,
    /// A page of each kind.
    dirt: Vec<Vec<u8>>,
}

impl Lab {
    pub(super) fn new() -> Self {
        let mut config = Config::new();
        config
            .consume_fuel(true)
            .operator_cost(OPERATOR_COST)
            .wasm_features(WasmFeatures::all(), false)
            .wasm_features(WasmFeatures::from_bits_truncate(features().bits()), true)
            // What is tested is the guest, not the compiler.
            .cranelift_opt_level(wasmtime::OptLevel::None);
        let mut random = Random::new(1);
        let noise = std::iter::repeat_with(|| random.next() as u8).take(PAGE).collect();
        // What could be kinds, offsets and lengths.
        let words = std::iter::repeat_with(|| (random.next() % 8) as u32).take(PAGE / 4);
        let small = words.flat_map(u32::to_le_bytes).collect();
        Self { engine: Engine::new(&config).unwrap(), dirt: vec![noise, vec![0xff; PAGE], small] }
    }
}

/// Numbers that look random, the same ones every time.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }

    pub(super) fn below(&mut self, count: usize) -> usize {
        (self.next() % count.max(1) as u64) as usize
    }
}

/// What a call shows to the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shown {
    /// Address and length, packed; or the trap.
    returned: Result<u64, String>,
    /// What lies there, if it lies in the memory.
    bytes: Option<Vec<u8>>,
    fuel: u64,
}

/// A module in the lab.
pub(super) struct Subject {
    module: Module,
    function: String,
    data: Vec<(usize, Vec<u8>)>,
    bound: Option<FuelBound>,
    /// Whether all that is copied in bulk becomes part of the result.
    is_proven: bool,
}

struct Guest {
    store: Store<()>,
    memory: Memory,
    buffer: TypedFunc<u32, u32>,
    extract: TypedFunc<(u32, u32), u64>,
}

impl Subject {
    /// `None` where its data doesn't fit into its memory, or the engine doesn't take it.
    pub(super) fn of(lab: &Lab, inspected: &Inspected) -> Option<Self> {
        let module = Module::from_binary(&lab.engine, inspected.wasm()).ok()?;
        let subject = Self {
            module,
            function: inspected.section().function().to_owned(),
            data: data(inspected.wasm()),
            bound: inspected.facts().fuel_bound,
            is_proven: inspected.reset_safety() != ResetSafety::Unproven,
        };
        subject.guest(lab).map(|_| subject)
    }

    fn guest(&self, lab: &Lab) -> Option<Guest> {
        let mut store = Store::new(&lab.engine, ());
        store.set_fuel(FUEL).unwrap();
        let instance = Instance::new(&mut store, &self.module, &[]).ok()?;
        let memory = instance.get_memory(&mut store, "memory").unwrap();
        let buffer = instance.get_typed_func(&mut store, "retort_buffer").unwrap();
        let extract = instance.get_typed_func(&mut store, &self.function).unwrap();
        Some(Guest { store, memory, buffer, extract })
    }

    /// Puts dirt everywhere but where data segments lie.
    fn soil(&self, guest: &mut Guest, dirt: &[u8]) {
        let memory = guest.memory.data_mut(&mut guest.store);
        for page in memory.chunks_mut(dirt.len()) {
            page.copy_from_slice(&dirt[..page.len()]);
        }
        // In the order of the module: a later segment lies over an earlier one.
        for (start, bytes) in &self.data {
            memory[*start..start + bytes.len()].copy_from_slice(bytes);
        }
    }

    /// Runs a block; what the call shows, and what breaks the bound on fuel.
    fn run(&self, guest: &mut Guest, block: &[u8]) -> (Shown, Option<String>) {
        let Guest { store, memory, buffer, extract } = guest;
        store.set_fuel(FUEL).unwrap();
        let place = buffer.call(&mut *store, block.len() as u32);
        let called = place.and_then(|address| {
            let start = address as usize;
            if let Some(place) = memory.data_mut(&mut *store).get_mut(start..start + block.len()) {
                place.copy_from_slice(block);
            }
            extract.call(&mut *store, (address, block.len() as u32))
        });
        let returned = called.map_err(|error| format!("{:?}", error.downcast::<wasmtime::Trap>()));
        let fuel = FUEL - store.get_fuel().unwrap();
        let memory = memory.data(&*store);
        let bytes = returned.as_ref().ok().and_then(|packed| {
            let (address, length) = ((packed >> 32) as usize, *packed as u32 as usize);
            memory.get(address..address + length).map(<[u8]>::to_vec)
        });
        // A result that was written tells what was copied in bulk; without one it is what there is room for.
        let constant = self.data.iter().map(|(start, bytes)| start + bytes.len()).max();
        let bulk = match (&returned, &bytes) {
            (Ok(packed), Some(bytes))
                if self.is_proven && Some((packed >> 32) as usize) >= constant =>
            {
                bytes.len()
            }
            _ => memory.len(),
        };
        let bound = self.bound.map(|bound| bound.of_event(block.len() as u64, bulk as u64));
        let broken = bound.filter(|bound| fuel > *bound);
        let broken = broken.map(|bound| format!("{fuel} units of fuel, at most {bound} were said"));
        (Shown { returned, bytes, fuel }, broken)
    }

    /// The first difference that stale memory makes, or that breaks the bound on fuel.
    ///
    /// Each block runs on a fresh instance, and then, `rounds` times, all of them on one instance, whose memory outside the
    /// data segments is dirt in two cases of three, and what the last call left in the third.
    pub(super) fn difference(
        &self,
        lab: &Lab,
        blocks: &[Vec<u8>],
        rounds: usize,
    ) -> Option<String> {
        let mut fresh = Vec::new();
        for (number, block) in blocks.iter().enumerate() {
            let (shown, broken) = self.run(&mut self.guest(lab)?, block);
            if let Some(broken) = broken {
                return Some(format!("block {number}: {broken}"));
            }
            fresh.push(shown);
        }
        let mut kept = self.guest(lab)?;
        for (run, (number, block)) in
            (0..rounds).flat_map(|_| blocks.iter().enumerate()).enumerate()
        {
            let is_soiled = run % 3 != 2;
            if is_soiled {
                self.soil(&mut kept, &lab.dirt[(run / 3) % lab.dirt.len()]);
            }
            let (found, _) = self.run(&mut kept, block);
            if found != fresh[number] {
                return Some(format!(
                    "block {number}: {} on a fresh instance, {} on {} memory",
                    shown(&fresh[number]),
                    shown(&found),
                    if is_soiled { "soiled" } else { "used" }
                ));
            }
            if found.returned.is_err() {
                kept = self.guest(lab)?;
            }
        }
        None
    }
}

fn shown(shown: &Shown) -> String {
    let bytes = shown.bytes.as_deref().map(|bytes| bytes.escape_ascii().to_string());
    let bytes = bytes.map(|bytes| bytes.chars().take(400).collect::<String>());
    format!("{:x?}, {} units of fuel, {bytes:?}", shown.returned, shown.fuel)
}

/// The blocks of events, as far as these are any for the declaration.
pub(super) fn blocks(inspected: &Inspected, events: &[String]) -> Vec<Vec<u8>> {
    let projector = Projector::of(inspected.section());
    let block = |event: &String| {
        let mut projection = Projection::default();
        projector.project(event.as_bytes(), &mut projection).ok()?;
        let mut writer = BlockWriter::default();
        let block = writer.write(&projector, event.as_bytes(), &projection, 1 << 20).ok()?;
        Some(block.to_vec())
    };
    events.iter().filter_map(block).collect()
}

/// The data segments that are copied at the start.
fn data(wasm: &[u8]) -> Vec<(usize, Vec<u8>)> {
    let mut found = Vec::new();
    for payload in Parser::new(0).parse_all(wasm) {
        let Ok(Payload::DataSection(section)) = payload else { continue };
        for data in section.into_iter().map(Result::unwrap) {
            if let DataKind::Active { offset_expr, .. } = data.kind
                && let Ok(Operator::I32Const { value }) = offset_expr.get_operators_reader().read()
            {
                found.push((value as u32 as usize, data.data.to_vec()));
            }
        }
    }
    found
}

/// A module that passes the static gate.
pub(super) fn foreign(wasm: &[u8]) -> Inspected {
    inspect(wasm, &StructuralLimits::default()).unwrap_or_else(|rejected| panic!("{rejected}"))
}
