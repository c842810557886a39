//! Measures the masking of an answer while it arrives: a text in pieces of several lengths, each released at once if
//! possible. `cargo run --release -p lepo-secrets --example stream -- FILE`

use std::io::Write;
use std::time::Instant;

use lepo_secrets::{Masker, Spool, Treatment};

fn main() {
    let mut out = std::io::stdout();
    for path in std::env::args_os().skip(1) {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let letters: Vec<char> = text.chars().collect();
        for length in [4, 20, 1000, 16_000] {
            let pieces: Vec<String> = letters.chunks(length).map(|piece| piece.iter().collect()).collect();
            for treatment in [Treatment::Mask, Treatment::Leave] {
                let mut spool = Spool::new(&Masker::for_imports(), treatment);
                let (mut written, start) = (0, Instant::now());
                for piece in &pieces {
                    spool.push(piece);
                    if spool.ready() >= 32 << 10 {
                        written += spool.write(|kept| kept.bytes().len());
                    }
                }
                spool.finish();
                written += spool.write(|kept| kept.bytes().len());
                let took = start.elapsed().as_secs_f64();
                let each = took * 1e9 / pieces.len().max(1) as f64;
                let rate = text.len() as f64 / 1e6 / took.max(1e-9);
                let _ = writeln!(
                    out,
                    "{treatment:?}, {} pieces of {length}: {each:.0} ns each, {rate:.0} MB/s, {written} bytes written",
                    pieces.len()
                );
            }
        }
    }
}
