//! `retort.toml`: what a project is made of.

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use retort::author::llm::ModelSpec;
use retort::author::{Backend, PROJECT_FILE, ProjectFile};
use retort::bundle::{ExtractorName, SmokeOptions};
use retort::gate::FieldPolicy;
use retort::internal::document::DocumentKind;
use retort::{Pipeline, Task};

use super::args::{EndpointsArg, GraphSource, PolicyArg, read_task};
use super::error::CliError;
use super::files;
use super::overwrite::Inputs;

/// The file of expected results where nothing else is said, in the project's folder.
const EXPECTED_FILE: &str = "expected.ndjson";

/// The directory of bundles where nothing else is said, in the project's folder.
const DEFAULT_OUTPUT: &str = "bundles";

/// What the project file says, as flags; a flag comes before the file.
#[derive(Args, Debug)]
pub(super) struct ProjectArgs {
    /// Folder with a retort.toml [default: the current one]
    #[arg(value_name = "PROJECT")]
    project: Option<PathBuf>,
    /// Plan (JSON)
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// An extractor that is code: a file that ends in .rs, .wat or .wasm; kept in the bundle, but for a module
    #[arg(long, value_name = "FILE", conflicts_with = "plan")]
    source: Option<PathBuf>,
    #[command(flatten)]
    graph: GraphSource,
    /// Sample events, one JSON object a line
    #[arg(long, value_name = "FILE")]
    samples: Option<PathBuf>,
    /// Directory of bundles [default: bundles, in the project's folder]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// What to extract, in words or as JSON; kept in the bundle
    #[arg(long, value_name = "FILE")]
    rule: Option<PathBuf>,
    /// What the events look like (JSON); kept in the bundle
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// What samples are expected to give, one JSON object a line
    #[arg(long, value_name = "FILE")]
    expected: Option<PathBuf>,
    #[command(flatten)]
    policy: PolicyArg,
    #[command(flatten)]
    endpoints: EndpointsArg,
}

/// A project, with every path as the command can use it.
#[derive(Debug)]
pub(super) struct Project {
    /// The project file.
    origin: String,
    name: Option<ExtractorName>,
    plan: Option<PathBuf>,
    /// Code, where it isn't a plan.
    code: Option<PathBuf>,
    /// What the file says, where no flag names a plan or code.
    model: Option<String>,
    /// The same.
    backend: Option<Backend>,
    graph: GraphSource,
    samples: PathBuf,
    pub(super) out: PathBuf,
    rule: Option<PathBuf>,
    schema: Option<PathBuf>,
    expected: Option<PathBuf>,
    policy: PolicyArg,
    endpoints: EndpointsArg,
}

/// Where a project's extractor comes from.
#[derive(Debug)]
pub(super) enum Origin {
    /// A plan that is there.
    Plan(PathBuf),
    /// Code that is there.
    Code(PathBuf),
    /// A model writes it.
    Model(ModelSpec),
}

impl Project {
    /// Where the extractor comes from: what a flag says, else what the project file says, else a draft for its rule.
    pub(super) fn source(&self, model_flag: Option<&str>) -> Result<Origin, CliError> {
        let model = |spec: &str| spec.parse().map(Origin::Model);
        if let Some(spec) = model_flag {
            return model(spec).map_err(CliError::refused);
        }
        let origin = format!("{}: model", self.origin);
        let of_file = |spec: &str| model(spec).map_err(|it| CliError::refused_in(&origin, it));
        let both = |found: &str| {
            Err(invalid(
                &self.origin,
                &format!("expected `plan`, `source` or `model`, found {found}"),
            ))
        };
        match (&self.plan, &self.code, &self.model) {
            (Some(_), Some(_), _) => both("`plan` and `source`"),
            (Some(_), None, Some(_)) => both("`plan` and `model`"),
            (None, Some(_), Some(_)) => both("`source` and `model`"),
            (Some(plan), None, None) => Ok(Origin::Plan(plan.clone())),
            (None, Some(code), None) => Ok(Origin::Code(code.clone())),
            (None, None, Some(spec)) => of_file(spec),
            (None, None, None) if self.rule.is_some() => Ok(Origin::Model(ModelSpec::Draft)),
            (None, None, None) => Err(CliError::ProjectIncomplete {
                what: "a rule, a plan or code",
                hint: format!(
                    "write `rule = \"..\"`, `plan = \"..\"` or `source = \"..\"` into {}, or use --rule, --plan or --source",
                    self.origin
                ),
            }),
        }
    }

    /// What a model is asked for: what a flag says, else what the project file says, else a plan.
    pub(super) fn backend(&self, flag: Option<Backend>) -> Backend {
        flag.or(self.backend).unwrap_or_default()
    }

    /// The files that it names, and its own.
    pub(super) fn inputs(&self) -> Inputs {
        self.inputs_but_expected().files(self.expected.as_deref())
    }

    /// The same without that of expected results, where that is written.
    pub(super) fn inputs_but_expected(&self) -> Inputs {
        let named = [&self.plan, &self.code, &self.rule, &self.schema, &self.policy.policy];
        let named = named.into_iter().flatten().chain([&self.samples]).map(PathBuf::as_path);
        Inputs::default().files(named).files(self.graph.paths()).files([Path::new(&self.origin)])
    }

    /// What is asked for, read from the project's files.
    pub(super) fn task(&self) -> Result<Task, CliError> {
        self.task_expecting(self.expected.as_deref())
    }

