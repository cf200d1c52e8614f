//! `retort run` over files as they lie in folders: packed, many, and cut off.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use wait4::Wait4;

use super::project::{EVENTS, Project};
use super::threads::{POLICY, RUN, mixed_events, written};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

/// A frame of zstd that holds nothing of the data.
const SKIPPABLE: &[u8] = b"\x5a\x2a\x4d\x18\x05\x00\x00\x00aside";

/// A project whose events of more than 2,000 bytes are too long.
fn project() -> Project {
    let project = Project::new();
    project.compile();
    project.write("policy.yaml", POLICY);
    project
}

#[test]
fn what_is_packed_gives_what_it_gives_unpacked() {
    let project = project();
    let events = mixed_events(3_000);
    project.write("plain", &events);
    let run = |input: &str, threads: &str| {
        let ended = project.retort(RUN.into_iter().chain(["--threads", threads, input]));
        assert_eq!(ended.code, 1, "{input}: {ended:?}");
        written(&project)
    };
    let expected = run("plain", "1");
    // The parts end in the middle of lines.
    let parts: Vec<&[u8]> = events.chunks(events.len() / 5 + 7).collect();
    let members: Vec<u8> = parts.iter().flat_map(|part| gzip(part)).collect();
    let frames: Vec<u8> =
        parts.iter().flat_map(|part| [zstd(part), SKIPPABLE.to_vec()].concat()).collect();
    for (name, packed) in [
        ("one.gz", gzip(&events)),
        ("members.gz", members),
        ("named_otherwise", gzip(&events)),
        ("one.zst", zstd(&events)),
        ("frames.zst", [SKIPPABLE.to_vec(), frames].concat()),
        ("zst_named.gz", zstd(&events)),
    ] {
        project.write(name, &packed);
        for threads in ["1", "3"] {
            assert!(run(name, threads) == expected, "{name} on {threads} threads");
        }
        let ended = project.retort_on(RUN.into_iter().chain(["-"]), &packed);
        assert_eq!(ended.code, 1, "{name} on stdin: {ended:?}");
        assert!(written(&project) == expected, "{name} on stdin");
    }
}

#[test]
fn a_name_that_says_otherwise_is_remarked() {
    let project = project();
    project.write("text.gz", EVENTS);
    project.write("empty.zst", "");
    project.write("packed.zst", gzip(EVENTS.as_bytes()));
    let note = |name: &str| {
        let ended = project.retort(["run", "--bundles", "out", name]);
        assert_eq!(ended.code, 0, "{ended:?}");
        let is_note = ended.stderr.starts_with("note: ");
        (
            ended.stdout.lines().count(),
            is_note.then(|| ended.stderr.lines().next().unwrap().to_owned()),
        )
    };
    let expected = "note: text.gz: it is called gzip, and what it holds isn't: it is read as text";
    assert_eq!(note("text.gz"), (2, Some(expected.to_owned())));
    let expected =
        "note: packed.zst: it is called zstd, and what it holds isn't: it is read as gzip";
    assert_eq!(note("packed.zst"), (2, Some(expected.to_owned())));
    assert_eq!(note("empty.zst"), (0, None));
}

#[test]
fn what_is_cut_off_or_corrupt_is_told_after_all_lines_before_it() {
    let project = project();
    let events = mixed_events(3_000);
    project.write("plain", &events);
    assert_eq!(project.retort(RUN.into_iter().chain(["plain"])).code, 1);
    let whole = written(&project);
    let altered = |mut packed: Vec<u8>, at: usize| {
        packed[at] ^= 0x55;
        packed
    };
    let (gz, zst) = (gzip(&events), zstd(&events));
    // A frame that asks for two gigabytes to refer back to.
    let wide = [zst.clone(), b"\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00".to_vec()].concat();
    let (in_sum, after) = (gz.len() - 6, [gz.clone(), b"more".to_vec()].concat());
    for (name, packed, told, is_whole) in [
        ("cut.gz", gz[..gz.len() / 2].to_vec(), "the gzip data ends in the middle", false),
        ("cut_in_the_sum.gz", gz[..in_sum].to_vec(), "the gzip data ends in the middle", true),
        ("sum.gz", altered(gz.clone(), in_sum), "the gzip data is corrupt: ", true),
        ("after.gz", after, "the gzip data ", true),
        ("cut.zst", zst[..zst.len() / 2].to_vec(), "the zstd data ends in the middle", false),
        (
            "cut_in_the_sum.zst",
            zst[..zst.len() - 1].to_vec(),
            "the zstd data ends in the middle",
            true,
        ),
        (
            "sum.zst",
            altered(zst.clone(), zst.len() - 2),
            "the zstd data is corrupt: its checksum",
            true,
        ),
        ("wide.zst", wide, "the zstd data is corrupt: ", true),
        ("after.zst", [zst.clone(), b"more".to_vec()].concat(), "the zstd data ", true),
    ] {
        project.write(name, &packed);
        for threads in ["1", "3"] {
            let ended = project.retort(RUN.into_iter().chain(["--threads", threads, name]));
            assert_eq!(ended.code, 2, "{name}: {ended:?}");
            let line = ended.stderr.lines().last().unwrap();
            let head =
                format!("error[stream_unreadable]: {name}: the events can't be read after line ");
            assert!(line.starts_with(&head) && line.contains(told), "{line}");
            let found = written(&project);
            for (found, whole) in [(&found.0, &whole.0), (&found.1, &whole.1)] {
                assert!(whole.starts_with(found), "{name} gives what it doesn't hold");
                assert!(found.len() > whole.len() / 4, "{name} gives {} bytes", found.len());
                // The last line of the events has no end, so that nobody knows whether it is whole.
                assert!(!is_whole || found.len() + 600 > whole.len(), "{name} loses lines");
            }
            assert!(ended.stderr.contains(" events: "), "{}", ended.stderr);
        }
    }
    // What comes before it is done, and what comes after it isn't begun.
    let ended = project.retort(RUN.into_iter().chain(["plain", "cut.gz", "plain"]));
    assert_eq!(ended.code, 2, "{ended:?}");
    let found = String::from_utf8(written(&project).0).unwrap();
    let last = found.lines().last().unwrap();
    assert!(last.starts_with("{\"file\":\"cut.gz\","), "{last}");
}

