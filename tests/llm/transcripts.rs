//! Transcripts: what is recorded, and what is answered from one.

use std::fs;
use std::path::Path;

use async_trait::async_trait;
use retort::Coded;
use retort::author::llm::{
    ClientConfig, Completion, FinishReason, LlmClient, LlmError, LlmRequest, ModelSpec, Recorder,
    Replay, Secrets, connect,
};
use serde_json::json;

use super::server::{Reply, Server};
use super::{KEY, config, conversation, prompt};

/// Three calls, of which the second fails, recorded.
async fn record(file: &Path) {
    let server = Server::start([
        Reply::chat("{\"event_type\":\n \"é\"}", "stop"),
        Reply::new(500, json!({"error": {"message": "out of memory"}})),
        Reply::chat("{\"event_", "length"),
    ])
    .await;
    let client = super::connect("openai", &config(server.url()));
    let recorder = Recorder::create(client, file, Secrets::default()).unwrap();
    assert_eq!(recorder.name(), "openai:m");
    recorder.generate_json(prompt()).await.unwrap();
    assert_eq!(fs::read_to_string(file).unwrap().lines().count(), 1, "a call is there at once");
    recorder.generate_json(conversation()).await.unwrap_err();
    recorder.generate_json(prompt()).await.unwrap();
}

#[tokio::test]
async fn the_same_calls_give_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let (first, second) = (dir.path().join("1"), dir.path().join("2"));
    record(&first).await;
    fs::write(&second, "what was there before\n").unwrap();
    record(&second).await;
    let text = fs::read_to_string(&first).unwrap();
    insta::assert_snapshot!(text);
    assert_eq!(text, fs::read_to_string(&second).unwrap());
}

