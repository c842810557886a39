//! Collects the arguments, calls the library, returns an exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    lepo::report_panics();
    run().into()
}

fn run() -> u8 {
    let args: Vec<_> = std::env::args_os().collect();
    if let Some(code) = lepo::run_as_helper(&args) {
        return code;
    }
    // The option parser would overflow a small stack, such as `ulimit -s 64` sets.
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

/// Stack size in bytes that suffices for everything lepo does.
const STACK: usize = 2 << 20;
