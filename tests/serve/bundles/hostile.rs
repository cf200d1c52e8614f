//! Uploads that are no bundles, made to harm.

use std::io::Write;
use std::path::Path;
use std::thread;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, EntryType, Header};

use super::Managed;
use super::archive::{files_of, header, tar_with};
use crate::serve::fixture::Service;
use crate::serve::tenants::bearer;

type Files = Vec<(String, Vec<u8>)>;

/// An archive with one more entry before all others, whose header is as it is.
fn with_entry(files: &Files, header: &Header, bytes: &[u8]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    builder.append(header, bytes).unwrap();
    let mut archive = builder.into_inner().unwrap();
    // Without its end.
    archive.truncate(archive.len() - 1024);
    archive.extend(tar_with(files, ""));
    archive
}

/// A header with a name that the crate refuses to write.
fn named(name: &str, size: usize, kind: EntryType) -> Header {
    let mut made = header(size, kind);
    let bytes = &mut made.as_old_mut().name;
    bytes.fill(0);
    bytes[..name.len()].copy_from_slice(name.as_bytes());
    made.set_cksum();
    made
}

fn linked(kind: EntryType, to: &str) -> Header {
    let mut made = named("rule.md", 0, kind);
    made.set_link_name_literal(to).unwrap();
    made.set_cksum();
    made
}

/// What is sent, with the code that it gives.
fn hostile(files: &Files) -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let entry = |name: &str, kind| with_entry(files, &named(name, 4, kind), b"evil");
    let changed = |change: &dyn Fn(&mut Files)| {
        let mut files = files.clone();
        change(&mut files);
        tar_with(&files, "")
    };
    let replaced = |name: &str, bytes: &[u8]| {
        changed(&|files| {
            let found = files.iter_mut().find(|it| it.0 == name).unwrap();
            found.1 = bytes.to_vec();
        })
    };
    let whole = tar_with(files, "");
    let module = &files.iter().find(|it| it.0 == "extractor.wasm").unwrap().1;
    let mut altered = module.clone();
    *altered.last_mut().unwrap() ^= 1;
    let manifest =
        String::from_utf8(files.iter().find(|it| it.0 == "manifest.json").unwrap().1.clone());
    let manifest = manifest.unwrap();
    let version_of = |manifest: &str| {
        let (_, rest) = manifest.split_once("\"fingerprint\": \"").unwrap();
        rest[..64].to_owned()
    };
    let mut huge = named("rule.md", 4, EntryType::Regular);
    huge.set_size(1 << 40);
    huge.set_cksum();
    let mut endless = header(8 << 30, EntryType::GNULongName);
    endless.set_cksum();
    vec![
        ("nothing", "upload_invalid", Vec::new()),
        ("no archive", "upload_invalid", b"{}".to_vec()),
        (
            "noise",
            "upload_invalid",
            (0..40_000_u32).map(|it| it.wrapping_mul(2_654_435_761).to_le_bytes()[3]).collect(),
        ),
        ("zeros", "upload_invalid", vec![0; 40_000]),
        ("out of the folder", "upload_invalid", entry("../evil", EntryType::Regular)),
        ("out of a folder", "upload_invalid", entry("a/../../evil", EntryType::Regular)),
        ("absolute", "upload_invalid", entry("/tmp/evil", EntryType::Regular)),
        (
            "a folder outside",
            "upload_invalid",
            with_entry(files, &named("../", 0, EntryType::Directory), b""),
        ),
        ("another folder", "upload_invalid", entry("sub/rule.md", EntryType::Regular)),
        ("not of a bundle", "upload_invalid", entry("evil.sh", EntryType::Regular)),
        ("a hidden file", "upload_invalid", entry(".active.json", EntryType::Regular)),
        ("a dot", "upload_invalid", entry(".", EntryType::Regular)),
        ("backslashes", "upload_invalid", entry("..\\evil", EntryType::Regular)),
        (
            "a symbolic link",
            "upload_invalid",
            with_entry(files, &linked(EntryType::Symlink, "/etc/passwd"), b""),
        ),
        (
            "a hard link",
            "upload_invalid",
            with_entry(files, &linked(EntryType::Link, "manifest.json"), b""),
        ),
        ("a device", "upload_invalid", entry("rule.md", EntryType::Char)),
        ("a pipe", "upload_invalid", entry("rule.md", EntryType::Fifo)),
        ("a sparse file", "upload_invalid", entry("rule.md", EntryType::GNUSparse)),
        ("a file twice", "upload_invalid", entry("manifest.json", EntryType::Regular)),
        ("a size that isn't there", "upload_invalid", with_entry(files, &huge, b"evil")),
        ("a name without end", "upload_invalid", with_entry(files, &endless, b"evil")),
        ("cut off in a file", "upload_invalid", whole[..2_000].to_vec()),
        ("many entries", "upload_invalid", {
            let mut builder = Builder::new(Vec::new());
            for number in 0..100_000 {
                let folder = format!("{number}/");
                builder.append(&named(&folder, 0, EntryType::Directory), &[][..]).unwrap();
            }
            builder.into_inner().unwrap()
        }),
        (
            "no manifest",
            "upload_invalid",
            changed(&|files| files.retain(|it| it.0 != "manifest.json")),
        ),
        (
            "no module",
            "module_not_found",
            changed(&|files| files.retain(|it| it.0 != "extractor.wasm")),
        ),
        (
            "a part less",
            "digest_mismatch",
            changed(&|files| files.retain(|it| it.0 != "plan.json")),
        ),
        (
            "a part more",
            "digest_mismatch",
            changed(&|files| files.push(("extractor.rs".to_owned(), b"fn".to_vec()))),
        ),
        ("another module", "digest_mismatch", replaced("extractor.wasm", &altered)),
        ("a large manifest", "bundle_too_large", replaced("manifest.json", &vec![b' '; 2 << 20])),
        ("large limits", "bundle_too_large", replaced("limits.json", &vec![b' '; 65 << 10])),
        ("no form of a manifest", "manifest_unreadable", replaced("manifest.json", b"{}")),
        (
            "a deep manifest",
            "manifest_unreadable",
            replaced("manifest.json", "[".repeat(100_000).as_bytes()),
        ),
        ("a module elsewhere", "manifest_unreadable", {
            replaced("manifest.json", manifest.replace("extractor.wasm", "../evil.wasm").as_bytes())
        }),
        ("a version elsewhere", "manifest_unreadable", {
            let manifest = manifest.replace(&version_of(&manifest), "../../evil");
            replaced("manifest.json", manifest.as_bytes())
        }),
        ("another version", "digest_mismatch", {
            let manifest = manifest.replace(&version_of(&manifest), &"0".repeat(64));
            replaced("manifest.json", manifest.as_bytes())
        }),
    ]
}

