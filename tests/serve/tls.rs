//! A service with a certificate.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::compiled;
use super::fixture::{PATIENCE, Service, eventually};
use super::tenants::{bearer, config};
use crate::cli::project::{EVENTS, Project};
use crate::support::workspace_root;

/// Puts a certificate and its key where the configuration has them.
fn put(project: &Project, name: &str) {
    for part in ["cert", "key"] {
        let path = workspace_root().join(format!("tests/serve/tls/{name}.{part}.pem"));
        project.write(&format!("{part}.pem"), fs::read(path).unwrap());
    }
}

/// What a client that trusts this certificate alone is answered.
fn ask(service: &Service, trusted: &str) -> std::io::Result<String> {
    let path = workspace_root().join(format!("tests/serve/tls/{trusted}.cert.pem"));
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(path).unwrap()).unwrap();
    let client = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let connection = ClientConnection::new(Arc::new(client), name).unwrap();
    let tcp = TcpStream::connect(&service.address)?;
    tcp.set_read_timeout(Some(PATIENCE))?;
    let mut stream = StreamOwned::new(connection, tcp);
    let (token, length) = (bearer("acme"), EVENTS.len());
    write!(
        stream,
        "POST /v1/tenants/acme/events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{token}Content-Length: {length}\r\n\r\n{EVENTS}"
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

#[test]
fn a_service_with_a_certificate_is_asked_by_tls_alone() {
    let project = compiled();
    put(&project, "one");
    let tls = "[tls]\ncertificate = \"cert.pem\"\nkey = \"key.pem\"\n";
    project.write("service.toml", config(tls));
    let service = Service::start(&project, &["--config", "service.toml"]);
    let answer = ask(&service, "one").unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.contains("{\"summary\":{\"events\":4,\"results\":2,"), "{answer}");
    // Who trusts another certificate, or asks without TLS, learns nothing.
    assert!(ask(&service, "two").is_err());
    let mut plain = service.connect();
    plain.begin("GET", "/healthz", "");
    let mut bytes = Vec::new();
    let _ = plain.stream.read_to_end(&mut bytes);
    assert!(!String::from_utf8_lossy(&bytes).contains("HTTP"), "{bytes:?}");

    // A key that isn't the certificate's changes nothing, until the certificate has come as well.
    let other = workspace_root().join("tests/serve/tls/two.key.pem");
    project.write("key.pem", fs::read(other).unwrap());
    service.wait_for("service.toml: tls.key: key.pem: expected the key of the certificate");
    assert!(ask(&service, "one").is_ok());
    put(&project, "two");
    eventually("it isn't taken up", || ask(&service, "two").ok());
    assert!(ask(&service, "one").is_err());
    assert!(!service.log().contains("PRIVATE"));
}

#[test]
fn what_is_no_certificate_is_refused_with_its_place() {
    let project = compiled();
    let tls = "[tls]\ncertificate = \"cert.pem\"\nkey = \"key.pem\"\n";
    for (cert, key, said) in [
        (None, None, "service.toml: tls.certificate: cert.pem: expected certificates in PEM"),
        (Some("?"), None, "service.toml: tls.key: key.pem: expected the key of the certificate"),
        (None, Some("?"), "service.toml: tls.key: key.pem: expected a private key in PEM"),
    ] {
        put(&project, "one");
        match (cert, key) {
            (None, None) => fs::remove_file(project.path("cert.pem")).unwrap(),
            (cert, key) => {
                cert.iter().for_each(|text| _ = project.write("cert.pem", text));
                key.iter().for_each(|text| _ = project.write("key.pem", text));
            }
        }
        project.write("service.toml", config(tls));
        let ended = project.retort(["serve", "--config", "service.toml"]);
        assert_eq!((ended.code, &*ended.stdout), (2, ""), "{ended:?}");
        assert!(ended.stderr.contains(said), "{said}: {ended:?}");
    }
}
