//! A program in jq's language, by jaq.

use jaq_core::load::{Arena, File, Loader};
use jaq_core::{Compiler, Ctx, Vars, data, unwrap_valr};
use jaq_json::{Val, read, write};

use super::{Made, Way, each};
use crate::sets::{Set, program};

pub(super) fn way(set: &Set) -> Way<'_> {
    Way::new("jaq", made(set)).that_may_differ("a letter beyond ASCII in lower case")
}

fn made(set: &Set) -> Made<'_> {
    let code = program(set.name, "jq")?;
    let arena = Arena::default();
    let defs = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
    let funs = jaq_core::funs().chain(jaq_std::funs()).chain(jaq_json::funs());
    let modules = Loader::new(defs)
        .load(&arena, File { code: &code, path: () })
        .map_err(|errors| format!("{errors:?}"))?;
    let filter = Compiler::default()
        .with_funs(funs)
        .compile(modules)
        .map_err(|errors| format!("{errors:?}"))?;
    let layout = write::Pp::default();
    each(move |event, out| {
        let Ok(event) = read::parse_single(event) else { return false };
        let context = Ctx::<data::JustLut<Val>>::new(&filter.lut, Vars::new([]));
        let result = filter.id.run((context, event)).map(unwrap_valr).next();
        let Some(Ok(result)) = result else { return false };
        write::write(out, &layout, 0, &result).is_ok()
    })
}
