//! `retort.toml`: what a project is made of.

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use retort::author::llm::ModelSpec;
use retort::bundle::pipeline::Pipeline;
use retort::bundle::smoke::SmokeOptions;
use retort::diagnostics::diagnose::sanitize;
use retort::evidence::Task;
use retort::gate::policy::FieldPolicy;
use retort::json::document::DocumentKind;
use serde::Deserialize;

use super::error::CliError;
use super::files::{self, GraphSource, PolicyArg};
use super::overwrite::Inputs;

/// The project file's name.
pub(super) const PROJECT_FILE: &str = "retort.toml";

/// The directory of bundles where nothing else is said, in the project's folder.
const DEFAULT_OUTPUT: &str = "bundles";

/// The project file. Paths are relative to its folder.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProjectFile {
    plan: Option<PathBuf>,
    graph: Option<PathBuf>,
    ontology: Option<PathBuf>,
    binding: Option<PathBuf>,
    samples: Option<PathBuf>,
    output: Option<PathBuf>,
    rule: Option<PathBuf>,
    schema: Option<PathBuf>,
    model: Option<String>,
    policy: Option<PathBuf>,
    #[serde(default)]
    allow_external_endpoints: bool,
}

/// What the project file says, as flags; a flag comes before the file.
#[derive(Args, Debug)]
pub(super) struct ProjectArgs {
    /// Folder with a retort.toml [default: the current one]
    #[arg(value_name = "PROJECT")]
    project: Option<PathBuf>,
    /// Plan (JSON)
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
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
    #[command(flatten)]
    policy: PolicyArg,
    /// Let edges lead to nodes of other events
    #[arg(long)]
    allow_external_endpoints: bool,
}

/// A project, with every path as the command can use it.
#[derive(Debug)]
pub(super) struct Project {
    origin: String,
    plan_flag: Option<PathBuf>,
    plan: Option<PathBuf>,
    model: Option<String>,
    graph: GraphSource,
    samples: PathBuf,
    pub(super) out: PathBuf,
    rule: Option<PathBuf>,
    schema: Option<PathBuf>,
    policy: PolicyArg,
    allow_external_endpoints: bool,
}

/// Where a project's plan comes from.
#[derive(Debug)]
pub(super) enum Source {
    /// It is there.
    Plan(PathBuf),
    /// A model writes it.
    Model(ModelSpec),
}

impl Project {
    /// Where the plan comes from: what a flag says, else what the project file says, else a draft for its rule.
    pub(super) fn source(&self, model_flag: Option<&str>) -> Result<Source, CliError> {
        if let Some(spec) = model_flag {
            return Ok(Source::Model(spec.parse()?));
        }
        if let Some(plan) = &self.plan_flag {
            return Ok(Source::Plan(plan.clone()));
        }
        match (&self.plan, &self.model, &self.rule) {
            (Some(_), Some(_), _) => Err(CliError::ProjectInvalid {
                origin: self.origin.clone(),
                message: "expected `plan` or `model`, found both".to_owned(),
            }),
            (Some(plan), None, _) => Ok(Source::Plan(plan.clone())),
            (None, Some(spec), _) => Ok(Source::Model(spec.parse()?)),
            (None, None, Some(_)) => Ok(Source::Model(ModelSpec::Draft)),
            (None, None, None) => Err(CliError::ProjectIncomplete {
                what: "a rule or a plan",
                hint: format!(
                    "write `rule = \"..\"` or `plan = \"..\"` into {}, or use --rule or --plan",
                    self.origin
                ),
            }),
        }
    }

    /// The files that it names, and its own.
    pub(super) fn inputs(&self) -> Inputs {
        let plan = self.plan_flag.as_ref().or(self.plan.as_ref());
        let named = [plan, self.rule.as_ref(), self.schema.as_ref(), self.policy.policy.as_ref()];
        let named = named.into_iter().flatten().chain([&self.samples]).map(PathBuf::as_path);
        Inputs::default().files(named).files(self.graph.paths()).files([Path::new(&self.origin)])
    }

