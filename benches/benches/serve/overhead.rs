//! What the service adds to the same events in one process, as `retort run` serves them on one thread.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use retort::internal::packing::Packing;
use retort::runtime::{Sink, Stream};
use retort::{Pipeline, Registry};
use retort_benches::turns::{Way, take};
use retort_benches::versions;
use serde_json::json;
use tokio::runtime::{Builder, Runtime};

use super::client::{Client, whole};
use super::service::Service;

/// How many turns each way has.
const ROUNDS: usize = 15;

/// Events of a request, and requests of a turn.
const SIZES: [(u64, usize); 3] = [(1, 400), (100, 40), (10_000, 1)];

const TENANT: &str = "default";

/// An event of a kilobyte, of which little is wanted.
fn event(id: u64) -> String {
    let event = json!({"event_type": "e", "session_id": "s", "id": id, "note": "as notes are",
        "rest": {"text": "x".repeat(800), "numbers": [1, 2, 3], "more": {"is_there": true}}});
    event.to_string() + "\n"
}

pub(super) fn compare() {
    let root = tempfile::tempdir().expect("a directory");
    let root = root.path();
    let _ = versions::rendered(&root.join("bundles"), "id");
    let config = root.join("service.toml");
    let text = "listen = \"127.0.0.1:0\"\n[tenants.default]\nbundles = [\"bundles\"]\n";
    std::fs::write(&config, text).expect("it is written");
    let service = Service::start(&config);
    let gates = Pipeline::builder().build().expect("an engine");
    let registry = Registry::open(&root.join("bundles"), &gates);
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    println!(
        "\n{:10}{:32}{:>14}{:>14}{:>10}{:>14}",
        "events", "", "of an event", "fastest", "times", "a request"
    );
    for (count, requests) in SIZES {
        let text: String = (0..count).map(event).collect();
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        packed.write_all(text.as_bytes()).expect("a vector takes all");
        let packed = packed.finish().expect("a vector takes all");
        let mut client = Client::new(service.address, TENANT);
        let expected = written(&registry, text.as_bytes());
        let found = ask(&runtime, &mut client, text.as_bytes(), None);
        let lines = found.strip_suffix(b"}}\n").map(|it| it.len() >= expected.len());
        assert!(lines == Some(true) && found.starts_with(&expected), "the lines are others");
        assert_eq!(ask(&runtime, &mut client, &packed, Some("gzip")), found);
        let mut again = Client::new(service.address, TENANT);
        let mut plain = Stream::new(&registry, std::io::sink(), std::io::sink());
        let mut unpacked = Stream::new(&registry, std::io::sink(), std::io::sink());
        let (text, packed) = (text.as_bytes(), &packed);
        let ways: Vec<Way<'_>> = vec![
            (
                "in one process".to_owned(),
                Box::new(|| {
                    (0..requests).for_each(|_| run(&mut plain, text));
                }),
            ),
            (
                "in one process, gzip".to_owned(),
                Box::new(|| {
                    for _ in 0..requests {
                        let source = std::io::Cursor::new(packed.clone());
                        run(&mut unpacked, Packing::Gzip.unpack(Vec::new(), source));
                    }
                }),
            ),
            (
                "the service".to_owned(),
                Box::new(|| {
                    (0..requests).for_each(|_| drop(ask(&runtime, &mut client, text, None)));
                }),
            ),
            (
                "the service, gzip".to_owned(),
                Box::new(|| {
                    let gzip = Some("gzip");
                    (0..requests).for_each(|_| drop(ask(&runtime, &mut again, packed, gzip)));
                }),
            ),
        ];
        for found in take(ways, ROUNDS, count as usize * requests) {
            let us = |nanoseconds: f64| format!("{:.2} us", nanoseconds / 1e3);
            println!(
                "{count:<10}{:32}{:>14}{:>14}{:>10.2}{:>14}",
                found.name,
                us(found.median),
                us(found.fastest),
                found.ratio,
                us(found.median * count as f64),
            );
        }
    }
    assert!(service.end(), "the service has ended badly");
}

/// What `retort run` writes of these events.
fn written(registry: &Registry, events: &[u8]) -> Vec<u8> {
    let (mut results, mut rejects) = (Vec::new(), Vec::new());
    run(&mut Stream::new(registry, &mut results, &mut rejects), events);
    assert!(rejects.is_empty(), "{}", rejects.escape_ascii());
    results
}

/// Serves events, on instances that have served others.
fn run<S: Sink>(stream: &mut Stream<'_, S>, events: impl Read + Send) {
    stream.run(events, None).expect("events can be read, and results written");
}

/// What the service answers.
fn ask(runtime: &Runtime, client: &mut Client, body: &[u8], packing: Option<&str>) -> Vec<u8> {
    let asked = async {
        let mut lines = client.post(whole(body.to_vec()), packing).await?;
        lines.whole().await
    };
    runtime.block_on(asked).expect("it is answered")
}
