//! The module of one plan: what all forms of it have in common.

use super::compile::MAX_SOURCE_BYTES;
use super::lower::{Lowered, lower};
use super::text::{comment, indent, literal};
use super::write::Writer;
use super::{
    Capacities, MAX_MODULE_BYTES, MAX_SECTION_BYTES, RenderError, declarable, graph, items, single,
};
use crate::abi::result::ResultForm;
use crate::abi::section::Section;
use crate::plan::Plan;
use crate::plan::expr::OnDuplicate;

/// Spare bytes after each area, for copies that write more than they were asked for, and for what is around the
/// lists of a result.
const SPARE: u32 = 64;
const SPARE_OUTPUT: u32 = 256;
const PAGE: u32 = 1 << 16;
/// Bytes of text that become one byte of code, at least.
const CODE_TEXT_RATIO: usize = 4;

/// The module's text, and the form of its results.
pub(super) fn module(plan: &Plan) -> Result<(String, Option<ResultForm>), RenderError> {
    declarable::check(plan)?;
    let lowered = lower(plan);
    let section = section(plan, &lowered)?;
    let output_capacity = super::capacities(&section).output;
    let mut writer = Writer::default();
    let items = items::items(&lowered);
    let prelude = match single::form(&lowered) {
        Some((node, claim)) => {
            single::write(&mut writer, plan, &lowered, node, claim, output_capacity)?;
            retort_guest_template::PRELUDE.to_owned()
        }
        None => {
            graph::write(&mut writer, plan, &lowered, &items, output_capacity)?;
            format!("{}\n{}", retort_guest_template::PRELUDE, retort_guest_template::LISTS)
        }
    };
    let text = assembled(plan, &section, &writer, &prelude)?;
    Ok((text, items::form(&lowered, &items)))
}

/// What the extractor declares.
pub(super) fn section(plan: &Plan, lowered: &Lowered<'_>) -> Result<Section, RenderError> {
    let patterns = plan.event_types().patterns().iter().map(ToString::to_string).collect();
    let (inputs, rows) = lowered.inputs.declared();
    let has_rows = !rows.is_empty();
    let section = Section::new(plan.function_name(), patterns, inputs, rows);
    let mut section = section.map_err(declarable::refused)?;
    let one_entity_twice = plan.nodes().iter().enumerate().any(|(index, node)| {
        plan.nodes()[..index].iter().any(|other| other.entity_name() == node.entity_name())
    });
    let can_repeat =
        has_rows || one_entity_twice || plan.edges().len() > 1 || plan.span_rules().len() > 1;
    section = section.with_empty(plan.empty()).with_time_zone(plan.time_zone().cloned());
    if can_repeat || plan.on_duplicate() != OnDuplicate::Last {
        section = section.with_on_duplicate(plan.on_duplicate());
    }
    Ok(section)
}

fn assembled(
    plan: &Plan,
    section: &Section,
    writer: &Writer,
    prelude: &str,
) -> Result<String, RenderError> {
    let Capacities { input: input_capacity, output: output_capacity } = super::capacities(section);
    let declaration = section.to_json();
    RenderError::check_module("declaration", declaration.len(), MAX_SECTION_BYTES)?;
    let code = (writer.functions.len() + prelude.len()) / CODE_TEXT_RATIO;
    let used = code + writer.data_end() as usize + declaration.len();
    RenderError::check_module("module", used, MAX_MODULE_BYTES)?;
    let input = (writer.data_end() + SPARE).next_multiple_of(PAGE);
    let output = input + input_capacity + SPARE;
    let pages = (output + output_capacity + SPARE_OUTPUT).div_ceil(PAGE);
    let mut out = format!(
        ";; Rendered by Retort, template {template}: events of type {types} to {entities}.\n(module\n",
        template = super::TEMPLATE_VERSION,
        types = listed(section.event_types().iter().map(|it| format!("\"{}\"", comment(it)))),
        entities = listed(plan.nodes().iter().map(|node| comment(node.entity_name()))),
    );
    let head = format!(
        "(memory (export \"memory\") {pages} {pages})\n\
         (global $input i32 (i32.const {input}))\n\
         (global $input_cap i32 (i32.const {input_capacity}))\n\
         (global $output i32 (i32.const {output}))\n\
         (global $output_cap i32 (i32.const {output_capacity}))\n\n"
    );
    indent(&mut out, 1, &head);
    out.push_str(prelude);
    out.push_str(&writer.functions);
    indent(
        &mut out,
        1,
        "\n;; The constant text, in the order in which the code above asks for it.",
    );
    out.push_str(&writer.data_segments());
    indent(
        &mut out,
        1,
        "\n;; What the extractor declares: the host copies these inputs into it and nothing else.",
    );
    out.push_str("  (@custom \"retort\" \"");
    out.push_str(&literal(&declaration));
    out.push_str("\")\n)\n");
    RenderError::check_module("source", out.len(), MAX_SOURCE_BYTES)?;
    Ok(out)
}

/// The first few of something, for a comment.
pub(super) fn listed(mut all: impl Iterator<Item = String>) -> String {
    let few: Vec<String> = all.by_ref().take(4).collect();
    let more = if all.next().is_some() { ", ..." } else { "" };
    format!("{}{more}", few.join(", "))
}
