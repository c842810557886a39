//! A segment of the search's text cache, its checksum made right: all that it says can be read, or it is absent;
//! and it is the same in blocks of any size.
#![no_main]

use lepo::testing::search::read_forged;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let whole = read_forged(bytes, usize::MAX);
    assert_eq!(read_forged(bytes, 1), whole);
    assert_eq!(read_forged(bytes, 40), whole);
});
