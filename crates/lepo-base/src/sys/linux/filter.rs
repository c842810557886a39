//! seccomp filters: deny system calls that namespaces or Landlock do not confine and that a sandboxed command does
//! not need. A denied call fails with EPERM.

use std::io;

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};

/// x86-64 has every call twice; the second number has this bit (the x32 ABI).
const X32: c_long = 0x4000_0000;

/// Returns the filter, in bubblewrap's format, for a command in its own namespaces: denies what these leave open.
/// Sockets of families other than IPv4, IPv6 and netlink reach outside of them (unix sockets through files, vsock to
/// the host of a virtual machine), io_uring could create any socket, and the user's keyrings are in no namespace.
pub fn namespace_filter() -> io::Result<Vec<u8>> {
    let families = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
    let others = families.map(|family| condition(0, SeccompCmpOp::Ne, family as u64));
    let others =
        SeccompRule::new(others.into_iter().collect::<io::Result<_>>()?).map_err(io::Error::other)?;
    let mut rules = vec![(libc::SYS_socket, vec![others]), pairs()?];
    rules.extend(set_ids()?);
    // Terminal input, which would be read as the user's, and the keys of the user's encrypted directories.
    rules.push((libc::SYS_ioctl, any_of(1, &[TYPING, ENCRYPTION].concat())?));
    rules.push((libc::SYS_fcntl, any_of(1, LEASES)?));
    rules.extend(user_namespaces()?);
    rules.extend([libc::SYS_io_uring_setup].iter().chain(KEYRINGS).map(|&call| (call, vec![])));
    Ok(bytes(&program(rules)?))
}

/// Returns the filter for a command that Landlock denies writing: no sockets at all, no change of a file by its path
/// or through a descriptor open for reading, no shared memory, no influence on the scheduling of other processes.
/// With `signals` also no signals, for Landlock before ABI 6, which does not confine them.
pub(super) fn for_landlock(signals: bool) -> io::Result<BpfProgram> {
    // Only known requests are allowed: others change a file open for reading, and file systems have their own.
    let changing: io::Result<Vec<_>> =
        ASKING.iter().map(|&request| condition(1, SeccompCmpOp::Ne, request)).collect();
    // Must come first: calls denied whatever their arguments are listed again below and then win.
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

/// Denies creating or entering a user namespace, in which a process has every capability. [`program`] handles
/// `clone3`.
fn user_namespaces() -> io::Result<[(c_long, Vec<SeccompRule>); 3]> {
    let new = SeccompCmpOp::MaskedEq(libc::CLONE_NEWUSER as u64);
    let made = SeccompRule::new(vec![condition(0, new, libc::CLONE_NEWUSER as u64)?]);
    let made = vec![made.map_err(io::Error::other)?];
    Ok([(libc::SYS_unshare, made.clone()), (libc::SYS_clone, made), (libc::SYS_setns, vec![])])
}

/// Denies setting the set-user-id or the set-group-id bit of a file: such a program runs with the rights of the user
/// who let lepo run the command. `mkdir` ignores both bits; [`program`] handles `openat2`.
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
        // Without one of these flags the mode is whatever the register contained.
        let making = [libc::O_CREAT as u32, O_TMPFILE_BIT];
        let each = making.iter().flat_map(|&flag| SET_ID_BITS.iter().map(move |&bit| (flag, bit)));
        let any: io::Result<_> =
            each.map(|(flag, bit)| rule(vec![has(flags, flag)?, has(flags + 1, bit)?])).collect();
        rules.push((call, any?));
    }
    Ok(rules)
}

/// Returns rules that match a call whose argument is one of these values.
fn any_of(argument: u8, values: &[u64]) -> io::Result<Vec<SeccompRule>> {
    let rule = |&value: &u64| {
        condition(argument, SeccompCmpOp::Eq, value)
            .and_then(|condition| SeccompRule::new(vec![condition]).map_err(io::Error::other))
    };
    values.iter().map(rule).collect()
}

/// Denies `socketpair` except for streams: a datagram socket of a pair can send to any other by its path.
fn pairs() -> io::Result<(c_long, Vec<SeccompRule>)> {
    let denied = [libc::SOCK_DGRAM, libc::SOCK_RAW].map(|kind| {
        condition(1, SeccompCmpOp::MaskedEq(SOCK_TYPE_MASK), kind as u64)
            .and_then(|condition| SeccompRule::new(vec![condition]).map_err(io::Error::other))
    });
    Ok((libc::SYS_socketpair, denied.into_iter().collect::<io::Result<_>>()?))
}

/// Encodes a program for the kernel and bubblewrap.
fn bytes(program: &BpfProgram) -> Vec<u8> {
    let instruction = |i: &seccompiler::sock_filter| {
        let [a, b] = i.code.to_ne_bytes();
        let [c, d, e, f] = i.k.to_ne_bytes();
        [a, b, i.jt, i.jf, c, d, e, f]
    };
    program.iter().flat_map(instruction).collect()
}

