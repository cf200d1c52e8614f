#![no_main]

libfuzzer_sys::fuzz_target!(init: retort_fuzz::write_seeds("bundle"), |data: &[u8]| {
    retort_fuzz::run("bundle", data);
});
