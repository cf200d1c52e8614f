//! Cases that are the bytes of a result: a guest gives them back for the bad event.

use std::fmt::Write as _;

use super::Case;
use super::attempt::CaseAttempt;
use super::expand::unescaped;
use super::guest;
use super::setting::Setting;

/// Where the bytes lie in the guest's memory.
const ADDRESS: usize = 4096;

/// Bytes of a page of memory.
const PAGE: usize = 64 << 10;

pub(super) fn attempt(setting: &Setting, case: &Case) -> Result<CaseAttempt, CaseAttempt> {
    let bytes = unescaped(&case.body()?);
    guest::from_bytes(setting, case, &Setting::compiled(&giving_back(&bytes))?)
}

/// The text of a guest that gives these bytes back for the bad event, and an empty result for the good one.
fn giving_back(bytes: &[u8]) -> String {
    let mut data = String::with_capacity(3 * bytes.len());
    for byte in bytes {
        // Writing to a string can't fail.
        let _ = write!(data, "\\{byte:02x}");
    }
    let pages = (ADDRESS + bytes.len()).div_ceil(PAGE);
    let packed = (ADDRESS as u64) << 32 | bytes.len() as u64;
    format!(
        r#"(module
  (memory (export "memory") {pages} {pages})
  (func (export "retort_buffer") (param i32) (result i32) (i32.const 1024))
  (func (export "extract") (param $block i32) (param $size i32) (result i64)
    ;; Slot 0 has the text `true` in a bad event and `false` in a good one.
    (select (i64.const {packed}) (i64.const 0x0000_0010_0000_0053)
      (i32.eq (i32.load offset=16 (local.get $block)) (i32.const 4))))
  (data (i32.const 16) "{{\"nodes\":[],\"edges\":[],\"fully_handled_span_ids\":[],\"partially_handled_span_ids\":[]}}")
  (data (i32.const {ADDRESS}) "{data}")
  (@custom "retort" "{{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[{{\"path\":[\"bad\"],\"as\":\"truthy\"}}]}}")
)"#
    )
}
