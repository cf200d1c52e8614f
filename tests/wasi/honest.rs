//! An extractor in Rust that does nothing special: it fills a map, prints to both streams, and panics where an event asks
//! for it.

use std::collections::HashMap;

#[used]
#[unsafe(link_section = "retort")]
static SECTION: [u8; 87] =
    *br#"{"abi":1,"function":"extract","event_types":["order"],"inputs":[{"path":["customer"]}]}"#;

#[unsafe(no_mangle)]
extern "C" fn retort_buffer(length: usize) -> *mut u8 {
    vec![0_u8; length].leak().as_mut_ptr()
}

#[unsafe(no_mangle)]
extern "C" fn extract(block: *const u8, length: usize) -> u64 {
    // SAFETY: the host passes the address and the length of a block that it has written into memory of this guest.
    let block = unsafe { std::slice::from_raw_parts(block, length) };
    let answer = answer(block).into_bytes().leak();
    (answer.as_ptr() as u64) << 32 | answer.len() as u64
}

/// One node, named after the customer, with how often each letter occurs in the name.
fn answer(block: &[u8]) -> String {
    let field = |at: usize| u32::from_le_bytes(block[at..at + 4].try_into().unwrap()) as usize;
    let customer = std::str::from_utf8(&block[field(12)..field(12) + field(16)]).unwrap();
    println!("a customer: {customer}");
    assert_ne!(customer, "\"nobody\"", "an order of nobody");
    let mut letters: HashMap<char, u32> = HashMap::new();
    for letter in customer.trim_matches('"').chars() {
        *letters.entry(letter).or_default() += 1;
    }
    eprintln!("{} letters", letters.len());
    // The order of the map as it is: it is the same for every event, because the seed of its hashes is.
    let properties: Vec<String> = letters
        .iter()
        .map(|(letter, times)| format!(r#"{{"name":"{letter}","value":{times}}}"#))
        .collect();
    format!(
        r#"{{"nodes":[{{"node_id":{customer},"entity_name":"Customer","labels":[],"properties":[{}]}}],"edges":[],"fully_handled_span_ids":[],"partially_handled_span_ids":[]}}"#,
        properties.join(",")
    )
}
