//! The user's home directories: `HOME`, which may have any value, and the system's.

use std::path::{Path, PathBuf};

use lepo_base::env;

/// Returns the home directories, with links resolved.
pub fn homes() -> Vec<PathBuf> {
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let of_system = home_of(&users, rustix::process::getuid().as_raw());
    let all = [env::var("HOME").map(PathBuf::from), of_system].into_iter().flatten();
    let mut homes: Vec<PathBuf> = all.filter_map(|home| home.canonicalize().ok()).collect();
    homes.retain(|home| home.is_dir() && home.parent().is_some());
    homes.dedup();
    homes
}

/// Whether a directory is a home or contains one: commands there could read all of the user's files.
pub fn covers_home(dir: &Path) -> bool {
    let Ok(dir) = dir.canonicalize() else { return false };
    homes().iter().any(|home| home.starts_with(&dir))
}

/// Returns the home directory of a user, from the text of `/etc/passwd`. System directories, which it assigns to
/// services, do not count.
fn home_of(users: &str, user: u32) -> Option<PathBuf> {
    let mut lines = users.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let line = lines.find(|line| line.get(2).is_some_and(|id| id.parse() == Ok(user)))?;
    let home = PathBuf::from(line.get(5)?);
    let system = ["/usr", "/bin", "/sbin", "/lib", "/etc", "/dev", "/proc", "/sys"];
    (home.is_absolute() && !system.iter().any(|dir| home.starts_with(dir))).then_some(home)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_is_the_users_and_none_of_the_system() {
        let users =
            "root:x:0:0:root:/root:/bin/sh\ndaemon:x:1:1::/usr/sbin:/x\nu:x:1000:1000:U:/home/u:/bin/sh\n";
        for (user, home) in [(0, Some("/root")), (1, None), (1000, Some("/home/u")), (7, None)] {
            assert_eq!(home_of(users, user), home.map(PathBuf::from), "{user}");
        }
    }
}
