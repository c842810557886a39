//! The user's home directories: that of `HOME`, which may be set to anything, and that of the system.

use std::path::{Path, PathBuf};

use lepo_base::env;

/// Each without links.
pub fn homes() -> Vec<PathBuf> {
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let of_system = home_of(&users, rustix::process::getuid().as_raw());
    let all = [env::var("HOME").map(PathBuf::from), of_system].into_iter().flatten();
    let mut homes: Vec<PathBuf> = all.filter_map(|home| home.canonicalize().ok()).collect();
    homes.retain(|home| home.is_dir() && home.parent().is_some());
    homes.dedup();
    homes
}

/// True if a directory is a home or has one below it: commands there could see all that is the user's.
pub fn covers_home(dir: &Path) -> bool {
    let Ok(dir) = dir.canonicalize() else { return false };
    homes().iter().any(|home| home.starts_with(&dir))
}

/// The home directory that the text of `/etc/passwd` gives a user; the directories of the system that it
/// gives its own services are none.
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
