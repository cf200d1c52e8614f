//! Where a provider's service is, and with which key it is asked.

use std::net::IpAddr;

use reqwest::Url;
use reqwest::header::{HeaderName, HeaderValue, InvalidHeaderValue};
use secrecy::{ExposeSecret, SecretString};

use super::super::{ClientConfig, LlmError};

/// What is known of a provider.
pub struct Provider {
    /// Its name in `--model`.
    pub(crate) label: &'static str,
    /// The environment variable that holds the key.
    pub(crate) key_variable: &'static str,
    /// The header that the key is sent in.
    pub(crate) key_header: &'static str,
    /// What comes before the key there.
    pub(crate) key_prefix: &'static str,
    /// The environment variable that holds the base URL.
    pub(crate) url_variable: &'static str,
    /// Where the provider itself has its service.
    pub(crate) url: &'static str,
}

/// A service, and the key to it.
pub(super) struct Service {
    provider: Provider,
    base: Url,
    key: Option<SecretString>,
}

impl Service {
    /// What the caller configured, or else the environment, or else the provider's own address.
    ///
    /// # Errors
    /// [`LlmError::Config`]: no key for the provider's own address, a base URL that isn't one, or one to which the key
    /// would travel in clear.
    pub(super) fn resolve(
        provider: Provider,
        config: &ClientConfig,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, LlmError> {
        let set = |name| variable(name).filter(|value| !value.trim().is_empty());
        let from_environment = || Some((set(provider.url_variable)?, provider.url_variable));
        let configured = config.base_url.clone().map(|url| (url, "the base URL"));
        let own = configured.or_else(from_environment);
        let key = config.api_key.clone().or_else(|| set(provider.key_variable).map(Into::into));
        if key.is_none() && own.is_none() {
            return Err(LlmError::Config {
                message: format!(
                    "expected a key in {}, or a base URL (in {}) of a service that needs none, found neither",
                    provider.key_variable, provider.url_variable
                ),
            });
        }
        let (url, origin) = own.unwrap_or_else(|| (provider.url.to_owned(), "the base URL"));
        let base = base(&url).map_err(|found| LlmError::Config {
            message: format!("{origin}: expected one such as {}, found {found}", provider.url),
        })?;
        let service = Self { provider, base, key: key.map(trimmed) };
        if service.key.is_some() && service.is_plain() && !service.is_loopback() {
            return Err(LlmError::Config {
                message: format!(
                    "{origin}: expected https, since there is a key to be sent (to this machine alone it may go over http), found http to another machine"
                ),
            });
        }
        Ok(service)
    }

    /// The address of something below the base URL.
    pub(super) fn url<S: AsRef<str>>(&self, segments: impl IntoIterator<Item = S>) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(segments);
        }
        url
    }

    pub(super) fn key(&self) -> Option<&SecretString> {
        self.key.as_ref()
    }

    /// The header that holds the key, and what it is there.
    ///
    /// # Errors
    /// No header can hold it.
    pub(super) fn key_header(
        &self,
    ) -> Result<Option<(HeaderName, HeaderValue)>, InvalidHeaderValue> {
        let Some(key) = &self.key else { return Ok(None) };
        let mut value =
            HeaderValue::try_from(format!("{}{}", self.provider.key_prefix, key.expose_secret()))?;
        value.set_sensitive(true);
        Ok(Some((HeaderName::from_static(self.provider.key_header), value)))
    }

    /// Whether the service is reached without TLS.
    pub(super) fn is_plain(&self) -> bool {
        self.base.scheme() == "http"
    }

    /// Whether the service is on this machine.
    pub(super) fn is_loopback(&self) -> bool {
        let host = self.base.host_str().unwrap_or_default();
        let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        host == "localhost" || address.is_ok_and(|address| address.is_loopback())
    }
}

