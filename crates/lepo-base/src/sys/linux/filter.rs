//! seccomp filters: system calls that namespaces or Landlock do not hold, and that a held command
//! does without. A denied call fails with EPERM.

use std::io;

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};

/// x86-64 has every call a second time, under a number with this bit (the x32 ABI).
const X32: c_long = 0x4000_0000;

/// The filter, as bubblewrap reads it, for a command in namespaces of its own: what these leave open. Sockets of other families than
/// IPv4, IPv6 and netlink reach past them (unix sockets through files, vsock the host of a virtual
/// machine), io_uring could make any, and the user's keyrings are in no namespace.
pub fn namespace_filter() -> io::Result<Vec<u8>> {
    let families = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
    let others = families.map(|family| condition(0, SeccompCmpOp::Ne, family as u64));
    let others =
        SeccompRule::new(others.into_iter().collect::<io::Result<_>>()?).map_err(io::Error::other)?;
    let mut rules = vec![(libc::SYS_socket, vec![others]), pairs()?];
    rules.extend(set_ids()?);
    // Input for a terminal, which would be read as the user's, and the keys of the user's encrypted directories.
    rules.push((libc::SYS_ioctl, any_of(1, &[TYPING, ENCRYPTION].concat())?));
    rules.push((libc::SYS_fcntl, any_of(1, LEASES)?));
    rules.extend(user_namespaces()?);
    rules.extend([libc::SYS_io_uring_setup].iter().chain(KEYRINGS).map(|&call| (call, vec![])));
    Ok(bytes(&program(rules)?))
}

/// For a command that Landlock keeps from writing: no sockets at all, nothing that changes a file by
/// its path or by a descriptor that is open for reading, no shared memory, no say in when other
/// processes run. `signals` too where Landlock (before ABI 6) does not confine them.
pub(super) fn beside_landlock(signals: bool) -> io::Result<BpfProgram> {
    // Some change a file that is open for reading, and file systems have others of their own.
    let changing: io::Result<Vec<_>> =
        ASKING.iter().map(|&request| condition(1, SeccompCmpOp::Ne, request)).collect();
    // First, as what is denied whatever its arguments is named again below.
    let mut rules = set_ids()?;
    rules.push((libc::SYS_ioctl, vec![SeccompRule::new(changing?).map_err(io::Error::other)?]));
    let owners = if signals { OWNERS } else { &[] };
    rules.push((libc::SYS_fcntl, any_of(1, &[LEASES, HINTS, owners].concat())?));
    rules.extend(user_namespaces()?);
    let other = SeccompRule::new(vec![condition(0, SeccompCmpOp::Ne, 0)?]).map_err(io::Error::other)?;
    rules.push(pairs()?);
    rules.extend(OF_PROCESSES.iter().map(|&call| (call, vec![other.clone()])));
    let denied = DENIED.iter().chain(KEYRINGS).chain(if signals { SIGNALS } else { &[] });
    rules.extend(denied.map(|&call| (call, vec![])));
    program(rules)
}

/// A user namespace, in which a process has every capability. `clone3` is answered apart, in [`program`].
fn user_namespaces() -> io::Result<[(c_long, Vec<SeccompRule>); 3]> {
    let new = SeccompCmpOp::MaskedEq(libc::CLONE_NEWUSER as u64);
    let made = SeccompRule::new(vec![condition(0, new, libc::CLONE_NEWUSER as u64)?]);
    let made = vec![made.map_err(io::Error::other)?];
    Ok([(libc::SYS_unshare, made.clone()), (libc::SYS_clone, made), (libc::SYS_setns, vec![])])
}

/// The calls that give a file a mode, with the set-user-id or the set-group-id bit in it: a program of that kind runs
/// with the rights of the user who let lepo run the command. `mkdir` ignores both bits; `openat2` is answered apart, in
/// [`program`].
fn set_ids() -> io::Result<Vec<(c_long, Vec<SeccompRule>)>> {
    let has = |argument: u8, bits: u32| {
        condition(argument, SeccompCmpOp::MaskedEq(u64::from(bits)), u64::from(bits))
    };
    let rule = |conditions| SeccompRule::new(conditions).map_err(io::Error::other);
    let mut rules = Vec::new();
    for &(call, mode) in SETTING_MODES {
        let any: io::Result<_> = SET_ID_BITS.iter().map(|&bit| rule(vec![has(mode, bit)?])).collect();
        rules.push((call, any?));
    }
    for &(call, flags) in OPENING {
        // Without one of these flags the mode is whatever the register held.
        let making = [libc::O_CREAT as u32, O_TMPFILE_BIT];
        let each = making.iter().flat_map(|&flag| SET_ID_BITS.iter().map(move |&bit| (flag, bit)));
        let any: io::Result<_> =
            each.map(|(flag, bit)| rule(vec![has(flags, flag)?, has(flags + 1, bit)?])).collect();
        rules.push((call, any?));
    }
    Ok(rules)
}

