//! Errors, times, the environment and the system, for every other crate of lepo; all of it synchronous and small.
//!
//! | module | holds |
//! |---|---|
//! | [`error`] | errors with hints, exit codes |
//! | [`hint`] | hints: words and commands, which each front words for itself |
//! | [`when`] | moments as people write and read them |
//! | [`env`](mod@env) | the environment of the process, read only here |
//! | [`tool_name`] | names of tools as models write them |
//! | [`sys`] | what differs between Linux and macOS |
//! | [`secret`] | texts that are never printed |
//! | [`hash`] | SHA-256 as text |
//! | [`media`] | kinds of files, told by their first bytes |
//! | [`record`] | records of consent: files of hashes that are only added to |
//! | [`loose_json`] | what is nearly JSON, made JSON |
//! | [`read_ahead`] | the same work for many items on several threads, in their order |
//! | [`word`] | values that are one word out of a few |
//! | [`repository`] | the roots of repositories and stores |
//! | [`search_path`] | where programs are looked for: `PATH` without what a repository can fill |
//! | [`work_folder`] | the folder that a yes to running programs is about, by its identity |
//! | [`tracked`] | whether git tracks a file |
//! | [`work_tree`] | the git work tree of a folder, and whether git would take it |
//!
//! Published for lepo's own crates, without a promise: it changes at any time.

pub mod env;
pub mod error;
pub mod hash;
pub mod hint;
pub mod loose_json;
pub mod media;
pub mod nearest;
pub mod read_ahead;
pub mod record;
pub mod repository;
pub mod search_path;
pub mod secret;
pub mod sys;
pub mod tool_name;
pub mod tracked;
pub mod when;
pub mod word;
pub mod work_folder;
pub mod work_tree;
