//! A file of MCP servers: read, or an error in words; never a panic.
#![no_main]

use std::path::Path;

use lepo_tool::mcp::config::parse as parse_servers;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match parse_servers(Path::new("mcp.json"), bytes) {
        Ok(servers) => assert!(servers.iter().all(|server| !server.name.is_empty())),
        Err(error) => assert!(!error.chain().is_empty()),
    }
});
