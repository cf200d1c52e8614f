//! Which model, as a user names it.

use std::path::PathBuf;
use std::str::FromStr;

#[cfg(feature = "http")]
use super::{Anthropic, Gemini, OpenAi};
use super::{ClientConfig, Command, LlmClient, LlmError, Replay};
use crate::diagnostics::untrusted::{is_hidden, quoted};

/// The forms of a model's name.
const FORMS: &str =
    "draft, openai:NAME, anthropic:NAME, gemini:NAME, command:COMMAND or replay:FILE";

/// Which model, in the forms of `--model`.
///
/// # Example
/// ```
/// use retort::author::llm::ModelSpec;
///
/// let spec: ModelSpec = "openai:gpt-5".parse()?;
/// assert_eq!(spec, ModelSpec::OpenAi("gpt-5".to_owned()));
/// # Ok::<(), retort::author::llm::LlmError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ModelSpec {
    /// `draft`: no model, but a first sketch from names and types.
    #[default]
    Draft,
    /// `openai:NAME`: a model reached by OpenAI's chat completions, or a compatible endpoint.
    OpenAi(String),
    /// `anthropic:NAME`: a model of Anthropic.
    Anthropic(String),
    /// `gemini:NAME`: a model of Gemini.
    Gemini(String),
    /// `command:COMMAND`: a program with its arguments.
    Command(String),
    /// `replay:FILE`: a recorded transcript.
    Replay(PathBuf),
}

impl FromStr for ModelSpec {
    type Err = LlmError;

    /// # Errors
    /// [`LlmError::Config`]: none of the forms, or characters in it that don't show, or that change how others do.
    fn from_str(text: &str) -> Result<Self, LlmError> {
        let unknown =
            || LlmError::Config { message: format!("expected {FORMS}, found {}", quoted(text)) };
        if text == "draft" {
            return Ok(Self::Draft);
        }
        let (kind, name) = text.split_once(':').ok_or_else(unknown)?;
        let name = Some(name.trim()).filter(|name| !name.is_empty());
        let name = name.ok_or_else(unknown)?.to_owned();
        if name.contains(is_hidden) {
            let found = quoted(text);
            let message =
                format!("expected a model's name of characters that can be seen, found {found}");
            return Err(LlmError::Config { message });
        }
        match kind {
            "openai" => Ok(Self::OpenAi(name)),
            "anthropic" => Ok(Self::Anthropic(name)),
            "gemini" => Ok(Self::Gemini(name)),
            "command" => Ok(Self::Command(name)),
            "replay" => Ok(Self::Replay(name.into())),
            _ => Err(unknown()),
        }
    }
}

/// A client for the model, or `None` for [`ModelSpec::Draft`], whose client is made of the task rather than of this.
///
/// # Errors
/// [`LlmError::Config`], for want of a key, an address, a command or the cargo feature `http`; [`LlmError::Replay`], for a
/// transcript that can't be read. Nothing is asked yet: whether a key is good shows with the first request.
pub fn connect(
    spec: &ModelSpec,
    config: &ClientConfig,
) -> Result<Option<Box<dyn LlmClient>>, LlmError> {
    let client: Box<dyn LlmClient> = match spec {
        ModelSpec::Draft => return Ok(None),
        #[cfg(feature = "http")]
        ModelSpec::OpenAi(model) => Box::new(OpenAi::new(model, config)?),
        #[cfg(feature = "http")]
        ModelSpec::Anthropic(model) => Box::new(Anthropic::new(model, config)?),
        #[cfg(feature = "http")]
        ModelSpec::Gemini(model) => Box::new(Gemini::new(model, config)?),
        #[cfg(not(feature = "http"))]
        ModelSpec::OpenAi(_) | ModelSpec::Anthropic(_) | ModelSpec::Gemini(_) => {
            return Err(LlmError::Config {
                message: "expected a Retort that was built with the cargo feature `http`, found one without"
                    .to_owned(),
            });
        }
        ModelSpec::Command(line) => Box::new(Command::new(line, config)?),
        ModelSpec::Replay(file) => Box::new(Replay::open(file)?),
    };
    Ok(Some(client))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read() {
        for (text, spec) in [
            ("draft", ModelSpec::Draft),
            ("openai:ft:gpt-5:me", ModelSpec::OpenAi("ft:gpt-5:me".to_owned())),
            ("anthropic:claude", ModelSpec::Anthropic("claude".to_owned())),
            ("gemini:models/flash", ModelSpec::Gemini("models/flash".to_owned())),
            ("command:ask --model 'a b'", ModelSpec::Command("ask --model 'a b'".to_owned())),
            ("replay:runs/1.ndjson", ModelSpec::Replay("runs/1.ndjson".into())),
        ] {
            assert_eq!(text.parse(), Ok(spec), "{text}");
        }
    }

    #[test]
    fn a_name_that_a_terminal_would_obey_is_refused() {
        for kind in ["openai", "anthropic", "gemini", "command", "replay"] {
            for hidden in ['\u{1b}', '\n', '\u{9b}', '\u{202e}', '\0'] {
                let parsed = format!("{kind}:x{hidden}[2J").parse::<ModelSpec>();
                let message = parsed.map_err(|error| error.to_string()).err().unwrap_or_default();
                assert!(message.contains("x\\") && !message.contains(hidden), "{kind}: {message}");
            }
        }
    }

    #[test]
    fn another_form_is_refused_with_those_that_there_are() {
        for text in
            ["", "gpt-5", "openai", "openai:", "openai: ", "OpenAI:gpt-5", "draft:", "mistral:x\n"]
        {
            let error = text.parse::<ModelSpec>().map_err(|error| error.to_string());
            let message = error.err().unwrap_or_else(|| panic!("{text:?} is read"));
            assert!(message.contains(FORMS) && !message.contains('\n'), "{message}");
        }
    }
}
