//! MCP: servers of every transport, every way of calling, and every way there is to misbehave.

mod authority;
mod calls;
mod clients;
mod consent;
mod hostile;
mod kept_lists;
mod listing;
mod offering;
mod real;
mod remote;
pub mod serving;
mod serving_hostile;
mod serving_masked;
mod sign_in;
mod starting;
mod told;

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::home::{Home, until};

/// A server that misbehaves as `mode` says; what it leaves behind is in `left/NAME`.
pub fn hostile(home: &Home, name: &str, mode: &str) -> Value {
    let place = format!("left/{name}");
    home.write(&format!("{place}/.here"), "");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/hostile.py");
    // Without the modules of the machine, which can take longer than the server.
    json!({ "command": "python3", "args": ["-S", script, mode, home.path().join(place)] })
}

/// Configures these servers, in a folder that is trusted.
pub fn configure(home: &Home, servers: &[(&str, Value)]) {
    home.trust_work();
    configure_only(home, servers);
}

/// Configures these servers.
pub fn configure_only(home: &Home, servers: &[(&str, Value)]) {
    let servers: serde_json::Map<String, Value> =
        servers.iter().map(|(name, server)| (name.to_string(), server.clone())).collect();
    home.write("config/mcp.json", json!({ "mcpServers": servers }).to_string());
}

/// The lines of a file that a server left behind.
pub fn left(home: &Home, name: &str, file: &str) -> Vec<String> {
    home.read(&format!("left/{name}/{file}")).lines().map(str::to_string).collect()
}

/// Nothing of what this server started is left running, looked at from outside.
pub fn no_orphans(home: &Home, name: &str) {
    let pids = left(home, name, "pids");
    assert!(!pids.is_empty(), "{name} was never started");
    for pid in pids {
        until(&format!("process {pid} of {name} ends"), || !is_running(&pid));
    }
}

pub fn is_running(pid: &str) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid).join("stat")).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

/// The result of `act`, which must take less than `limit` seconds.
pub fn within<T>(limit: u64, what: &str, act: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let done = act();
    let took = start.elapsed();
    assert!(took < Duration::from_secs(limit), "{what} took {took:?}");
    done
}

/// The texts of all files below a directory.
pub fn texts_below(dir: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => found.extend(texts_below(&path)),
            false => {
                let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap_or_default()).into_owned();
                found.push((path.display().to_string(), text));
            }
        }
    }
    found
}
