//! seccomp filters: system calls that namespaces or Landlock do not hold, and that a held command
//! does without. A denied call fails with EPERM.

use std::io;

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};

/// x86-64 has every call a second time, under a number with this bit (the x32 ABI).
const X32: c_long = 0x4000_0000;

/// For a command in namespaces of its own: what these leave open. Sockets of other families than
/// IPv4, IPv6 and netlink reach past them (unix sockets through files, vsock the host of a virtual
/// machine), io_uring could make any, and the user's keyrings are in no namespace.
pub fn beside_namespaces() -> io::Result<BpfProgram> {
    let families = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
    let others = families.map(|family| condition(0, SeccompCmpOp::Ne, family as u64));
    let others =
        SeccompRule::new(others.into_iter().collect::<io::Result<_>>()?).map_err(io::Error::other)?;
    let mut rules = vec![(libc::SYS_socket, vec![others]), pairs()?];
    rules.extend([libc::SYS_io_uring_setup].iter().chain(KEYRINGS).map(|&call| (call, vec![])));
    program(rules)
}

/// For a command that Landlock keeps from writing: no sockets at all, nothing that changes a file by
/// its path or by a descriptor that is open for reading, no shared memory, no say in when other
/// processes run. `signals` too where Landlock (before ABI 6) does not confine them.
pub fn beside_landlock(signals: bool) -> io::Result<BpfProgram> {
    let flags = [SET_FLAGS, SET_FLAGS_32, SET_XFLAGS].map(|flags| {
        condition(1, SeccompCmpOp::Eq, flags)
            .and_then(|condition| SeccompRule::new(vec![condition]).map_err(io::Error::other))
    });
    let mut rules = vec![(libc::SYS_ioctl, flags.into_iter().collect::<io::Result<_>>()?)];
    let other = SeccompRule::new(vec![condition(0, SeccompCmpOp::Ne, 0)?]).map_err(io::Error::other)?;
    rules.push(pairs()?);
    rules.extend(OF_PROCESSES.iter().map(|&call| (call, vec![other.clone()])));
    let denied = DENIED.iter().chain(KEYRINGS).chain(if signals { SIGNALS } else { &[] });
    rules.extend(denied.map(|&call| (call, vec![])));
    program(rules)
}

/// `socketpair`, but for streams: a datagram socket of a pair can be sent from to any other by its path.
fn pairs() -> io::Result<(c_long, Vec<SeccompRule>)> {
    let denied = [libc::SOCK_DGRAM, libc::SOCK_RAW].map(|kind| {
        condition(1, SeccompCmpOp::MaskedEq(SOCK_TYPE_MASK), kind as u64)
            .and_then(|condition| SeccompRule::new(vec![condition]).map_err(io::Error::other))
    });
    Ok((libc::SYS_socketpair, denied.into_iter().collect::<io::Result<_>>()?))
}

/// The bytes of a program, as the kernel and bubblewrap read it.
pub fn bytes(program: &BpfProgram) -> Vec<u8> {
    let instruction = |i: &seccompiler::sock_filter| {
        let [a, b] = i.code.to_ne_bytes();
        let [c, d, e, f] = i.k.to_ne_bytes();
        [a, b, i.jt, i.jf, c, d, e, f]
    };
    program.iter().flat_map(instruction).collect()
}

/// `ioctl` requests that set a file's attributes: FS_IOC_SETFLAGS, FS_IOC32_SETFLAGS, FS_IOC_FSSETXATTR.
const SET_FLAGS: u64 = 0x4008_6602;
const SET_FLAGS_32: u64 = 0x4004_6602;
const SET_XFLAGS: u64 = 0x401c_5820;

/// The bits of a socket's type that are no flags.
const SOCK_TYPE_MASK: u64 = 0xf;

/// What the kernel keeps for the user: tickets, passphrases, keys of filesystems.
const KEYRINGS: &[c_long] = &[libc::SYS_keyctl, libc::SYS_add_key, libc::SYS_request_key];

#[rustfmt::skip]
const DENIED: &[c_long] = &[
    libc::SYS_socket, libc::SYS_io_uring_setup,
    libc::SYS_fchmod, libc::SYS_fchmodat, libc::SYS_fchmodat2, libc::SYS_fchown, libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr, libc::SYS_lsetxattr, libc::SYS_fsetxattr, SYS_SETXATTRAT,
    libc::SYS_removexattr, libc::SYS_lremovexattr, libc::SYS_fremovexattr, SYS_REMOVEXATTRAT,
    SYS_FILE_SETATTR,
    // Those that use by number what another process made need no `get` before.
    libc::SYS_shmget, libc::SYS_shmat, libc::SYS_shmctl,
    libc::SYS_msgget, libc::SYS_msgsnd, libc::SYS_msgrcv, libc::SYS_msgctl,
    libc::SYS_semget, libc::SYS_semop, libc::SYS_semtimedop, libc::SYS_semctl,
    libc::SYS_mq_open, libc::SYS_mq_unlink,
    libc::SYS_setpriority, libc::SYS_ioprio_set,
    #[cfg(target_arch = "x86_64")] libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")] libc::SYS_chown,
    #[cfg(target_arch = "x86_64")] libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")] libc::SYS_utime,
    #[cfg(target_arch = "x86_64")] libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")] libc::SYS_futimesat,
];

/// Newer than the crate's list; the same on every architecture.
const SYS_SETXATTRAT: c_long = 463;
const SYS_REMOVEXATTRAT: c_long = 466;
const SYS_FILE_SETATTR: c_long = 469;

/// Calls whose first argument is a process, 0 for the caller: denied for any other.
const OF_PROCESSES: &[c_long] = &[
    libc::SYS_prlimit64,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setaffinity,
];

const SIGNALS: &[c_long] = &[
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_pidfd_send_signal,
];

fn condition(argument: u8, operator: SeccompCmpOp, value: u64) -> io::Result<SeccompCondition> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value).map_err(io::Error::other)
}

/// A program that denies these; without rules a call is denied whatever its arguments.
fn program(rules: impl IntoIterator<Item = (c_long, Vec<SeccompRule>)>) -> io::Result<BpfProgram> {
    let twice = |(call, rules): (c_long, Vec<SeccompRule>)| {
        let second = cfg!(target_arch = "x86_64").then(|| (call | X32, rules.clone()));
        [Some((call, rules)), second].into_iter().flatten()
    };
    let rules = rules.into_iter().flat_map(twice).collect();
    let arch = std::env::consts::ARCH.try_into().map_err(io::Error::other)?;
    let deny = SeccompAction::Errno(libc::EPERM as u32);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, deny, arch).map_err(io::Error::other)?;
    filter.try_into().map_err(io::Error::other)
}
