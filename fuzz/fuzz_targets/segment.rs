//! A segment of the search's text cache, its checksum made right: all that it says can be read, or it is absent.
#![no_main]

use lepo::testing::search::read_forged;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    read_forged(bytes.to_vec());
});