#[tokio::test]
async fn what_was_recorded_is_answered_in_its_order() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("transcript.ndjson");
    record(&file).await;
    let spec: ModelSpec = format!("replay:{}", file.display()).parse().unwrap();
    let client = connect(&spec, &ClientConfig::default()).unwrap().unwrap();
    // Of a client that is recorded in its turn, the transcript says the same.
    let again = dir.path().join("again.ndjson");
    let client = Recorder::create(client, &again, Secrets::default()).unwrap();
    let first = client.generate_json(prompt()).await.unwrap();
    assert_eq!(first.text, "{\"event_type\":\n \"é\"}");
    assert_eq!(first.usage.map(|usage| (usage.input_tokens, usage.output_tokens)), Some((100, 20)));
    let second = client.generate_json(conversation()).await.unwrap_err();
    assert_eq!(second.to_string(), "openai:m answered with HTTP 500: out of memory");
    client.generate_json(prompt()).await.unwrap();
    let named = fs::read_to_string(&file).unwrap();
    let name = format!(r#"{{"model":"replay:{}","request""#, file.display());
    let named = named.replace(r#"{"model":"openai:m","request""#, &name);
    assert_eq!(fs::read_to_string(&again).unwrap(), named);

    let error = client.generate_json(prompt()).await.unwrap_err();
    assert_eq!(error.code(), "model_replay_failed");
    let expected = "expected an answer to request 4, found 3 in the transcript";
    assert_eq!(error.to_string(), format!("replay:{}: {expected}", file.display()));
}

#[tokio::test]
async fn a_transcript_may_be_written_by_hand() {
    let text = "\n{\"text\": \"{}\", \"usage\": {\"input_tokens\": 1, \"output_tokens\": 2}}\n\n{\"text\": \"\"}";
    let replay = Replay::parse(text, "by hand").unwrap();
    assert_eq!((replay.name(), replay.len(), replay.is_empty()), ("replay:by hand", 2, false));
    let first = replay.generate_json(prompt()).await.unwrap();
    assert_eq!(
        (first.text.as_str(), first.usage.map(|usage| usage.output_tokens)),
        ("{}", Some(2))
    );
    assert_eq!(replay.generate_json(prompt()).await.unwrap().usage, None);
}

#[test]
fn a_files_name_cannot_reach_the_terminal() {
    let replay = Replay::parse("", "a\u{1b}[2J\n\u{202e}").unwrap();
    assert_eq!(replay.name(), r"replay:a\u{1b}[2J\n\u{202e}");
    let error = Replay::open(Path::new("none\u{1b}[2J")).unwrap_err().to_string();
    assert!(error.starts_with(r"replay:none\u{1b}[2J: "), "{error}");
}

#[test]
fn what_is_no_transcript_is_refused_where_it_fails() {
    let dir = tempfile::tempdir().unwrap();
    for (bytes, says) in [
        (
            &b"{\"text\": \"a\"}\n\n{\"txt\": \"b\"}\n"[..],
            "line 3: expected a recorded call: txt: unknown field `txt`, expected one of",
        ),
        (
            b"{\"response\": {\"text\": 1}}",
            "line 1: expected a recorded call: response.text: invalid type",
        ),
        (
            b"{\"model\": \"m\"}",
            "line 1: expected a recorded call: expected one of `response`, `error` and `text`",
        ),
        (b"{\"text\": \"a\"", "line 1: expected a recorded call: "),
        (b"\xff", "valid UTF-8"),
    ] {
        let file = dir.path().join("transcript");
        fs::write(&file, bytes).unwrap();
        let error = Replay::open(&file).unwrap_err();
        assert_eq!(error.code(), "model_replay_failed");
        let message = error.to_string();
        assert!(message.starts_with(&format!("replay:{}: ", file.display())), "{message}");
        assert!(message.contains(says), "{message}");
    }
    let error = Replay::open(&dir.path().join("none")).unwrap_err().to_string();
    assert!(error.contains("No such file"), "{error}");
}

#[test]
fn an_answer_that_no_client_would_take_is_not_replayed() {
    let allowed = retort::author::llm::ClientConfig::default().max_response_bytes;
    for fields in ["", "\"finish_reason\": \"length\", "] {
        let line = |bytes: usize| format!("{{{fields}\"text\": \"{}\"}}\n", "x".repeat(bytes));
        assert_eq!(Replay::parse(&line(allowed), "by hand").unwrap().len(), 1);
        let text = line(1) + &line(allowed + 1);
        let error = Replay::parse(&text, "by hand").unwrap_err();
        assert_eq!(error.code(), "model_replay_failed");
        let says = format!(
            "line 2: expected a recorded call: expected an answer of at most {allowed} bytes"
        );
        assert!(error.to_string().contains(&says), "{error}");
    }
}

/// A client that doesn't take keys out itself.
struct Leaky;

#[async_trait]
impl LlmClient for Leaky {
    fn name(&self) -> &str {
        "leaky"
    }

    async fn generate_json(&self, request: LlmRequest) -> Result<Completion, LlmError> {
        let text = request.messages[0].text.clone();
        Ok(Completion { finish_reason: FinishReason::Other(text.clone()), text, usage: None })
    }
}

#[tokio::test]
async fn no_part_of_a_call_is_written_with_a_key_in_it() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("transcript");
    let recorder = Recorder::create(Leaky, &file, Secrets::default().with(KEY.into())).unwrap();
    recorder.generate_json(LlmRequest::prompt(KEY, json!({}))).await.unwrap();
    let text = fs::read_to_string(&file).unwrap();
    assert!(!text.contains(KEY), "{text}");
    assert_eq!(text.matches("[redacted]").count(), 3, "{text}");
}

#[tokio::test]
async fn a_transcript_that_cannot_be_written_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let replay = || Replay::parse("{\"text\": \"{}\"}", "by hand").unwrap();
    let file = dir.path().join("no such directory/transcript");
    let error = Recorder::create(replay(), &file, Secrets::default()).unwrap_err();
    assert_eq!(error.code(), "model_record_failed");
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let recorder = Recorder::new(replay(), Box::new(full), Secrets::default());
    let error = recorder.generate_json(prompt()).await.unwrap_err();
    assert!(
        matches!(&error, LlmError::Record { message, .. } if message.contains("space")),
        "{error}"
    );
}