/// A base URL. What is wrong with one is said without repeating it: people put passwords there.
fn base(text: &str) -> Result<Url, String> {
    let url = Url::parse(text.trim()).map_err(|error| format!("one with a fault: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("one that is neither http nor https".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("one with a user's name or password in it".to_owned());
    }
    if url.query().is_some() {
        return Err("one with a query (`?`), where a key may be".to_owned());
    }
    if url.fragment().is_some() {
        return Err("one with a fragment (`#`)".to_owned());
    }
    Ok(url)
}

/// The key without the line break that files and shells leave behind.
fn trimmed(key: SecretString) -> SecretString {
    key.expose_secret().trim().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROVIDER: Provider = Provider {
        label: "test",
        key_variable: "TEST_API_KEY",
        key_header: "x-test-key",
        key_prefix: "",
        url_variable: "TEST_BASE_URL",
        url: "https://models.example/v1",
    };

    fn resolve(config: &ClientConfig, environment: &[(&str, &str)]) -> Result<Service, LlmError> {
        Service::resolve(PROVIDER, config, |name| {
            environment.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    fn at(url: &str) -> ClientConfig {
        ClientConfig { base_url: Some(url.to_owned()), ..ClientConfig::default() }
    }

    fn shown(service: &Service) -> (String, Option<&str>) {
        (service.url(["chat"]).to_string(), service.key().map(ExposeSecret::expose_secret))
    }

    #[test]
    fn configuration_comes_before_environment_and_that_before_the_default() {
        let environment =
            [("TEST_API_KEY", "from-env\n"), ("TEST_BASE_URL", "https://env.example/")];
        let found = resolve(&ClientConfig::default(), &environment[..1]).ok();
        let found = found.as_ref().map(shown);
        assert_eq!(found, Some(("https://models.example/v1/chat".to_owned(), Some("from-env"))));
        let found = resolve(&ClientConfig::default(), &environment).ok();
        let found = found.as_ref().map(shown);
        assert_eq!(found, Some(("https://env.example/chat".to_owned(), Some("from-env"))));
        let config = ClientConfig { api_key: Some("given".into()), ..at("https://10.0.0.1/a") };
        let found = resolve(&config, &environment).ok();
        let found = found.as_ref().map(shown);
        assert_eq!(found, Some(("https://10.0.0.1/a/chat".to_owned(), Some("given"))));
    }

    #[test]
    fn a_key_goes_in_clear_to_no_other_machine() {
        for environment in [&[][..], &[("TEST_API_KEY", "from-env")][..]] {
            for (url, local) in [
                ("http://10.0.0.1/v1", false),
                ("http://localhost.example/v1", false),
                ("http://127.0.0.1.example/v1", false),
                ("http://localhost:8080/v1", true),
                ("http://127.0.0.1:8080/v1", true),
                ("http://[::1]:8080/v1", true),
                ("https://10.0.0.1/v1", true),
            ] {
                let found = resolve(&at(url), environment);
                assert_eq!(found.is_ok(), local || environment.is_empty(), "{url}");
                let message = found.err().map_or_else(String::new, |error| error.to_string());
                assert_eq!(message.contains("expected https"), !message.is_empty(), "{message}");
                assert!(!message.contains("from-env"), "{message}");
            }
        }
    }

    #[test]
    fn a_key_is_needed_where_no_address_is_given() {
        for environment in [&[][..], &[("TEST_API_KEY", " ")][..]] {
            let error = resolve(&ClientConfig::default(), environment).err();
            let message = error.map(|error| error.to_string()).unwrap_or_default();
            assert!(message.contains("TEST_API_KEY"), "{message}");
        }
        assert!(
            resolve(&ClientConfig::default(), &[("TEST_BASE_URL", "http://localhost")]).is_ok()
        );
        assert!(resolve(&at("http://localhost:8080"), &[]).is_ok());
    }

    #[test]
    fn a_url_that_is_none_is_not_repeated() {
        for url in [
            "localhost:8080",
            "https://me:hunter2@host",
            "hunter2",
            "http://",
            "http://a/#hunter2",
            "https://a/v1?key=hunter2",
        ] {
            let message = resolve(&at(url), &[]).err().map(|error| error.to_string());
            let message = message.unwrap_or_else(|| panic!("{url} is taken"));
            assert!(message.contains("https://models.example/v1"), "{message}");
            assert!(!message.contains("hunter2"), "{message}");
        }
    }

    #[test]
    fn this_machine_is_known() {
        for (url, local) in [
            ("http://127.0.0.1:80", true),
            ("http://[::1]/v1", true),
            ("https://localhost", true),
            ("http://localhost.example", false),
            ("http://10.0.0.1", false),
        ] {
            let found = resolve(&at(url), &[]).is_ok_and(|service| service.is_loopback());
            assert_eq!(found, local, "{url}");
        }
    }
}
