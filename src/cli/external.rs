//! Runs programs named `lepo-NAME` as subcommands.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;

use super::tasks;
use crate::commands;
use lepo_base::error::{Error, quoted};

/// Executes `lepo-NAME`, unless a store was named for it; returns only if that fails.
pub fn external(words: &[OsString], has_save_to: bool) -> Error {
    let name = words.first().map(|name| name.to_string_lossy()).unwrap_or_default();
    let program = format!("lepo-{name}");
    // Searched in PATH by lepo: the system would resolve a name with a slash, and a relative entry of PATH,
    // below the working directory.
    let path = commands::suggest::in_path(&program);
    if path.is_some() && has_save_to {
        return Error::usage(format!("the program {program} does not accept --save-to"));
    }
    let found = path
        .map(|path| lepo_base::search_path::command(path).arg0(&program).args(words.iter().skip(1)).exec());
    match found {
        // The script exists but its interpreter does not.
        Some(why) if why.kind() == std::io::ErrorKind::NotFound => {
            Error::usage(format!("cannot run {program}: its interpreter is missing"))
        }
        None => {
            let error = Error::usage(format!("unknown command {name:?}, and no program {program} in PATH"));
            let words: Vec<_> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
            match commands::suggest::closest_name(&name, tasks::names().into_iter()) {
                Some(meant) => error.hint(commands::suggest::or_question(
                    &format!("did you mean `lepo {meant}`?"),
                    &words,
                    true,
                )),
                None => error.hint(format!(
                    "`lepo --help` lists the commands; to ask a model: lepo do {}",
                    quoted(&commands::suggest::question(&words))
                )),
            }
        }
        Some(why) => Error::usage(format!("cannot run {program}")).because(why),
    }
}
