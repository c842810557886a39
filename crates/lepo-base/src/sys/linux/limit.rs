//! Limits the number of processes: by a control group where one can be created, otherwise by `RLIMIT_NPROC`.

use std::path::{Path, PathBuf};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// A control group of this process; removed when dropped, once no process is in it.
#[derive(Debug)]
pub struct ProcessLimit {
    dir: PathBuf,
    before: PathBuf,
}

/// Limits the children that this process starts from now on to `most` processes and threads. Returns the control
/// group, if one was created: this process is in it until [`ProcessLimit::leave`].
pub fn limit_processes(most: u32) -> Option<ProcessLimit> {
    let text = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let group =
        cgroup_dirs(&text).into_iter().find_map(|(parent, before)| ProcessLimit::make(&parent, before, most));
    if group.is_none() {
        limit_of_user(most);
    }
    group
}

/// Sets `RLIMIT_NPROC`, which counts all processes of the user, so the number running now is added. Root is exempt.
fn limit_of_user(most: u32) {
    let running = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    // 0.20 0.18 0.12 1/80 11206: the fourth field is running/all threads
    let all = running.split([' ', '/']).nth(4).and_then(|all| all.parse::<u64>().ok()).unwrap_or_default();
    let now = getrlimit(Resource::Nproc);
    let least = |limit: Option<u64>| Some(limit.unwrap_or(u64::MAX).min(all + u64::from(most)));
    let limit = Rlimit { current: least(now.current), maximum: least(now.maximum) };
    let _ = setrlimit(Resource::Nproc, limit);
}

/// Returns directories where a group may be created, each with the current one of this process; version 2 first.
fn cgroup_dirs(text: &str) -> Vec<(PathBuf, PathBuf)> {
    let mut dirs = Vec::new();
    for line in text.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let path = path.trim_start_matches('/');
        match controllers {
            "" => {
                for root in ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"] {
                    let own = Path::new(root).join(path);
                    // A group with processes in it cannot limit its children, but its parent may.
                    let parent = own.parent().filter(|_| !path.is_empty()).map(Path::to_path_buf);
                    dirs.push((own.clone(), own.clone()));
                    dirs.extend(parent.map(|parent| (parent, own)));
                }
            }
            _ if controllers.split(',').any(|name| name == "pids") => {
                let own = Path::new("/sys/fs/cgroup").join(controllers).join(path);
                dirs.push((own.clone(), own));
            }
            _ => {}
        }
    }
    dirs
}

impl ProcessLimit {
    fn make(parent: &Path, before: PathBuf, most: u32) -> Option<ProcessLimit> {
        let dir = parent.join(format!("lepo-{}", std::process::id()));
        std::fs::create_dir(&dir).ok()?;
        let group = ProcessLimit { dir, before };
        let limited = write(&group.dir, "pids.max", most).and_then(|()| enter(&group.dir));
        limited.ok().map(|()| group)
    }

    /// Moves this process back to its previous group; its children stay.
    pub fn leave(&self) {
        let _ = enter(&self.before);
    }
}

impl Drop for ProcessLimit {
    fn drop(&mut self) {
        self.leave();
        let _ = std::fs::remove_dir(&self.dir);
    }
}

fn enter(dir: &Path) -> std::io::Result<()> {
    write(dir, "cgroup.procs", std::process::id())
}

/// Writes to an existing file of a group; never creates one, which would succeed outside of a cgroup file system.
fn write(dir: &Path, file: &str, number: u32) -> std::io::Result<()> {
    use std::io::Write;
    let mut file = std::fs::OpenOptions::new().write(true).open(dir.join(file))?;
    file.write_all(number.to_string().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_looked_for_where_the_limit_is() {
        let shown = |text: &str| {
            let dirs = cgroup_dirs(text).into_iter();
            dirs.map(|(parent, before)| format!("{}<{}", parent.display(), before.display()))
                .collect::<Vec<_>>()
        };
        let v2 = shown("0::/user.slice/app.slice/x.scope\n");
        assert!(v2.contains(
            &"/sys/fs/cgroup/user.slice/app.slice</sys/fs/cgroup/user.slice/app.slice/x.scope".into()
        ));
        assert_eq!(shown("8:pids:/a\n7:cpu,cpuacct:/\n"), ["/sys/fs/cgroup/pids/a</sys/fs/cgroup/pids/a"]);
        assert!(shown("nonsense\n").is_empty());
    }
}
