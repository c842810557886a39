//! All end-to-end tests, in one binary.

#![allow(clippy::unwrap_used, clippy::string_slice, reason = "a test that cannot go on has failed")]

#[path = "../common/mod.rs"]
mod common;

#[cfg(feature = "embedded")]
mod adding_models;
mod addresses;
mod aliases;
mod attach;
mod attached;
mod basics;
mod branches;
mod browsing;
mod checking;
mod completing;
mod completing_files;
mod consent;
mod contrib;
mod diff;
mod do_commands;
mod do_config;
mod do_events;
mod do_failures;
mod do_full_disk;
mod do_links;
mod do_logs;
mod do_options;
mod do_output;
mod do_question;
mod do_requests;
mod do_signals;
mod do_terminal;
mod docs;
mod editing;
#[cfg(feature = "embedded")]
mod embedded;
mod example_store;
mod examples;
mod export;
mod faults;
mod grep;
mod house;
mod import;
#[cfg(feature = "import-db")]
mod import_db;
mod import_logs;
mod import_reports;
mod listing;
mod llama;
mod manual;
mod many;
mod mcp;
mod merging;
mod native;
mod outward;
mod page;
mod planted;
mod prompts;
mod providers;
mod reading;
mod removing;
mod repl_commands;
mod repl_everyday;
mod repl_keys;
mod repl_markdown;
mod repl_turns;
mod sandbox;
mod schema;
mod searching;
mod settings;
mod shell;
mod show_journal;
mod shown;
mod stats;
mod sync;
mod sync_days;
mod sync_random;
mod sync_servers;
mod sync_together;
mod tidying;
mod trust;
mod watching;
mod wild;
mod wires;

use common::{bots, disk, git_http, home, paths_in_code, pty, screen, scripted, ssh};
