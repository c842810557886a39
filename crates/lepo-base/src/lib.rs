//! Errors, times, the environment and the system, for every other crate of lepo; all synchronous and small.
//!
//! | module | contents |
//! |---|---|
//! | [`error`] | errors with hints, exit codes |
//! | [`formula`], [`line_form`] | formulas and the forms of lines in Markdown |
//! | [`formula_sense`] | whether text between the delimiters of a formula is one |
//! | [`hint`] | hints: text and commands, formatted for each frontend |
//! | [`time`] | times as users type and read them |
//! | [`env`](mod@env) | the environment of the process, read only here |
//! | [`tool_name`] | names of tools as models write them |
//! | [`sys`] | differences between Linux and macOS |
//! | [`secret`] | texts that are never printed |
//! | [`hash`] | SHA-256 as text |
//! | [`media`] | file types, recognised by the first bytes |
//! | [`hash_file`] | records of consent: append-only files of hashes |
//! | [`loose_json`] | repairs text that is nearly JSON |
//! | [`read_ahead`] | processes many items on several threads, in order |
//! | [`keyword`] | values written as a keyword |
//! | [`repository`] | the roots of repositories and stores |
//! | [`role`] | the author of a message |
//! | [`search_path`] | where programs are found: `PATH` without directories that a repository can fill |
//! | [`work_folder`] | the folder for which the user allowed programs to run, by its identity |
//! | [`tracked`] | whether git tracks a file |
//! | [`well_formed`] | replaces invalid characters in JSON |
//! | [`worktree`] | the git worktree of a folder, and whether git would use it |
//!
//! Published for lepo's own crates, without a promise of stability.

pub mod closest_name;
pub mod env;
pub mod error;
pub mod formula;
pub mod formula_sense;
pub mod hash;
pub mod hash_file;
pub mod hint;
pub mod keyword;
pub mod line_form;
pub mod loose_json;
pub mod media;
pub mod read_ahead;
pub mod repository;
pub mod role;
pub mod search_path;
pub mod secret;
pub mod sys;
pub mod time;
pub mod tool_name;
pub mod tracked;
pub mod well_formed;
pub mod work_folder;
pub mod worktree;
