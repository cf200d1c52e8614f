//! What the documents say, checked against what the code does.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use retort::author::llm::ClientConfig;
use retort::gate::StructuralLimits;
use retort::internal::{
    answer,
    block::{BlockWriter, CELL_FUEL, ROW_FUEL},
    document::DocumentKind,
    event::{Projection, Projector},
    fuel::COSTS,
    result,
    section::Section,
};
use retort::plan::Conversion;
use retort::{GraphSpec, Limits, Pipeline, TenantPolicy};
use serde_json::Value;

use crate::support::{guest_rustc, workspace_root};

fn document(path: &str) -> String {
    fs::read_to_string(workspace_root().join(path)).unwrap()
}

/// The fenced blocks of a document in a language, in their order.
fn blocks(document: &str, language: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut lines = document.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```") else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        if info == language {
            found.push(block.join("\n"));
        }
    }
    found
}

/// The part of a document below a heading.
fn below<'a>(document: &'a str, heading: &str) -> &'a str {
    let at = document.find(&format!("{heading}\n")).unwrap_or_else(|| panic!("no {heading}"));
    &document[at..]
}

/// The bytes of a dump: an offset, groups of two digits, and a remark behind three spaces.
fn dumped(dump: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in dump.lines() {
        let (offset, rest) = line.split_once("  ").unwrap();
        assert_eq!(usize::from_str_radix(offset, 16).unwrap(), bytes.len(), "{line}");
        let digits = rest.split("   ").next().unwrap();
        bytes.extend(digits.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()));
    }
    bytes
}

#[test]
fn the_blocks_of_the_abi_document_are_what_the_host_writes() {
    let document = document("docs/abi.md");
    for (heading, failed) in [("### A worked example", 0), ("### An example with rows", 1)] {
        let example = below(&document, heading);
        let json = blocks(example, "json");
        let [section, event, ..] = json.as_slice() else { panic!("a section and an event") };
        let section = Section::parse(section.as_bytes()).unwrap();
        let projector = Projector::of(&section);
        let mut projection = Projection::default();
        projector.project(event.as_bytes(), &mut projection).unwrap();
        let mut writer = BlockWriter::default();
        let block = writer.write(&projector, event.as_bytes(), &projection, usize::MAX).unwrap();
        assert_eq!(block, dumped(&blocks(example, "hexdump")[0]), "{heading}");
        assert!(example.contains(&format!("The block has {} bytes", block.len())));
        assert_eq!(writer.spent().failed_conversions, failed);
    }
}

#[test]
fn the_costs_of_the_abi_document_are_what_is_charged() {
    let document = document("docs/abi.md");
    let conversions = below(&document, "### Conversions");
    let rows =
        COSTS.iter().map(|cost| format!("| `{}` | {} | {} |", cost.what, cost.step, cost.byte));
    let table = rows.collect::<Vec<_>>().join("\n");
    assert!(conversions.contains(&format!("\n{table}\n\n")), "{table}");
    for name in Conversion::NAMES {
        assert!(conversions.contains(&format!("\"{name}\"")), "{name} has no grammar");
        assert!(COSTS.iter().any(|cost| cost.what == *name), "{name} costs nothing");
    }
    let fuel = below(&document, "## Fuel, time and memory");
    assert!(
        fuel.contains(&format!("for each row {ROW_FUEL}, and {CELL_FUEL} for each of its columns"))
    );
}

#[test]
fn the_result_of_the_abi_document_is_one() {
    let document = document("docs/abi.md");
    let result = &blocks(below(&document, "## The result"), "json")[0];
    let shape = result::check(result.as_bytes()).unwrap();
    assert_eq!((shape.nodes, shape.edges, shape.fully_handled), (1, 1, 1));
}

/// A number as people write it: `1,048,576`.
fn grouped(number: &Value) -> String {
    let digits = number.to_string();
    let group = |(index, digit): (usize, char)| {
        let comma = index > 0 && (digits.len() - index).is_multiple_of(3);
        [comma.then_some(','), Some(digit)].into_iter().flatten().collect::<Vec<char>>()
    };
    digits.chars().enumerate().flat_map(group).collect()
}

#[test]
fn the_limits_in_the_documents_are_the_defaults() {
    let limits = document("docs/limits.md");
    let tables = below(&limits, "# Limits");
    let (sandbox, structure) = tables.split_once("How a module may be built").unwrap();
    let defaults = [
        (sandbox, serde_json::to_value(Limits::default()).unwrap()),
        (structure, serde_json::to_value(StructuralLimits::default()).unwrap()),
    ];
    for (table, limits) in defaults {
        for (name, value) in limits.as_object().unwrap() {
            let cell = format!("| `{name}` | {} ", grouped(value));
            assert!(table.contains(&cell), "{cell}");
        }
    }
}

#[test]
fn the_limits_on_documents_are_those_of_their_kinds() {
    let limits = document("docs/limits.md");
    let rows = DocumentKind::ALL.map(|kind| {
        let values = kind.max_values().map_or(String::new(), |most| grouped(&most.into()) + " ");
        format!("| {} | {} | {values}|", kind.name(), grouped(&kind.max_bytes().into()))
    });
    let table = format!("\n| what | bytes | values |\n|---|---|---|\n{}\n\n", rows.join("\n"));
    assert!(limits.contains(&table), "{table}");
    for figure in [ClientConfig::default().max_response_bytes, answer::MAX_BYTES] {
        assert!(limits.contains(&grouped(&figure.into())), "{figure}");
    }
}

#[test]
fn plans_in_documents_are_plans() {
    for (name, least) in [("README.md", 1), ("docs/plan.md", 2)] {
        let plans = blocks(&document(name), "json");
        assert!(plans.len() >= least, "{name}");
        for plan in plans {
            assert_eq!(retort::plan::problems(&plan), [], "{name}");
        }
    }
}

#[test]
fn the_graph_spec_in_the_documents_is_one() {
    let specs = blocks(&document("docs/graph.md"), "yaml");
    let [spec] = specs.as_slice() else { panic!("{specs:?}") };
    let spec = GraphSpec::parse(spec, "graph.yaml").unwrap();
    assert_eq!(spec.entity("Order").unwrap().properties.len(), 3);
}

#[test]
fn the_policy_in_the_documents_is_one() {
    let policies = blocks(&document("docs/policy.md"), "yaml");
    let [policy] = policies.as_slice() else { panic!("{policies:?}") };
    let policy = TenantPolicy::parse(policy, "policy.yaml").unwrap();
    assert_eq!(policy.fields().denied().len(), 1);
    assert_eq!(policy.limits(&Limits::default()).deadline_ms, 200);
    let pipeline = Pipeline::builder().tenant(&policy).build().unwrap();
    assert_eq!(pipeline.structure().module_bytes, 262_144);
}

#[test]
fn the_design_names_every_directory_of_the_source() {
    let design = document("DESIGN.md");
    let table = below(&design, "| directory | what it is | knows |");
    for entry in fs::read_dir(workspace_root().join("host/src")).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            let name = format!("`{}/", entry.file_name().display());
            assert!(table.contains(&name), "{name}");
        }
    }
}

