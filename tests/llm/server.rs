//! A local service that answers as a script says, and keeps what it was asked.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, Response, Uri};
use futures_util::{StreamExt, stream};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// One answer of a script.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reply {
    #[serde(default = "success")]
    status: u16,
    /// A string is sent as it is, anything else as JSON.
    #[serde(default)]
    body: Value,
    #[serde(default)]
    headers: Vec<(String, String)>,
    /// How long the answer is held back.
    #[serde(default)]
    delay_ms: u64,
    /// How often the body is sent, one after the other.
    #[serde(default = "once")]
    times: usize,
    /// Whether the connection breaks behind the body, which then isn't whole.
    #[serde(default)]
    breaks: bool,
    /// Whether nothing more comes behind the body, not even its end.
    #[serde(default)]
    stalls: bool,
}

fn success() -> u16 {
    200
}

fn once() -> usize {
    1
}

impl Reply {
    /// JSON, or a text as it is.
    pub(crate) fn new(status: u16, body: impl Into<Value>) -> Self {
        let body = body.into();
        let headers = Vec::new();
        Self { status, body, headers, delay_ms: 0, times: 1, breaks: false, stalls: false }
    }

    /// The answer `text` in the protocol of chat completions, for 100 tokens of prompt and 20 of answer.
    pub(crate) fn chat(text: &str, finish_reason: &str) -> Self {
        let message = json!({"role": "assistant", "content": text});
        let choice = json!({"index": 0, "message": message, "finish_reason": finish_reason});
        let usage = json!({"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120});
        Self::new(200, json!({"object": "chat.completion", "choices": [choice], "usage": usage}))
    }

    /// The same, held back.
    pub(crate) fn after(mut self, delay: Duration) -> Self {
        self.delay_ms = u64::try_from(delay.as_millis()).unwrap();
        self
    }

    /// The same, without an end.
    pub(crate) fn stalling(mut self) -> Self {
        self.stalls = true;
        self
    }

    fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A redirect.
    pub(crate) fn redirect(status: u16, location: &str) -> Self {
        Self::new(status, "").with_header("location", location)
    }

    fn response(&self) -> Response<Body> {
        let bytes = match &self.body {
            Value::Null => Bytes::new(),
            Value::String(text) => Bytes::from(text.clone()),
            value => Bytes::from(value.to_string()),
        };
        let mut response = Response::builder().status(self.status);
        for (name, value) in &self.headers {
            response = response.header(name, value);
        }
        // What came before a break is sent before it.
        let broken = (Duration::from_millis(20), Err(io::Error::other("the script breaks here")));
        let stalled = (Duration::from_secs(3600), Ok(Bytes::new()));
        let end = self.breaks.then_some(broken).or(self.stalls.then_some(stalled));
        let sent = (0..self.times).map(move |_| (Duration::ZERO, Ok(bytes.clone())));
        let chunks = stream::iter(sent.chain(end)).then(|(wait, chunk)| async move {
            if !wait.is_zero() {
                tokio::time::sleep(wait).await;
            }
            chunk
        });
        response.body(Body::from_stream(chunks)).unwrap()
    }
}

/// One request, as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) method: Method,
    pub(crate) uri: Uri,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Received {
    /// The body as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}

/// What is wrong with the body of a request, in the words of a service.
type Restriction = Box<dyn Fn(&Value) -> Option<String> + Send + Sync>;

struct Script {
    replies: Mutex<VecDeque<Reply>>,
    received: Mutex<Vec<Received>>,
    restriction: Restriction,
}

/// A service on this machine, for as long as it isn't dropped. Requests beyond the script's end get a 501.
pub(crate) struct Server {
    url: String,
    script: Arc<Script>,
    task: JoinHandle<io::Result<()>>,
}

impl Server {
    /// A service that answers in the order of the script, at whatever path it is asked.
    pub(crate) async fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self::restricted(replies, |_| None).await
    }

    /// The same, which refuses requests with a 400 instead where there is something wrong with them.
    pub(crate) async fn restricted(
        replies: impl IntoIterator<Item = Reply>,
        restriction: impl Fn(&Value) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        let replies = Mutex::new(replies.into_iter().collect());
        let restriction = Box::new(restriction);
        let script = Arc::new(Script { replies, received: Mutex::default(), restriction });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(answer).with_state(Arc::clone(&script));
        let task = tokio::spawn(async { axum::serve(listener, router).await });
        Self { url, script, task }
    }

    /// Where it is: `http://127.0.0.1:PORT`.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// What it was asked so far.
    pub(crate) fn received(&self) -> Vec<Received> {
        self.script.received.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(
    State(script): State<Arc<Script>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    let received = Received { method, uri, headers, body };
    let asked = serde_json::from_slice(&received.body);
    let refusal = asked.ok().and_then(|asked| (script.restriction)(&asked));
    script.received.lock().unwrap().push(received);
    if let Some(refusal) = refusal {
        return Reply::new(400, json!({"error": {"message": refusal}})).response();
    }
    let reply = script.replies.lock().unwrap().pop_front();
    let reply = reply.unwrap_or_else(|| Reply::new(501, "the script is at its end"));
    tokio::time::sleep(Duration::from_millis(reply.delay_ms)).await;
    reply.response()
}
