//! Arguments that several commands take, and what is made of them.

use std::cell::OnceCell;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use retort::bundle::SmokeOptions;
use retort::graph::ValidateOptions;
use retort::internal::document::DocumentKind;
use retort::sandbox::{Cache, CacheReport, ForeignModules, Isolation, Options};
use retort::{GraphSpec, Pipeline, Task, TenantPolicy};

use super::error::CliError;
use super::files::{self, name, read_text};
use super::output;

/// Where a graph spec comes from.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct GraphSource {
    /// Graph spec that results have to fit (YAML or JSON)
    #[arg(long, value_name = "SPEC", conflicts_with_all = ["ontology", "binding"])]
    pub(super) graph: Option<PathBuf>,
    /// Ontology, in place of a graph spec; with --binding
    #[arg(long, value_name = "FILE", requires = "binding")]
    pub(super) ontology: Option<PathBuf>,
    /// Binding of the ontology
    #[arg(long, value_name = "FILE", requires = "ontology")]
    pub(super) binding: Option<PathBuf>,
}

impl GraphSource {
    /// The files that were named.
    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        [&self.graph, &self.ontology, &self.binding].into_iter().flatten().map(PathBuf::as_path)
    }

    /// The graph spec, if one was named.
    pub(super) fn read(&self) -> Result<Option<GraphSpec>, CliError> {
        if let Some(path) = &self.graph {
            let text = read_text(path, DocumentKind::GraphSpec)?;
            return GraphSpec::parse(&text, &name(path)).map(Some).map_err(CliError::refused);
        }
        let (Some(ontology), Some(binding)) = (&self.ontology, &self.binding) else {
            return Ok(None);
        };
        let ontology = (read_text(ontology, DocumentKind::Ontology)?, name(ontology));
        let binding = (read_text(binding, DocumentKind::Binding)?, name(binding));
        let parsed =
            GraphSpec::from_ontology_files((&ontology.0, &ontology.1), (&binding.0, &binding.1));
        parsed.map(Some).map_err(CliError::refused)
    }

    /// The graph spec, for a command that can do nothing without.
    pub(super) fn require(&self) -> Result<GraphSpec, CliError> {
        self.read()?.ok_or_else(|| CliError::ProjectIncomplete {
            what: "a graph spec",
            hint: "use --graph, or --ontology with --binding".to_owned(),
        })
    }
}

/// What the tenant may do.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct PolicyArg {
    /// The tenant's policy: what may be read of events, limits, isolation (JSON or YAML)
    #[arg(long, value_name = "FILE")]
    pub(super) policy: Option<PathBuf>,
    /// The policy, once it was read: the file may be a pipe.
    #[arg(skip)]
    known: OnceCell<TenantPolicy>,
}

impl PolicyArg {
    /// The policy of this file.
    pub(super) fn of(policy: Option<PathBuf>) -> Self {
        Self { policy, known: OnceCell::new() }
    }

    /// The policy; the default one where none is named.
    pub(super) fn read(&self) -> Result<&TenantPolicy, CliError> {
        if let Some(known) = self.known.get() {
            return Ok(known);
        }
        let policy = match &self.policy {
            None => TenantPolicy::default(),
            Some(path) => TenantPolicy::parse(&read_text(path, DocumentKind::Policy)?, &name(path))
                .map_err(CliError::refused)?
                .in_folder(path.parent().unwrap_or(Path::new(""))),
        };
        Ok(self.known.get_or_init(|| policy))
    }

    /// The gates, as the policy says.
    pub(super) fn pipeline(&self) -> Result<Pipeline, CliError> {
        CacheArg::default().pipeline(self)
    }
}

/// Where native code and verdicts of the gates are kept between runs.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct CacheArg {
    /// Keep native code and the gates' verdicts between runs in this directory, which must be this user's alone
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
}

impl CacheArg {
    /// The gates, as a policy says, with the cache.
    pub(super) fn pipeline(&self, policy: &PolicyArg) -> Result<Pipeline, CliError> {
        Self::pipeline_with(self.cache.as_ref().map(Cache::new), policy)
    }

    /// The directory, where one was named.
    pub(super) fn directory(&self) -> Option<&Path> {
        self.cache.as_deref()
    }

    /// The gates, as a policy says, with this cache or without one.
    pub(super) fn pipeline_with(
        cache: Option<Cache>,
        policy: &PolicyArg,
    ) -> Result<Pipeline, CliError> {
        let mut host = host_options()?;
        host.cache = cache;
        Pipeline::builder().options(host).tenant(policy.read()?).build().map_err(CliError::refused)
    }

    /// Reports on stderr what is wrong with the cache.
    pub(super) fn report(&self, pipeline: &Pipeline) {
        let CacheReport { warnings, more_warnings, .. } = pipeline.sandbox().cache_report();
        warnings.iter().for_each(output::warning);
        if more_warnings > 0 {
            output::note(format_args!("{more_warnings} more warnings of the cache"));
        }
    }
}

/// Whether edges may leave the event.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(super) struct EndpointsArg {
    /// Let edges lead to nodes of other events
    #[arg(long)]
    pub(super) allow_external_endpoints: bool,
}

impl EndpointsArg {
    /// What the sample run asks for.
    pub(super) fn smoke_options(self) -> SmokeOptions {
        let mut options = SmokeOptions::default();
        options.allow_external_endpoints = self.allow_external_endpoints;
        options
    }

    /// What results are checked against.
    pub(super) fn validate_options(self) -> ValidateOptions {
        let mut options = ValidateOptions::default();
        options.allow_external_endpoints = self.allow_external_endpoints;
        options
    }
}

/// How the results of a command are printed.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct JsonArg {
    /// Print one JSON object instead
    #[arg(long)]
    pub(super) json: bool,
}

/// What is asked for, read from these files.
pub(super) fn read_task(
    graph: &GraphSource,
    samples: &Path,
    rule: Option<&Path>,
    schema: Option<&Path>,
    expected: Option<&Path>,
    policy: &PolicyArg,
) -> Result<Task, CliError> {
    let graph = graph.require()?;
    let samples = files::read_samples(samples, policy.read()?)?;
    let rule = rule.map(files::read_rule).transpose()?;
    let schema = schema.map(files::read_event_schema).transpose()?;
    let expected = expected.map(|path| files::read_expected(path, &samples, Some(&graph)));
    let expected = expected.transpose()?;
    Ok(Task::builder(graph, samples).rule(rule).event_schema(schema).expected(expected).build())
}

/// How the sandbox of every command is built, where no policy says otherwise. Modules that weren't rendered here are compiled
/// by this very program, in a process of its own.
pub(super) fn host_options() -> Result<Options, CliError> {
    let program = this_program().map_err(CliError::Runtime)?;
    let mut options = Options::default();
    options.foreign = ForeignModules::Helper(program);
    Ok(options)
}

/// This very build, also where another one has taken the place of its file.
#[cfg(target_os = "linux")]
fn this_program() -> io::Result<PathBuf> {
    let program = PathBuf::from("/proc/self/exe");
    program.symlink_metadata().map(|_| program)
}

/// The file that this program was started from.
#[cfg(not(target_os = "linux"))]
fn this_program() -> io::Result<PathBuf> {
    std::env::current_exe()
}

/// The isolation mode of a name.
pub(super) fn isolation_modes() -> impl TypedValueParser<Value = Isolation> {
    PossibleValuesParser::new(Isolation::ALL.map(Isolation::as_str)).map(|name| {
        let named = Isolation::ALL.into_iter().find(|isolation| isolation.as_str() == name);
        named.unwrap_or_default()
    })
}
