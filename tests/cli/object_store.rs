//! A store of others: S3, as far as publishing and taking ask for it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;

use super::project::Project;

/// What lies in the bucket, and how many requests weren't signed.
#[derive(Default)]
struct Bucket {
    objects: BTreeMap<String, Bytes>,
    unsigned: usize,
}

type Shared = Arc<Mutex<Bucket>>;

/// A server that speaks as much of the protocol as is needed here.
fn serve(bucket: Shared) -> SocketAddr {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    let router = Router::new().fallback(any(answer)).with_state(bucket);
    std::thread::spawn(move || runtime.block_on(async { axum::serve(listener, router).await }));
    address
}

async fn answer(State(bucket): State<Shared>, headers: HeaderMap, request: Request) -> Response {
    let query = request.uri().query().unwrap_or_default().as_bytes();
    let query: BTreeMap<String, String> = url::form_urlencoded::parse(query).into_owned().collect();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let body = axum::body::to_bytes(request.into_body(), 64 << 20).await.unwrap();
    let mut bucket = bucket.lock().unwrap();
    let is_signed = |it: &header::HeaderValue| it.as_bytes().starts_with(b"AWS4-HMAC-SHA256 ");
    bucket.unsigned += usize::from(!headers.get(header::AUTHORIZATION).is_some_and(is_signed));
    let key = path.strip_prefix("/releases").unwrap().trim_start_matches('/').to_owned();
    if key.is_empty() && query.get("list-type").is_some_and(|it| it == "2") {
        return listing(&bucket, query.get("prefix").map_or("", String::as_str));
    }
    let tag = |bytes: &Bytes| [(header::ETAG, format!("\"{}\"", bytes.len()))];
    match method {
        Method::PUT => {
            let answer = tag(&body).into_response();
            bucket.objects.insert(key, body);
            answer
        }
        Method::POST if query.contains_key("delete") => {
            let text = String::from_utf8(body.to_vec()).unwrap();
            let keys = text.split("<Key>").skip(1).map(|it| it.split("</Key>").next().unwrap());
            let removed = |key: &str| {
                assert!(bucket.objects.remove(key).is_some(), "{key}");
                format!("<Deleted><Key>{key}</Key></Deleted>")
            };
            let removed: String = keys.map(removed).collect();
            let text = format!("<?xml version=\"1.0\"?><DeleteResult>{removed}</DeleteResult>");
            ([(header::CONTENT_TYPE, "application/xml")], text).into_response()
        }
        _ => match bucket.objects.get(&key) {
            Some(bytes) => {
                let modified = [(header::LAST_MODIFIED, "Thu, 02 Jan 2020 12:00:00 GMT")];
                (tag(bytes), modified, bytes.clone()).into_response()
            }
            None => StatusCode::NOT_FOUND.into_response(),
        },
    }
}

fn listing(bucket: &Bucket, prefix: &str) -> Response {
    let found = bucket.objects.iter().filter(|(key, _)| key.starts_with(prefix));
    let listed: String = found
        .map(|(key, bytes)| {
            format!(
                "<Contents><Key>{key}</Key><LastModified>2020-01-02T12:00:00.000Z</LastModified><ETag>\"1\"</ETag><Size>{}</Size></Contents>",
                bytes.len()
            )
        })
        .collect();
    let text = format!(
        "<?xml version=\"1.0\"?><ListBucketResult><Name>releases</Name><IsTruncated>false</IsTruncated>{listed}</ListBucketResult>"
    );
    ([(header::CONTENT_TYPE, "application/xml")], text).into_response()
}

fn retort(project: &Project, address: SocketAddr, args: &[&str]) -> (i32, String, String) {
    let command = Command::new(env!("CARGO_BIN_EXE_retort"))
        .args(args)
        .current_dir(project.path(""))
        .env("AWS_ENDPOINT", format!("http://{address}"))
        .env("AWS_ALLOW_HTTP", "true")
        .env("AWS_REGION", "eu-central-1")
        .env("AWS_ACCESS_KEY_ID", "key")
        .env("AWS_SECRET_ACCESS_KEY", "secret of the test")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (command.status.code().unwrap(), text(command.stdout), text(command.stderr))
}

#[test]
fn bundles_go_through_a_bucket() {
    let bucket = Shared::default();
    let address = serve(Arc::clone(&bucket));
    let project = Project::new();
    let version = project.compile().strip_prefix("out/").unwrap().to_owned();
    let publish = ["publish", "out", "s3://releases/of/shop"];
    let (code, stdout, stderr) = retort(&project, address, &publish);
    assert_eq!(
        (code, &*stdout),
        (0, &*format!("read_order: {}, uploaded\n", &version[..12])),
        "{stderr}"
    );
    let keys: Vec<String> = bucket.lock().unwrap().objects.keys().cloned().collect();
    assert_eq!(keys[0], "of/shop/active/read_order.json");
    assert!(keys.contains(&format!("of/shop/bundles/{version}/manifest.json")), "{keys:?}");
    let (code, stdout, _) = retort(&project, address, &publish);
    assert_eq!((code, &*stdout), (0, &*format!("read_order: {} as before\n", &version[..12])));

    let sync = ["sync", "s3://releases/of/shop", "here"];
    let (code, stdout, stderr) = retort(&project, address, &sync);
    let took = format!("received {}\nread_order: as published\n", &version[..12]);
    assert_eq!((code, stdout), (0, took), "{stderr}");
    assert_eq!(retort(&project, address, &["run", "--bundles", "here", "events.ndjson"]).0, 0);

    // What nobody serves is removed, as old as the server says it is.
    assert_eq!(project.retort(["bundles", "retire", "out", "read_order"]).code, 0);
    let publish = ["publish", "out", "s3://releases/of/shop", "--remove-after", "1"];
    let (code, stdout, stderr) = retort(&project, address, &publish);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.ends_with(&format!("removed {}\n", &version[..12])), "{stdout}");
    let bucket = bucket.lock().unwrap();
    assert_eq!(bucket.objects.len(), 1, "what says that it is retired");
    assert_eq!(bucket.unsigned, 0);
    assert!(!stderr.contains("secret"));
}
