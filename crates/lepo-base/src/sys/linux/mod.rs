//! Linux.

mod files;
mod filter;
mod limit;
mod open_beneath;
mod processes;
mod restrict;

use rustix::net::RecvFlags;

pub use files::{each_entry, keeps_change_times, memory_file, sync, sync_files_of};
pub use filter::namespace_filter;
pub use limit::{ProcessLimit, limit_processes};
pub use open_beneath::open_without_links;
pub use processes::{
    ChildProcesses, SNAPSHOTS, adopt_orphans, descriptor_path, hide_memory, ignored_signals, own_program,
};
pub use restrict::restrict_self;

/// Whether commands can be sandboxed on this system.
pub const HAS_SANDBOX: bool = true;

/// Whether the service manager is launchd.
pub const HAS_LAUNCHD: bool = false;

/// Received descriptors are closed when this process executes another program.
pub const RECEIVE: RecvFlags = RecvFlags::CMSG_CLOEXEC;

/// Programs that open a file in a browser, tried in order.
pub const OPENERS: &[&str] = &["xdg-open", "open", "wslview", "sensible-browser"];

/// Variables that indicate a display for a browser.
pub const DISPLAYS: &[&str] = &["DISPLAY", "WAYLAND_DISPLAY"];

/// Whether a watch reports the closing of a file after it was written.
pub const WATCH_TELLS_CLOSING: bool = true;

/// Names the settings that limit watches.
pub const WATCH_LIMITS: &str = "fs.inotify.max_user_watches and max_user_instances are the limits";

/// Returns the device of the controlling terminal.
pub fn terminal() -> Option<std::path::PathBuf> {
    Some("/dev/tty".into())
}

/// Returns the compilation target, as compilers name it.
pub fn target() -> String {
    let library = if cfg!(target_env = "musl") { "musl" } else { "gnu" };
    format!("{}-unknown-linux-{library}", std::env::consts::ARCH)
}
