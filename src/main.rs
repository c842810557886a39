//! Collects the arguments, calls the library, returns an exit code.

#![cfg_attr(c_entry, no_main)]

/// The entry that the C library calls, where build.rs chooses it. The standard library's own entry prepares a message
/// for a stack that overflows, in every thread; for that it reads `/proc/self/maps`, which takes longer than everything
/// that lepo does for `--version`.
#[cfg(c_entry)]
#[expect(unsafe_code, reason = "the name of the entry, the only one of these")]
#[unsafe(no_mangle)]
extern "C" fn main() -> std::ffi::c_int {
    lepo::prepare_process();
    // Writes what standard output still holds.
    std::process::exit(run().into())
}

#[cfg(not(c_entry))]
fn main() -> std::process::ExitCode {
    run().into()
}

/// Runs the command of the arguments; its exit code.
fn run() -> u8 {
    let args: Vec<_> = std::env::args_os().collect();
    if let Some(code) = lepo::run_as_helper(&args) {
        return code;
    }
    // With a stack as small as `ulimit -s 64` makes it, the parser of the options would overflow.
    let stack = rustix::process::getrlimit(rustix::process::Resource::Stack).current;
    if stack.is_some_and(|stack| stack < STACK as u64) {
        let words = args.clone();
        let thread = std::thread::Builder::new().stack_size(STACK).spawn(move || lepo::cli::run(words));
        if let Ok(thread) = thread {
            return thread.join().unwrap_or(101);
        }
    }
    lepo::cli::run(args)
}

/// Enough for all that lepo does, in bytes.
const STACK: usize = 2 << 20;
