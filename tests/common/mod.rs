//! Shared parts of the end-to-end tests: a home of their own, scripted models, terminals, the paths in the code.

#[macro_use]
pub mod difference;

pub mod acp_client;
pub mod bots;
pub mod disk;
pub mod file_graph;
pub mod git_http;
pub mod home;
pub mod paths_in_code;
pub mod pty;
pub mod schemas;
pub mod screen;
pub mod scripted;
pub mod secrets;
pub mod skip;
pub mod ssh;
pub mod vectors;