/// The code of a source file, without comments and without what is compiled for tests alone.
fn code_of(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    text.lines().filter(is_code).collect::<Vec<_>>().join("\n")
}

/// All Rust files below a folder but those of tests.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() && name != "tests" {
            sources(&path, found);
        } else if name.ends_with(".rs") && name != "tests.rs" {
            found.push(path);
        }
    }
}

/// The table of directories is an order: what is used comes before what uses it.
#[test]
fn no_directory_of_the_source_knows_a_later_one() {
    let design = document("DESIGN.md");
    let rows = below(&design, "| directory | what it is | knows |").lines().skip(1);
    let directories: Vec<&str> = rows
        .map_while(|row| row.strip_prefix("| `").or(row.strip_prefix("|---").map(|_| "")))
        .filter_map(|row| Some(row.split_once("/`")?.0))
        .collect();
    assert!(directories.len() > 10, "{directories:?}");
    let mut uses = 0;
    for (rank, directory) in directories.iter().enumerate() {
        let mut files = Vec::new();
        sources(&workspace_root().join("host/src").join(directory), &mut files);
        for file in files {
            let code = code_of(&file);
            assert!(!code.contains("use crate::{"), "{}: name one module a line", file.display());
            for used in code.split("crate::").skip(1) {
                let used: String = used.chars().take_while(|it| it.is_ascii_lowercase()).collect();
                let of = directories.iter().position(|it| *it == used);
                assert!(of.is_none_or(|it| it <= rank), "{} uses {used}", file.display());
                uses += usize::from(of.is_some());
            }
        }
    }
    assert!(uses > 300, "{uses}");
}

#[test]
fn the_public_modules_are_few() {
    let mut files = Vec::new();
    sources(&workspace_root().join("host/src"), &mut files);
    files.retain(|file| !file.ends_with("internal.rs") && !file.iter().any(|part| part == "cli"));
    let code: Vec<String> = files.iter().map(|file| code_of(file)).collect();
    let named =
        code.iter().flat_map(|code| code.lines()).filter_map(|it| it.strip_prefix("pub mod "));
    let public: Vec<&str> = named.filter(|it| *it != "internal;").collect();
    assert!((8..=12).contains(&public.len()), "{public:?}");
}

/// What links call a heading: `## Which events` is `#which-events`.
fn has_heading(document: &str, anchor: &str) -> bool {
    document.lines().filter(|line| line.starts_with('#')).any(|line| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|it| it.is_alphanumeric() || matches!(it, ' ' | '-' | '_'));
        kept.map(|it| if it == ' ' { '-' } else { it }).collect::<String>() == anchor
    })
}