#[test]
fn what_is_packed_small_and_is_large_takes_no_memory() {
    let project = project();
    let member = gzip(&vec![b'x'; 1 << 20]);
    let line = gzip(b"\n{\"event_type\":\"order_placed\",\"content\":{\"id\":\"1\"}}\n");
    let bomb = [member.repeat(48), line.clone(), member.repeat(20)].concat();
    assert!(bomb.len() < 500_000);
    project.write("bomb.gz", bomb);
    let frame = zstd(&vec![b'x'; 1 << 20]);
    let line = zstd(b"\n{\"event_type\":\"order_placed\",\"content\":{\"id\":\"1\"}}\n");
    project.write("bomb.zst", [frame.repeat(48), line, frame.repeat(20)].concat());
    project.write("small", "\n");
    let mut peaks = Vec::new();
    for name in ["small", "bomb.gz", "bomb.zst"] {
        let child = Command::new(env!("CARGO_BIN_EXE_retort"))
            .args(RUN.into_iter().chain([name]))
            .current_dir(project.path(""))
            .stderr(Stdio::null())
            .spawn();
        let ended = child.unwrap().wait4().unwrap();
        assert_eq!(ended.status.code(), Some(i32::from(name != "small")));
        peaks.push(ended.rusage.maxrss);
        if name != "small" {
            let (out, rejects) = written(&project);
            assert_eq!(out.iter().filter(|byte| **byte == b'\n').count(), 1);
            let rejects = String::from_utf8(rejects).unwrap();
            let told: Vec<bool> = [50_331_648, 20_971_520]
                .iter()
                .zip(rejects.lines())
                .map(|(bytes, line)| line.contains(&format!("the event has {bytes} bytes")))
                .collect();
            assert_eq!(told, [true, true], "{rejects}");
        }
    }
    assert!(peaks[1..].iter().all(|peak| *peak < peaks[0] + 20_000_000), "{peaks:?}");
}

#[test]
fn a_pattern_stands_for_the_files_that_fit_it() {
    let project = project();
    fs::create_dir_all(project.path("logs/deep")).unwrap();
    for name in ["b.ndjson", "a.ndjson", "c.txt", ".hidden.ndjson", "deep/d.ndjson", "x[1].ndjson"]
    {
        project.write(&format!("logs/{name}"), EVENTS);
    }
    fs::create_dir(project.path("logs/folder.ndjson")).unwrap();
    let files = |patterns: &[&str]| {
        let ended = project.retort(["run", "--bundles", "out"].iter().chain(patterns).copied());
        assert_eq!(ended.code, 0, "{patterns:?}: {ended:?}");
        let mut names = Vec::new();
        for line in ended.stdout.lines() {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            names.push(line["file"].as_str().unwrap_or("unnamed").to_owned());
        }
        names.dedup();
        names
    };
    assert_eq!(files(&["logs/[ab].ndjson"]), ["logs/a.ndjson", "logs/b.ndjson"]);
    assert_eq!(files(&["logs/*.ndjson"]), ["logs/a.ndjson", "logs/b.ndjson", "logs/x[1].ndjson"]);
    assert_eq!(
        files(&["logs/**/?.ndjson"]),
        ["logs/a.ndjson", "logs/b.ndjson", "logs/deep/d.ndjson"]
    );
    // What is there by this name is no pattern, and one file needs no name.
    assert_eq!(files(&["logs/x[1].ndjson"]), ["unnamed"]);
    assert_eq!(files(&["logs/*.txt"]), ["unnamed"]);
    assert_eq!(files(&["logs/*.txt", "logs/a.ndjson"]), ["logs/c.txt", "logs/a.ndjson"]);
    for pattern in ["logs/*.nothing", "logs/[", "nowhere/*"] {
        let ended = project.retort(["run", "--bundles", "out", pattern]);
        assert_eq!(ended.code, 2, "{ended:?}");
        let told = format!(
            "error[file_not_found]: {pattern}: expected files of events that fit the pattern"
        );
        assert!(ended.stderr.starts_with(&told), "{ended:?}");
    }
    // What a pattern finds is read, and so isn't written.
    let ended = project.retort(["run", "--bundles", "out", "logs/*", "--out", "logs/a.ndjson"]);
    assert!(ended.stderr.contains("output_is_input"), "{ended:?}");
    assert_eq!(fs::read_to_string(project.path("logs/a.ndjson")).unwrap(), EVENTS);
}