#[test]
fn an_archive_that_is_no_bundle_leaves_nothing() {
    let managed = Managed::with("upload_bytes = 100000000\n", "");
    assert_eq!((managed.upload(0).status, managed.activate(0).status), (201, 200));
    let before = managed.names();
    let tree = managed.project.tree();
    let files = files_of(Path::new(&managed.versions[1].path));
    for (what, code, archive) in hostile(&files) {
        let answer = managed.ask("POST", "bundles", &archive);
        let status = if code == "upload_invalid" { 400 } else { 422 };
        assert_eq!((answer.status, &*answer.code()), (status, code), "{what}: {answer:?}");
        assert!(answer.body.len() < 1_000, "{what}: {answer:?}");
        assert_eq!(managed.names(), before, "{what}");
        assert!(!answer.body.contains(&managed.project.path("")), "{what}: {answer:?}");
    }
    assert_eq!(managed.project.tree(), tree);
    assert_eq!(managed.served(), Some(managed.versions[0].version.clone()));
    // What is whole goes up all the same.
    assert_eq!(managed.upload(1).status, 201);
}

#[test]
fn a_body_is_read_within_its_limits() {
    let managed = Managed::with("upload_bytes = 100000\nupload_seconds = 2\n", "");
    let path = "/v1/tenants/acme/bundles";
    let zeros = vec![0; 64 << 20];
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(&zeros).unwrap();
    let packed = packed.finish().unwrap();
    let gzip = format!("{}Content-Encoding: gzip\r\n", bearer("acme"));
    let zstd = format!("{}Content-Encoding: zstd\r\n", bearer("acme"));
    for (headers, body, status, code) in [
        (bearer("acme"), &zeros[..200_000], 413, "request_too_large"),
        (gzip.clone(), &packed[..], 413, "request_too_large"),
        (gzip.clone(), &packed[..packed.len() / 800], 400, "request_cut_off"),
        (gzip, b"no gzip at all", 400, "request_corrupt"),
        (zstd, &packed[..1_000], 400, "request_corrupt"),
        (format!("{}Content-Encoding: br\r\n", bearer("acme")), b"", 415, "encoding_unknown"),
        (format!("{}Content-Encoding: \r\n", bearer("acme")), b"", 415, "encoding_unknown"),
    ] {
        let answer = managed.service.ask("POST", path, &headers, body);
        assert_eq!((answer.status, &*answer.code()), (status, code), "{headers}");
    }
    // Who sends slowly holds nobody up, and has so long.
    let mut slow = begin_upload(&managed.service);
    slow.chunk(&managed.versions[0].tar[..512]);
    let busy = super::super::eventually("a second one isn't refused", || {
        let answer = managed.upload(1);
        (answer.status == 429).then_some(answer)
    });
    assert!(busy.code() == "too_many_requests" && busy.head.contains("retry-after: 1"), "{busy:?}");
    assert_eq!(managed.ask("GET", "bundles", b"").status, 200);
    let cut = slow.answer();
    assert_eq!((cut.status, &*cut.code()), (408, "client_too_slow"));
    // One that is gone leaves the place to the next.
    drop(begin_upload(&managed.service));
    super::super::eventually("the place stays taken", || {
        (managed.upload(1).status < 300).then_some(())
    });
}

fn begin_upload(service: &Service) -> crate::serve::fixture::Client {
    let mut client = service.connect();
    let headers = format!("Transfer-Encoding: chunked\r\nConnection: close\r\n{}", bearer("acme"));
    client.begin("POST", "/v1/tenants/acme/bundles", &headers);
    thread::sleep(Duration::from_millis(20));
    client
}
