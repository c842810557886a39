//! Keys printed by a program (`api_key_command`): requested once per process, and never logged.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Mutex;

use crate::ApiKey;
use lepo_base::error::{Error, Result};
use lepo_base::secret::Secret;
use lepo_process::{ConfiguredProgram, StartFolder};

/// Keys that `api_key_command` programs have printed to this process.
static PRINTED: Mutex<Option<HashMap<Vec<String>, Secret>>> = Mutex::new(None);

/// Completes a key whose value comes from a program.
pub(super) fn resolve(key: ApiKey, state_dir: &Path) -> Result<ApiKey> {
    let Some((program, arguments)) = key.command.split_first().filter(|_| key.value.is_none()) else {
        return Ok(key);
    };
    let mut printed = PRINTED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let printed = printed.get_or_insert_default();
    if let Some(secret) = printed.get(&key.command) {
        return Ok(ApiKey { value: Some(secret.clone()), ..key });
    }
    let failed = |why: &str| {
        Error::usage(format!("{program} gave no key: {why}")).hint(format!("see {}", key.looked_for))
    };
    // The program may ask on the terminal (a passphrase), directly or through stderr. A file of a repository,
    // trusted or not, is useless to it.
    let start = StartFolder::empty(state_dir);
    let work_dir = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    let prepared = ConfiguredProgram::new(program.as_ref(), &work_dir, &start).args(arguments).command();
    let (mut command, _folder) =
        prepared.map_err(|error| failed("it could not be started").because(error))?;
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| failed("it could not be started").because(error))?;
    if !output.status.success() {
        return Err(failed(&format!("it failed with {}", output.status)));
    }
    let text = String::from_utf8(output.stdout).map_err(|_| failed("its output is not UTF-8"))?;
    let line = text.lines().next().unwrap_or_default().trim();
    if line.is_empty() {
        return Err(failed("it printed nothing"));
    }
    let secret = Secret::new(line);
    printed.insert(key.command.clone(), secret.clone());
    Ok(ApiKey { value: Some(secret), ..key })
}