/// `ioctl` requests that only query, or concern the descriptor alone: TCGETS and its successor, the terminal's group,
/// session and size, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX, FIOQSIZE, FIGETBSZ, FS_IOC_GETFLAGS in both widths,
/// FS_IOC_GETVERSION, FS_IOC_FSGETXATTR, FS_IOC_FIEMAP.
#[rustfmt::skip]
const ASKING: &[u64] = &[
    0x5401, 0x802c_542a, 0x540f, 0x5429, 0x5413, 0x541b, 0x5421, 0x5450, 0x5451, 0x5460, 2, 0x8008_6601, 0x8004_6601,
    0x8008_7601, 0x801c_581f, 0xc020_660b,
];

/// `ioctl` requests that insert input into a terminal: TIOCSTI, TIOCLINUX.
const TYPING: &[u64] = &[0x5412, 0x541c];

/// `ioctl` requests that add and remove the user's keys of encrypted directories, for every process:
/// FS_IOC_ADD_ENCRYPTION_KEY, FS_IOC_REMOVE_ENCRYPTION_KEY, FS_IOC_REMOVE_ENCRYPTION_KEY_ALL_USERS.
const ENCRYPTION: &[u64] = &[0xc050_6617, 0xc040_6618, 0xc040_6619];

/// S_ISUID and S_ISGID.
const SET_ID_BITS: [u32; 2] = [0o4000, 0o2000];

/// Calls with a mode, each with the index of that argument.
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

/// Calls that open and may create a file, each with the index of the flags argument; the mode follows it.
const OPENING: &[(c_long, u8)] = &[
    (libc::SYS_openat, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 1),
];

/// The bit that O_TMPFILE has in addition to O_DIRECTORY.
const O_TMPFILE_BIT: u32 = 0o20_000_000;

/// `fcntl` commands that make other processes wait or report what they do, on a file open for reading: F_SETLEASE,
/// F_NOTIFY, F_SETDELEG.
const LEASES: &[u64] = &[1024, 1026, 1040];

/// `fcntl` commands that set a file's own hints: F_SET_RW_HINT, F_SET_FILE_RW_HINT.
const HINTS: &[u64] = &[1036, 1038];

/// `fcntl` commands that send signals to any process: F_SETOWN, F_SETOWN_EX.
const OWNERS: &[u64] = &[8, 15];

/// The bits of a socket's type other than flags.
const SOCK_TYPE_MASK: u64 = 0xf;

/// Calls for the user's keys in the kernel: tickets, passphrases, keys of file systems.
const KEYRINGS: &[c_long] = &[libc::SYS_keyctl, libc::SYS_add_key, libc::SYS_request_key];

#[rustfmt::skip]
const DENIED: &[c_long] = &[
    libc::SYS_socket, libc::SYS_io_uring_setup,
    libc::SYS_fchmod, libc::SYS_fchmodat, SYS_FCHMODAT2, libc::SYS_fchown, libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr, libc::SYS_lsetxattr, libc::SYS_fsetxattr, SYS_SETXATTRAT,
    libc::SYS_removexattr, libc::SYS_lremovexattr, libc::SYS_fremovexattr, SYS_REMOVEXATTRAT,
    SYS_FILE_SETATTR,
    // Calls that use an existing object by its number need no `get` before them.
    libc::SYS_shmget, libc::SYS_shmat, libc::SYS_shmctl,
    libc::SYS_msgget, libc::SYS_msgsnd, libc::SYS_msgrcv, libc::SYS_msgctl,
    libc::SYS_semget, libc::SYS_semop, libc::SYS_semtimedop, libc::SYS_semctl,
    libc::SYS_mq_open, libc::SYS_mq_unlink,
    libc::SYS_setpriority, libc::SYS_ioprio_set,
    // Watching an unreadable directory would reveal the names of changed entries.
    libc::SYS_inotify_add_watch, libc::SYS_fanotify_init, libc::SYS_fanotify_mark,
    #[cfg(target_arch = "x86_64")] libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")] libc::SYS_chown,
    #[cfg(target_arch = "x86_64")] libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")] libc::SYS_utime,
    #[cfg(target_arch = "x86_64")] libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")] libc::SYS_futimesat,
];

/// Newer than libc's lists for some targets; the numbers are equal on every architecture.
const SYS_FCHMODAT2: c_long = 452;
const SYS_SETXATTRAT: c_long = 463;
const SYS_REMOVEXATTRAT: c_long = 466;
const SYS_FILE_SETATTR: c_long = 469;

/// Calls whose first argument is a process id, 0 for the caller: denied for any other process.
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

/// Compiles a filter that denies these calls; a call without rules is denied whatever its arguments.
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

/// Returns instructions before a filter that fail some calls with ENOSYS, so that programs fall back to older ones:
/// `clone3` and `openat2` have flags and mode in memory, which a filter cannot read. Their numbers are equal on every
/// architecture.
fn without_newer() -> BpfProgram {
    let instruction = |code: u32, jt, jf, k| seccompiler::sock_filter { code: code as u16, jt, jf, k };
    let (load, equal) =
        (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K);
    vec![
        // The first field of the data passed to a filter is the number of the call.
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
