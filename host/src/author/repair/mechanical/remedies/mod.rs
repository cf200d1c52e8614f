//! What fixes a problem of the plan parser: one remedy for each code.

mod conflicting_fields;
mod conversion;
mod derived;
mod duplicate_name;
mod edge_end;
mod function;
mod invalid_name;
mod invalid_value;
mod missing_field;
mod other_elements;
mod path_level;
mod reshape;
mod template;
mod unknown_field;
mod whole_plan;
mod written_path;
mod wrong_type;

use super::context::Context;
use super::described::described;
use super::grammar::{is_optional, looks_like};
use super::iteration::IterationScope;
use super::pointer::{edge_around, split, step_around};
use super::remedy::{Remedy, add, fix, maybe, replace};
use super::rule::{PlanRule, TolerantMapping, read_path};
use super::tolerant::TolerantPlan;
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::finding::patch;
use crate::evidence::similarity::ranking::Likely;
use crate::plan::expr::Zone;
use derived::derived;

pub(super) use whole_plan::of_whole_plan;

/// The remedy for problems of a code: a function of the plan, and of the pointer to where the problem is.
pub(super) fn of(code: Code) -> Option<fn(&Context<'_, '_>, &str) -> Remedy> {
    Some(match code {
        codes::CONFLICTING_FIELDS => conflicting_fields::remedy,
        codes::DUPLICATE_ITEM => |_, at| fix(patch::remove(at)),
        codes::DUPLICATE_PROPERTY_NAME => duplicate_name::remedy,
        codes::FOR_EACH_MISMATCH => other_elements::remedy,
        codes::INVALID_IDENTIFIER => invalid_name::remedy,
        codes::INVALID_PATTERN => conversion::remedy,
        codes::INVALID_TEMPLATE => template::remedy,
        codes::INVALID_VALUE => invalid_value::remedy,
        codes::MISSING_REQUIRED_FIELD => missing_field::remedy,
        codes::OUTSIDE_FOR_EACH => path_level::outside_for_each,
        codes::UNKNOWN_FIELD => unknown_field::remedy,
        codes::UNKNOWN_FUNCTION => function::remedy,
        codes::UNKNOWN_NODE => edge_end::unknown_node,
        codes::UNKNOWN_TIME_ZONE => time_zone,
        codes::UNUSED_FIELD => without_meaning,
        codes::WRONG_TYPE | codes::EMPTY_STRING | codes::EMPTY_PATH | codes::TOO_FEW_ITEMS => {
            wrong_type::remedy
        }
        _ => return None,
    })
}

/// The zone that is meant; certain where it is spelled in other letters alone.
fn time_zone(context: &Context<'_, '_>, at: &str) -> Remedy {
    let written = context.plan.get(at)?.as_str()?;
    let meant = Zone::meant(written)?;
    let is_same = meant.eq_ignore_ascii_case(written);
    Some(Likely::new(patch::replace(at, meant), is_same))
}

/// A field that means nothing without another one goes. That of a path which isn't there may have been meant, unless it says what holds anyway.
fn without_meaning(context: &Context<'_, '_>, at: &str) -> Remedy {
    let (parent, name) = split(at)?;
    let says_nothing = name != "from"
        || context.plan.get(at)?.as_str() == Some("event")
        || context.plan.get(parent)?.get("constant").is_some();
    Some(Likely::new(patch::remove(at), says_nothing))
}
