//! Searches files and folders for secrets; prints each finding, then the speed. For `benches/secrets.py`, and to try
//! the table on other projects' sources: `cargo run --release -p lepo-secrets --example scan -- FOLDER…`

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use lepo_secrets::SecretFinder;

fn main() {
    let mut waiting: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let mut out = std::io::stdout();
    let finder = SecretFinder::shapes_only();
    finder.prepare();
    let (mut bytes, mut files, mut took) = (0usize, 0usize, Duration::ZERO);
    while let Some(path) = waiting.pop() {
        if path.is_symlink() {
            continue;
        }
        if let Ok(entries) = path.read_dir() {
            let skipped = [".git", "target"].map(Some);
            let entries = entries.flatten().map(|entry| entry.path());
            waiting.extend(
                entries.filter(|path| !skipped.contains(&path.file_name().and_then(|name| name.to_str()))),
            );
            continue;
        }
        let Ok(text) = std::fs::read(&path) else { continue };
        let start = Instant::now();
        let found = finder.find(&text);
        took += start.elapsed();
        bytes += text.len();
        files += 1;
        for secret in found {
            let line = text.iter().take(secret.span.start).filter(|byte| **byte == b'\n').count() + 1;
            let _ = writeln!(out, "{}:{line}: {}", path.display(), secret.kind);
        }
    }
    let rate = bytes as f64 / 1e6 / took.as_secs_f64().max(1e-9);
    let _ = writeln!(out, "{files} files, {bytes} bytes, {:.3} s, {rate:.0} MB/s", took.as_secs_f64());
}
