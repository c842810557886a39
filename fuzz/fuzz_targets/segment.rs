//! A segment of the search's text cache, its checksums made right: all that it says can be read, or it is absent;
//! and with any filters, what is read of it is the same.
#![no_main]

use lepo_search::read_forged;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    read_forged(bytes);
});
