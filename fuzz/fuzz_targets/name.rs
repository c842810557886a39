//! A bubb's file name: what can be read is written the same, but for the case of ids.
#![no_main]

use lepo_store::bubb::BubbName;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some(name) = BubbName::parse(bytes) else { return };
    let written = name.to_string();
    assert!(written.as_bytes().eq_ignore_ascii_case(bytes));
    assert_eq!(BubbName::parse(written.as_bytes()), Some(name));
    assert_eq!(BubbName::is_canonical(bytes), written.as_bytes() == bytes);
});
