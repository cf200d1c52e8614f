//! An extractor in Rust that reads reference data from a granted directory, and tries to write there.

#[used]
#[unsafe(link_section = "retort")]
static SECTION: [u8; 62] = *br#"{"abi":1,"function":"extract","event_types":["e"],"inputs":[]}"#;

#[unsafe(no_mangle)]
extern "C" fn retort_buffer(length: usize) -> *mut u8 {
    vec![0_u8; length].leak().as_mut_ptr()
}

#[unsafe(no_mangle)]
extern "C" fn extract(_block: *const u8, _length: usize) -> u64 {
    let answer = answer().into_bytes().leak();
    (answer.as_ptr() as u64) << 32 | answer.len() as u64
}

fn answer() -> String {
    let mut names: Vec<String> = std::fs::read_dir("/data")
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let countries = std::fs::read_to_string("/data/countries.txt").unwrap();
    let size = std::fs::metadata("/data/countries.txt").unwrap().len();
    let refused: Vec<String> = [
        std::fs::write("/data/new.txt", "").err(),
        std::fs::OpenOptions::new().append(true).open("/data/countries.txt").err(),
        std::fs::read("/data/../../etc/passwd").err(),
    ]
    .into_iter()
    .map(|error| format!("{:?}", error.unwrap().kind()))
    .collect();
    assert!(std::fs::read("/etc/passwd").is_err());
    let said = format!("{names:?} {size} {} {refused:?}", countries.trim_end()).replace('"', "'");
    format!(
        r#"{{"nodes":[],"edges":[],"fully_handled_span_ids":["{said}"],"partially_handled_span_ids":[]}}"#
    )
}