    /// The same, with the expected results of another file.
    pub(super) fn task_expecting(&self, expected: Option<&Path>) -> Result<Task, CliError> {
        let (rule, schema) = (self.rule.as_deref(), self.schema.as_deref());
        read_task(&self.graph, &self.samples, rule, schema, expected, &self.policy)
    }

    /// The name of its extractor, where the file says it.
    pub(super) fn name(&self) -> Option<&ExtractorName> {
        self.name.as_ref()
    }

    /// The plan that it names.
    pub(super) fn plan(&self) -> Option<&Path> {
        self.plan.as_deref()
    }

    /// The code that it names.
    pub(super) fn code(&self) -> Option<&Path> {
        self.code.as_deref()
    }

    /// Where expected results are, or would be; and whether it names the file.
    pub(super) fn expected(&self) -> (PathBuf, bool) {
        match &self.expected {
            Some(path) => (path.clone(), true),
            None => (Path::new(&self.origin).with_file_name(EXPECTED_FILE), false),
        }
    }

    /// The file of sample events.
    pub(super) fn samples(&self) -> &Path {
        &self.samples
    }

    /// The project file, as messages name it.
    pub(super) fn origin(&self) -> &str {
        &self.origin
    }

    /// What may be read.
    pub(super) fn field_policy(&self) -> Result<&FieldPolicy, CliError> {
        Ok(self.policy.read()?.fields())
    }

    /// The gates, with the project's policy.
    pub(super) fn pipeline(&self) -> Result<Pipeline, CliError> {
        self.policy.pipeline()
    }

    /// Refuses a file where the directory of bundles would be, before any work is done for it.
    pub(super) fn check_out(&self) -> Result<(), CliError> {
        let taken = self.out.ancestors().find(|path| path.exists()).filter(|path| !path.is_dir());
        let Some(taken) = taken else { return Ok(()) };
        let found = if taken == self.out {
            "a file".to_owned()
        } else {
            format!("that {} is a file", taken.display())
        };
        Err(CliError::NoDirectory { path: self.out.clone(), found })
    }

    /// What the sample run asks for.
    pub(super) fn smoke_options(&self) -> SmokeOptions {
        self.endpoints.smoke_options()
    }
}

impl ProjectArgs {
    /// The project that these arguments name.
    pub(super) fn resolve(&self) -> Result<Project, CliError> {
        let folder = self.project.as_deref().unwrap_or(Path::new(""));
        let (path, file) = self.read_file(folder)?;
        let origin = path.display().to_string();
        let name = file.extractor_name();
        let flag_or = |flag: &Option<PathBuf>, key| flag.clone().or(key);
        let missing = |what, key: &str, flag: &str| CliError::ProjectIncomplete {
            what,
            hint: format!("write `{key} = \"..\"` into {origin}, or use {flag}"),
        };
        let mut graph = self.graph.clone();
        if graph.paths().next().is_none() {
            graph =
                GraphSource { graph: file.graph, ontology: file.ontology, binding: file.binding };
            match (&graph.graph, &graph.ontology, &graph.binding) {
                (Some(_), None, None) | (None, Some(_), Some(_)) => {}
                (None, None, None) => return Err(missing("a graph spec", "graph", "--graph")),
                _ => {
                    let message = "expected either `graph`, or `ontology` with `binding`";
                    return Err(invalid(&origin, message));
                }
            }
        }
        // What a flag names is the one, whatever the file says.
        let is_named = self.plan.is_some() || self.source.is_some();
        let model = file.model.filter(|_| !is_named);
        let of_file = |key: Option<PathBuf>| key.filter(|_| !is_named);
        Ok(Project {
            name: name.map_err(|error| CliError::refused_in(&format!("{origin}: name"), error))?,
            graph,
            plan: self.plan.clone().or_else(|| of_file(file.plan)),
            code: self.source.clone().or_else(|| of_file(file.source)),
            model,
            backend: file.backend.filter(|_| self.plan.is_none()),
            policy: PolicyArg::of(flag_or(&self.policy.policy, file.policy)),
            samples: flag_or(&self.samples, file.samples)
                .ok_or_else(|| missing("sample events", "samples", "--samples"))?,
            out: flag_or(&self.out, file.output).unwrap_or_else(|| folder.join(DEFAULT_OUTPUT)),
            rule: flag_or(&self.rule, file.rule),
            schema: flag_or(&self.schema, file.schema),
            expected: flag_or(&self.expected, file.expected),
            endpoints: EndpointsArg {
                allow_external_endpoints: self.endpoints.allow_external_endpoints
                    || file.allow_external_endpoints,
            },
            origin,
        })
    }

    /// The project file. Where no project is named, there may be none.
    fn read_file(&self, folder: &Path) -> Result<(PathBuf, ProjectFile), CliError> {
        let path = folder.join(PROJECT_FILE);
        let text = match files::read_text(&path, DocumentKind::ProjectFile) {
            Err(CliError::FileNotFound { .. }) if self.project.is_none() => {
                return Ok((path, ProjectFile::default()));
            }
            Err(CliError::FileNotReadable { source, .. })
                if source.kind() == io::ErrorKind::NotADirectory =>
            {
                return Err(CliError::FileNotReadable {
                    path: folder.to_owned(),
                    expected: "a folder with a retort.toml",
                    source,
                });
            }
            text => text?,
        };
        let file = ProjectFile::parse(&text, &path.display().to_string());
        let file = file.map_err(CliError::refused)?.in_folder(folder);
        Ok((path, file))
    }
}

fn invalid(origin: &str, message: &str) -> CliError {
    CliError::ProjectInvalid { origin: origin.to_owned(), message: message.to_owned() }
}
