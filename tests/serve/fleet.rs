//! Two services behind one address, each with a directory that is filled from one store.

use std::io::{Read, Write, copy};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use rustix::process::Signal;
use serde_json::Value;

use super::fixture::{EVENTS_PATH, PATIENCE, Service, eventually};
use crate::cli::project::{PLAN, Project};

/// Events of a request.
const EVENTS: usize = 20;

/// `retort sync --watch`, which ends with this.
struct Sync(Child);

impl Sync {
    fn start(project: &Project, dir: &str) -> Self {
        let child = Command::new(env!("CARGO_BIN_EXE_retort"))
            .args(["sync", "store", dir, "--watch", "1"])
            .current_dir(project.path(""))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        Self(child.unwrap())
    }
}

impl Drop for Sync {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Ends what goes on until it is over, whatever ends the test.
struct Ending<'a> {
    is_over: &'a AtomicBool,
    address: &'a str,
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // So that nobody waits for the next connection.
        drop(TcpStream::connect(self.address));
    }
}

/// Gives connections to those that take them, in turns.
fn balance(listener: TcpListener, backends: &[String], is_over: &AtomicBool) {
    let turn = AtomicUsize::new(0);
    for client in listener.incoming() {
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        let client = client.unwrap();
        let first = turn.fetch_add(1, Ordering::Relaxed);
        let mut in_turn = (0..backends.len()).map(|it| &backends[(first + it) % backends.len()]);
        let Some(service) = in_turn.find_map(|it| TcpStream::connect(it).ok()) else { continue };
        let pipe = |mut from: TcpStream, mut to: TcpStream| {
            thread::spawn(move || {
                let _ = copy(&mut from, &mut to);
                let _ = to.shutdown(Shutdown::Write);
            });
        };
        pipe(client.try_clone().unwrap(), service.try_clone().unwrap());
        pipe(service, client);
    }
}

/// What came of a request, as far as it came: the lines that are whole.
fn ask(address: &str, body: &str) -> Vec<Value> {
    let Ok(mut stream) = TcpStream::connect(address) else { return Vec::new() };
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let length = body.len();
    let head = format!(
        "POST {EVENTS_PATH} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n"
    );
    // Who is killed meanwhile may have taken a part.
    let _ = stream.write_all((head + body).as_bytes());
    let (mut bytes, mut block) = (Vec::new(), [0; 4096]);
    while let Ok(read @ 1..) = stream.read(&mut block) {
        bytes.extend_from_slice(&block[..read]);
    }
    let text = String::from_utf8(bytes).unwrap();
    // Of chunks, those lines that are JSON are the answer's.
    let lines = text.split_inclusive('\n').filter(|line| line.starts_with('{'));
    lines.filter_map(|line| serde_json::from_str(line.strip_suffix('\n')?).ok()).collect()
}

fn is_whole(answer: &[Value]) -> bool {
    answer.last().is_some_and(|last| last.get("summary").is_some())
}

fn bundle_of(service: &Service, body: &str) -> String {
    let answer = ask(&service.address, body);
    answer.first().and_then(|it| it["bundle"].as_str()).unwrap_or_default().to_owned()
}

#[test]
fn what_is_published_once_is_served_by_all_and_who_is_killed_loses_nothing() {
    let project = Project::new();
    project.write("changed.json", PLAN.replace("\"span_id\"", "\"session_id\""));
    let first = project.compile().strip_prefix("out/").unwrap().to_owned();
    let publish = || assert_eq!(project.retort(["publish", "out", "store"]).code, 0);
    publish();
    let syncs = ["here", "there"].map(|dir| Sync::start(&project, dir));
    let event = |number| {
        format!(
            "{{\"event_type\":\"order_placed\",\"session_id\":\"s\",\"span_id\":\"t\",\"content\":{{\"id\":\"o{number}\"}}}}\n"
        )
    };
    let body: String = (0..EVENTS).map(event).collect();
    let mut services = ["here", "there"].map(|dir| {
        eventually("nothing is taken", || {
            std::path::Path::new(&project.path(dir)).join(&first).is_dir().then_some(())
        });
        Service::start(&project, &["--bundles", dir])
    });
    let all_serve = |services: &[Service], version: &str| {
        for service in services {
            eventually("the other one is served", || {
                (bundle_of(service, &body) == version).then_some(())
            });
        }
    };
    all_serve(&services, &first);

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let backends = services.each_ref().map(|it| it.address.clone());
    let (is_over, asked) = (AtomicBool::new(false), AtomicUsize::new(0));
    let second = thread::scope(|scope| {
        let ending = Ending { is_over: &is_over, address: &address };
        let (backends, is_over) = (&backends, &is_over);
        // Where it ends, so does what waits at its door.
        scope.spawn(move || balance(listener, backends, is_over));
        let clients = [(); 2].map(|()| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let mut answer = ask(&address, &body);
                    while !is_whole(&answer) && !is_over.load(Ordering::Relaxed) {
                        // What has come is right, and all of it is asked for once more.
                        let before = answer;
                        answer = ask(&address, &body);
                        for (one, again) in before.iter().zip(&answer) {
                            assert_eq!(one["result"]["nodes"], again["result"]["nodes"]);
                        }
                    }
                    if is_over.load(Ordering::Relaxed) {
                        return;
                    }
                    let lines: Vec<_> =
                        answer.iter().filter_map(|it| it["line"].as_u64()).collect();
                    assert_eq!(lines, (1..=EVENTS as u64).collect::<Vec<_>>());
                    assert_eq!(answer[EVENTS]["summary"]["events"], EVENTS);
                    asked.fetch_add(1, Ordering::Relaxed);
                }
            })
        });
        let more = |wanted: usize| {
            let before = asked.load(Ordering::Relaxed);
            eventually("nothing is answered any more", || {
                (asked.load(Ordering::Relaxed) >= before + wanted).then_some(())
            });
        };
        more(20);
        let ended = project.retort(["compile", "--plan", "changed.json"]);
        let second = ended.stdout.trim().strip_prefix("out/").unwrap().to_owned();
        publish();
        all_serve(&services, &second);
        more(20);
        services[0].tell(Signal::KILL);
        more(50);
        assert_eq!(project.retort(["bundles", "rollback", "out", "read_order"]).code, 0);
        publish();
        all_serve(&services[1..], &first);
        more(20);
        drop(ending);
        clients.into_iter().for_each(|client| client.join().unwrap());
        second
    });
    assert_ne!(first, second);
    drop(syncs);
    services[1].tell(Signal::TERM);
    assert_eq!(services[1].ended(), Some(0));
}