    /// What is asked for, read from the project's files.
    pub(super) fn task(&self) -> Result<Task, CliError> {
        let graph = self.graph.read()?.ok_or_else(|| CliError::ProjectIncomplete {
            what: "a graph spec",
            hint: "use --graph".to_owned(),
        })?;
        let samples = files::read_samples(&self.samples, &self.policy)?;
        let rule = self.rule.as_deref().map(files::read_rule).transpose()?;
        let schema = self.schema.as_deref().map(files::read_event_schema).transpose()?;
        Ok(Task::new(graph, samples, rule, schema))
    }

    /// What may be read.
    pub(super) fn field_policy(&self) -> Result<FieldPolicy, CliError> {
        Ok(self.policy.read()?.fields().clone())
    }

    /// The gates, with the project's policy.
    pub(super) fn pipeline(&self) -> Result<Pipeline, CliError> {
        self.policy.pipeline()
    }

    /// What the sample run asks for.
    pub(super) fn smoke_options(&self) -> SmokeOptions {
        SmokeOptions {
            allow_external_endpoints: self.allow_external_endpoints,
            ..SmokeOptions::default()
        }
    }
}

impl ProjectArgs {
    /// The project that these arguments name.
    pub(super) fn resolve(&self) -> Result<Project, CliError> {
        let folder = self.project.as_deref().unwrap_or(Path::new(""));
        let (path, file) = self.read_file(folder)?;
        let flag_or = |flag: &Option<PathBuf>, key: Option<PathBuf>| {
            flag.clone().or_else(|| key.map(|relative| folder.join(relative)))
        };
        let missing = |what, key: &str, flag: &str| CliError::ProjectIncomplete {
            what,
            hint: format!("write `{key} = \"..\"` into {}, or use {flag}", path.display()),
        };
        let has_flag = self.graph.graph.is_some() || self.graph.ontology.is_some();
        let graph = if has_flag {
            self.graph.clone()
        } else {
            let [graph, ontology, binding] = [file.graph, file.ontology, file.binding]
                .map(|key| key.map(|relative| folder.join(relative)));
            match (&graph, &ontology, &binding) {
                (Some(_), None, None) | (None, Some(_), Some(_)) => {}
                (None, None, None) => return Err(missing("a graph spec", "graph", "--graph")),
                _ => {
                    return Err(CliError::ProjectInvalid {
                        origin: path.display().to_string(),
                        message: "expected either `graph`, or `ontology` with `binding`".to_owned(),
                    });
                }
            }
            GraphSource { graph, ontology, binding }
        };
        Ok(Project {
            origin: path.display().to_string(),
            graph,
            plan_flag: self.plan.clone(),
            plan: file.plan.map(|relative| folder.join(relative)),
            model: file.model.map(|spec| in_folder(spec, folder)),
            policy: PolicyArg::of(flag_or(&self.policy.policy, file.policy)),
            samples: flag_or(&self.samples, file.samples)
                .ok_or_else(|| missing("sample events", "samples", "--samples"))?,
            out: flag_or(&self.out, file.output).unwrap_or_else(|| folder.join(DEFAULT_OUTPUT)),
            rule: flag_or(&self.rule, file.rule),
            schema: flag_or(&self.schema, file.schema),
            allow_external_endpoints: self.allow_external_endpoints
                || file.allow_external_endpoints,
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
        match toml::from_str(&text) {
            Ok(file) => Ok((path, file)),
            Err(error) => {
                let (line, column) = position(&text, error.span().map_or(0, |span| span.start));
                Err(CliError::ProjectInvalid {
                    origin: format!("{}:{line}:{column}", path.display()),
                    message: sanitize(error.message(), 400),
                })
            }
        }
    }
}

/// A recording that the project file names is relative to its folder, as all files are that it names.
fn in_folder(spec: String, folder: &Path) -> String {
    match spec.strip_prefix("replay:") {
        Some(file) => format!("replay:{}", folder.join(file).display()),
        None => spec,
    }
}

/// Line and column of an offset, from 1.
fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}
