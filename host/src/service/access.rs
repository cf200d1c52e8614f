//! Who may ask for what.

use std::net::IpAddr;

use axum::http::{HeaderMap, header};

use super::error::Refusal;
use crate::diagnostics::codes;

/// Refuses what a web page could have a browser ask of a service without tokens: requests of other origins, and those by a name that
/// only leads to this machine.
pub(super) fn require_local(headers: &HeaderMap) -> Result<(), Refusal> {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let is_local = host.is_some_and(|host| is_loopback(name_of(host)));
    if is_local && !headers.contains_key(header::ORIGIN) {
        return Ok(());
    }
    let message = "expected a request to the loopback address that comes from no web page";
    Err(Refusal::new(codes::CROSS_ORIGIN, message))
}

/// A host without its port.
fn name_of(host: &str) -> &str {
    let end = match host.starts_with('[') {
        true => host.find(']').map(|at| at + 1),
        false => host.find(':'),
    };
    end.and_then(|end| host.get(..end)).unwrap_or(host)
}

fn is_loopback(name: &str) -> bool {
    let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    match address {
        Ok(address) => address.is_loopback(),
        Err(_) => name.eq_ignore_ascii_case("localhost"),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn only_this_machine_is_local() {
        for (host, origin, is_local) in [
            (Some("127.0.0.1:8080"), None, true),
            (Some("localhost"), None, true),
            (Some("LOCALHOST:1"), None, true),
            (Some("[::1]:8080"), None, true),
            (Some("127.8.0.1"), None, true),
            (Some("localhost:1"), Some("http://localhost:1"), false),
            (Some("evil.example:8080"), None, false),
            (Some("127.0.0.1.evil.example"), None, false),
            (Some("10.0.0.1"), None, false),
            (Some("[::2]"), None, false),
            (Some(""), None, false),
            (None, None, false),
        ] {
            let mut headers = HeaderMap::new();
            headers.extend(host.map(|it| (header::HOST, HeaderValue::from_static(it))));
            headers.extend(origin.map(|it| (header::ORIGIN, HeaderValue::from_static(it))));
            assert_eq!(require_local(&headers).is_ok(), is_local, "{host:?} {origin:?}");
        }
    }
}
