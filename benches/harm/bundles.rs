//! Folders of bundles.

use retort::Pipeline;
use retort::bundle::{Contents, Manifest, Part, Versions};

use super::Attack;

const RUN: &str = "run --bundles bundles --no-graph-check events.ndjson";

pub(crate) fn attacks() -> Vec<Attack> {
    let pipeline = Pipeline::builder().build().expect("an engine");
    // What was read of each part once, and what is.
    let once = [(Part::Source, 16 << 20)];
    let sparse =
        [Part::Plan, Part::Graph, Part::EventSchema, Part::Rule].map(|part| (part, 4 << 20));
    let larger: Vec<_> = once.into_iter().chain(sparse).collect();
    let largest: Vec<_> = [Part::Source, Part::Plan, Part::Graph, Part::EventSchema, Part::Rule]
        .map(|part| (part, part.max_bytes()))
        .to_vec();
    let types: String = (0..90_000).map(|n| format!("\"{n:07}\",")).collect();
    let manifest = |events: &str, created: &str| {
        format!("{{\"event_types\":[{events}\"e\"],\"created_at\":{created}}}")
    };
    let values = format!("[{}0]", "{\"\":0},".repeat(130_000));
    let event = "{\"event_type\":\"e0\",\"k\":\"a\"}\n";
    let mut many_files =
        bundle(Attack::new("bundles/files by the thousand", RUN), &pipeline, 0, &[]);
    for n in 0..5_000 {
        many_files = many_files.file(&format!("bundles/0/{n}"), "");
    }
    let mut many_folders = Attack::new("bundles/folders by the thousand", RUN);
    for n in 0..5_000 {
        many_folders = many_folders.file(&format!("bundles/{n}/manifest.json"), "{}");
    }
    let one_file = |name: &str, text: String| {
        Attack::new(&format!("bundles/{name}"), RUN).file("bundles/0/manifest.json", text)
    };
    let attacks = vec![
        many("40 with sparse files", RUN, &pipeline, &larger),
        many("40 with sparse files of the largest size", RUN, &pipeline, &largest),
        many("40 with sparse files, held to their graph specs", GRAPHS, &pipeline, &largest),
        many("40 as they are", RUN, &pipeline, &[]),
        one_file("a manifest of many event types", manifest(&types, "\"\"")),
        one_file("a manifest of many values", manifest("", &values)),
        many_files,
        many_folders,
    ];
    attacks.into_iter().map(|attack| attack.file("events.ndjson", event)).collect()
}

const GRAPHS: &str = "run --bundles bundles events.ndjson";

/// Forty bundles, each for an event type of its own.
fn many(name: &str, args: &str, pipeline: &Pipeline, sizes: &[(Part, u64)]) -> Attack {
    let attack = Attack::new(&format!("bundles/{name}"), args);
    (0..40).fold(attack, |attack, number| bundle(attack, pipeline, number, sizes))
}

/// With a bundle whose digests are right, and some of whose parts go on with zeros to these sizes.
fn bundle(attack: Attack, pipeline: &Pipeline, number: usize, sizes: &[(Part, u64)]) -> Attack {
    let plan = format!(
        r#"{{"event_type":"e{number}","target_entity_name":"E","function_name":"read_e","key_field":{{"property_name":"k","source_path":["k"]}}}}"#
    );
    let compiled =
        pipeline.plan(&plan).and_then(|plan| pipeline.build(&plan)).expect("a good plan");
    let long = |part: Part, text: &str| {
        let bytes = sizes.iter().find(|(sparse, _)| *sparse == part).map_or(0, |(_, bytes)| *bytes);
        let mut content = text.as_bytes().to_vec();
        content.resize(content.len().max(bytes as usize), 0);
        content
    };
    let source = long(Part::Source, compiled.source().text());
    let (plan, graph) = (long(Part::Plan, &plan), long(Part::Graph, GRAPH));
    let (schema, rule) = (long(Part::EventSchema, "{}"), long(Part::Rule, "A rule."));
    let types = [format!("e{number}")];
    let contents = Contents {
        module_name: "extractor",
        name: None,
        function_name: "read_e",
        event_types: &types,
        plan: Some(&plan),
        source: Some(&source),
        rust: None,
        module: compiled.module(),
        graph: &graph,
        limits: b"{}",
        event_schema: Some(&schema),
        rule: Some(&rule),
        versions: Versions::CURRENT,
    };
    let manifest = Manifest::new(&contents, jiff::Timestamp::UNIX_EPOCH).expect("a good manifest");
    let path = |name: &str| format!("bundles/{number}/{name}");
    let attack = attack.file(&path("manifest.json"), manifest.to_json());
    let parts = Part::ALL.into_iter().filter_map(|part| Some((part, contents.part(part)?)));
    parts.fold(attack, |attack, (part, content)| {
        let end = content.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        attack.sparse(&path(&part.file_name("extractor")), &content[..end], content.len() as u64)
    })
}

const GRAPH: &str = r#"{"name":"g","entities":[]}"#;