/// Rules that a call matches whose argument is one of these.
fn any_of(argument: u8, values: &[u64]) -> io::Result<Vec<SeccompRule>> {
    let rule = |&value: &u64| {
        condition(argument, SeccompCmpOp::Eq, value)
            .and_then(|condition| SeccompRule::new(vec![condition]).map_err(io::Error::other))
    };
    values.iter().map(rule).collect()
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
fn bytes(program: &BpfProgram) -> Vec<u8> {
    let instruction = |i: &seccompiler::sock_filter| {
        let [a, b] = i.code.to_ne_bytes();
        let [c, d, e, f] = i.k.to_ne_bytes();
        [a, b, i.jt, i.jf, c, d, e, f]
    };
    program.iter().flat_map(instruction).collect()
}

/// `ioctl` requests that only ask, or concern the descriptor alone: TCGETS and its successor, the terminal's
/// group, session and size, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX, FIOQSIZE, FIGETBSZ, FS_IOC_GETFLAGS in both widths,
/// FS_IOC_GETVERSION, FS_IOC_FSGETXATTR, FS_IOC_FIEMAP.
#[rustfmt::skip]
const ASKING: &[u64] = &[
    0x5401, 0x802c_542a, 0x540f, 0x5429, 0x5413, 0x541b, 0x5421, 0x5450, 0x5451, 0x5460, 2, 0x8008_6601, 0x8004_6601,
    0x8008_7601, 0x801c_581f, 0xc020_660b,
];

/// `ioctl` requests that put input into a terminal: TIOCSTI, TIOCLINUX.
const TYPING: &[u64] = &[0x5412, 0x541c];

/// `ioctl` requests that add and remove the user's keys of encrypted directories, for every process:
/// FS_IOC_ADD_ENCRYPTION_KEY, FS_IOC_REMOVE_ENCRYPTION_KEY, FS_IOC_REMOVE_ENCRYPTION_KEY_ALL_USERS.
const ENCRYPTION: &[u64] = &[0xc050_6617, 0xc040_6618, 0xc040_6619];

/// S_ISUID and S_ISGID.
const SET_ID_BITS: [u32; 2] = [0o4000, 0o2000];

/// Calls with a mode, each with the place of it.
const SETTING_MODES: &[(c_long, u8)] = &[
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (SYS_FCHMODAT2, 2),
    (libc::SYS_mknodat, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, 1),
];

/// Calls that open a file and may make it, each with the place of its flags; the mode stands after them.
const OPENING: &[(c_long, u8)] = &[
    (libc::SYS_openat, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 1),
];

/// The bit of O_TMPFILE that O_DIRECTORY has not.
const O_TMPFILE_BIT: u32 = 0o20_000_000;

/// `fcntl` commands that make other processes wait or tell what they do, on a file that is open for reading:
/// F_SETLEASE, F_NOTIFY, F_SETDELEG.
const LEASES: &[u64] = &[1024, 1026, 1040];

/// `fcntl` commands that set a file's own hints: F_SET_RW_HINT, F_SET_FILE_RW_HINT.
const HINTS: &[u64] = &[1036, 1038];

/// `fcntl` commands that send signals to any process: F_SETOWN, F_SETOWN_EX.
const OWNERS: &[u64] = &[8, 15];

/// The bits of a socket's type that are no flags.
const SOCK_TYPE_MASK: u64 = 0xf;

/// Calls for the user's keys in the kernel: tickets, passphrases, keys of filesystems.
const KEYRINGS: &[c_long] = &[libc::SYS_keyctl, libc::SYS_add_key, libc::SYS_request_key];

#[rustfmt::skip]
const DENIED: &[c_long] = &[
    libc::SYS_socket, libc::SYS_io_uring_setup,
    libc::SYS_fchmod, libc::SYS_fchmodat, SYS_FCHMODAT2, libc::SYS_fchown, libc::SYS_fchownat,
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
    // A directory that may not be read would tell the names of what changes in it.
    libc::SYS_inotify_add_watch, libc::SYS_fanotify_init, libc::SYS_fanotify_mark,
    #[cfg(target_arch = "x86_64")] libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")] libc::SYS_chown,
    #[cfg(target_arch = "x86_64")] libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")] libc::SYS_utime,
    #[cfg(target_arch = "x86_64")] libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")] libc::SYS_futimesat,
];

/// Newer than the crate's lists for some targets; the same on every architecture.
const SYS_FCHMODAT2: c_long = 452;
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
    let denying = BpfProgram::try_from(filter).map_err(io::Error::other)?;
    Ok([without_newer(), denying].concat())
}

/// Instructions before a program that answer some calls with ENOSYS, upon which programs use older ones: `clone3` and
/// `openat2` have flags and mode in memory, which a filter cannot see. Their numbers are the same on every
/// architecture.
fn without_newer() -> BpfProgram {
    let instruction = |code: u32, jt, jf, k| seccompiler::sock_filter { code: code as u16, jt, jf, k };
    let (load, equal) =
        (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K);
    vec![
        // The number of the call is the first of what a filter sees.
        instruction(load, 0, 0, 0),
        instruction(equal, 3, 0, CLONE3),
        instruction(equal, 2, 0, CLONE3 | X32 as u32),
        instruction(equal, 1, 0, OPENAT2),
        instruction(equal, 0, 1, OPENAT2 | X32 as u32),
        instruction(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32),
    ]
}

const CLONE3: u32 = 435;
const OPENAT2: u32 = 437;