/// The texts in backticks that are paths of the project, as far as they are spelt out.
fn paths(document: &str) -> impl Iterator<Item = &str> {
    let roots = ["tests/", "docs/", "host/", "benches/", "fuzz/"];
    let lines = document.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
    let is_path = move |it: &&str| roots.iter().any(|root| it.starts_with(root));
    lines.filter(is_path).map(|it| it.split_once('*').map_or(it, |(folder, _)| folder))
}

/// What the documents link to or name by its path within the project is there, headings too.
#[test]
fn links_lead_somewhere() {
    for (name, folder) in [
        ("README.md", ""),
        ("DESIGN.md", ""),
        ("SECURITY.md", ""),
        ("docs/abi.md", "docs"),
        ("docs/benchmarks.md", "docs"),
        ("docs/cli.md", "docs"),
        ("docs/evaluation.md", "docs"),
        ("docs/graph.md", "docs"),
        ("docs/limits.md", "docs"),
        ("docs/peers.md", "docs"),
        ("docs/plan.md", "docs"),
        ("docs/policy.md", "docs"),
        ("docs/proof.md", "docs"),
        ("docs/python.md", "docs"),
        ("docs/serve.md", "docs"),
        ("docs/spark.md", "docs"),
        ("docs/wasi.md", "docs"),
        ("evaluation/README.md", "evaluation"),
    ] {
        let text = document(name);
        for path in paths(&text) {
            assert!(workspace_root().join(path).exists(), "{name}: {path}");
        }
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.contains("://") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let path = if file.is_empty() { name.into() } else { Path::new(folder).join(file) };
            assert!(workspace_root().join(&path).exists(), "{name}: {link}");
            if !anchor.is_empty() {
                let target = fs::read_to_string(workspace_root().join(&path)).unwrap();
                assert!(has_heading(&target, anchor), "{name}: {link}");
            }
        }
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// The command lines of the README and of the pages of commands and of columns that run `retort`, in their order.
fn commands() -> Vec<String> {
    let documents = ["README.md", "docs/cli.md", "docs/columns.md"].map(document);
    documents
        .iter()
        .flat_map(|document| blocks(document, "sh"))
        .flat_map(|block| block.lines().map(str::to_owned).collect::<Vec<_>>())
        .map(|line| line.replace("cargo run -q -- ", "retort ").replace("cargo run -- ", "retort "))
        .filter(|line| !line.starts_with("cargo "))
        .collect()
}

/// Every command line of the documents, one after the other and then all of them again, as a reader would run them in a
/// checkout. One that is meant to fail says so: `# exits 1`.
#[test]
fn the_commands_of_the_documents_do_what_they_say() {
    let directory = tempfile::tempdir().unwrap();
    copy(&workspace_root().join("examples"), &directory.path().join("examples"));
    for example in fs::read_dir(directory.path().join("examples")).unwrap() {
        // What a reader of this checkout has compiled already.
        fs::remove_dir_all(example.unwrap().path().join("out")).ok();
    }
    let binary = Path::new(env!("CARGO_BIN_EXE_retort")).parent().unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(binary.to_owned()).chain(std::env::split_paths(&path));
    let path = std::env::join_paths(paths).unwrap();
    let rustc = guest_rustc();
    // Without a compiler for extractors in Rust all others are run.
    let runs = |command: &String| rustc.is_some() || !command.contains("my-extractor");
    let commands: Vec<String> = commands().into_iter().filter(runs).collect();
    assert!(commands.len() > 15);
    let mut results = Vec::new();
    for command in commands.iter().chain(&commands) {
        let expected =
            command.split_once("# exits ").map_or(0, |(_, rest)| rest[..1].parse().unwrap());
        let output = Command::new("sh")
            .args(["-c", command])
            .current_dir(directory.path())
            .env("PATH", &path)
            .envs(rustc.iter().map(|rustc| ("RETORT_RUSTC", rustc)))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(expected), "{command}\n{said}");
        let silent = output.stdout.is_empty() && output.stderr.is_empty();
        assert!(!silent || command.contains(" > "), "{command} says nothing");
        results.push(lines_of_results(&output.stdout));
    }
    let expected = document("examples/agent-decision/results.ndjson");
    assert_eq!(results[0], expected.lines().count(), "the first command shows what it found");
}

/// How many lines are results of `retort run`.
fn lines_of_results(stdout: &[u8]) -> usize {
    let text = String::from_utf8_lossy(stdout);
    let values = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    values.filter(|value| value["result"]["nodes"].is_array()).count()
}

#[test]
fn the_documents_show_every_command() {
    let commands = commands().join("\n");
    for command in [
        "new",
        "compile",
        "prompt",
        "repair",
        "run",
        "bundles list",
        "bundles show",
        "bundles activate",
        "bundles rollback",
        "bundles retire",
        "bundles gc",
        "check",
        "bench",
        "plan check",
        "plan schema",
        "plan eval",
        "plan expression",
        "render",
        "inspect",
        "graph check",
        "schema",
        "diagnose",
        "explain",
        "selftest",
    ] {
        assert!(
            commands.contains(&format!("retort {command} "))
                || commands.contains(&format!("retort {command}\n")),
            "{command}"
        );
    }
}
