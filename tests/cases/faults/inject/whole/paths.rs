//! Paths with a slip, by what has them.

use serde_json::json;

use super::super::{Fault, fault, with};
use super::{Spot, at_path, path_slips, spots};
use crate::faults::case::Case;

fn slips(case: &Case, faults: &mut Vec<Fault>, is_meant: impl Fn(&Spot<'_>) -> bool) {
    for spot in spots(case).into_iter().filter(is_meant) {
        for other in spot.path().into_iter().flat_map(|path| path_slips(&path)) {
            faults.push(at_path(case, &spot.at, &other));
        }
    }
}

fn is_inside(case: &Case, spot: &Spot<'_>) -> bool {
    case.plan.pointer(&format!("{}/for_each", spot.owner)).is_some()
}

pub(super) fn in_element(case: &Case, faults: &mut Vec<Fault>) {
    slips(case, faults, |spot| is_inside(case, spot));
}

pub(super) fn in_node(case: &Case, faults: &mut Vec<Fault>) {
    slips(case, faults, |spot| !is_inside(case, spot) && !spot.at.starts_with("/edges"));
}

pub(super) fn in_edge(case: &Case, faults: &mut Vec<Fault>) {
    slips(case, faults, |spot| spot.at.starts_with("/edges"));
}

pub(super) fn dotted(case: &Case, faults: &mut Vec<Fault>) {
    for spot in spots(case) {
        let Some(path) = spot.path() else { continue };
        let at = format!("{}/source_path", spot.at);
        for form in
            [json!(path.join(".")), json!([path.join(".")]), json!(format!("$.{}", path.join(".")))]
        {
            if form != json!(path) {
                faults.push(fault(&with(case, &at, form.clone()), &at, form.to_string()));
            }
        }
    }
}
