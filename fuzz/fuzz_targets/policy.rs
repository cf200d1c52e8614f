#![no_main]

libfuzzer_sys::fuzz_target!(init: retort_fuzz::write_seeds("policy"), |data: &[u8]| {
    retort_fuzz::run("policy", data);
});
