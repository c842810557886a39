//! lepo-embedded: a small model that answers on this machine, without an account, a key or a server. A separate
//! program, so that `lepo` stays lean, and a kill suffices to cancel an answer.

mod generate;
mod prompt;
mod protocol;
mod tokenizer;
mod weights;

use std::env;
use std::ffi::OsString;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use generate::Generator;
use lepo_base::error::{Error, ExitKind};
use lepo_base::hint::HintTarget;
use protocol::{OutputEvent, emit, fail, parse};

const USAGE: &str = "\
usage: lepo-embedded --weights FILE

Answers JSON requests on stdin, one per line, with NDJSON events on stdout,
until stdin ends. Started by lepo; `lepo model get` fetches the weights.

      --weights FILE  a llama model in GGUF, SmolLM2-135M-Instruct
      --named NAME    the name of the file in messages
  -h, --help          print this help
  -v, --version       print the version
";

#[derive(Debug, PartialEq)]
enum EmbeddedArgs {
    Help,
    Version,
    Serve { weights: PathBuf, named: Option<String> },
}

fn main() -> ExitCode {
    match command(env::args_os().skip(1)) {
        Ok(EmbeddedArgs::Help) => print_and_exit(USAGE),
        Ok(EmbeddedArgs::Version) => {
            print_and_exit(concat!("lepo-embedded ", env!("CARGO_PKG_VERSION"), "\n"))
        }
        Ok(EmbeddedArgs::Serve { weights, named }) => serve(&weights, named.as_deref()),
        Err(why) => {
            let _ = write!(io::stderr(), "error: {why}\n\n{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn command(arguments: impl Iterator<Item = OsString>) -> Result<EmbeddedArgs, String> {
    let arguments: Vec<OsString> = arguments.collect();
    let has = |short: &str, long: &str| arguments.iter().any(|a| a == short || a == long);
    if has("-h", "--help") {
        return Ok(EmbeddedArgs::Help);
    }
    if has("-v", "--version") {
        return Ok(EmbeddedArgs::Version);
    }
    match arguments.as_slice() {
        [flag, path] if flag == "--weights" => Ok(EmbeddedArgs::Serve { weights: path.into(), named: None }),
        [flag, path, named, name] if flag == "--weights" && named == "--named" => {
            Ok(EmbeddedArgs::Serve { weights: path.into(), named: Some(name.to_string_lossy().into_owned()) })
        }
        [] => Err("missing option --weights FILE".into()),
        [flag] if flag == "--weights" => Err("--weights needs a file".into()),
        _ => Err("invalid arguments: expected --weights FILE and nothing else".into()),
    }
}

fn print_and_exit(text: &str) -> ExitCode {
    let _ = io::stdout().write_all(text.as_bytes());
    ExitCode::SUCCESS
}

/// Loads the weights before reading stdin, so that they load while lepo still prepares the question.
fn serve(weights: &Path, named: Option<&str>) -> ExitCode {
    set_environment();
    // A damaged file may cause a panic in candle's arithmetic; the hook reports it as an error event too.
    std::panic::set_hook(Box::new(|panic| {
        fail(&format!("the embedded model failed: {}", panic.payload_as_str().unwrap_or("unknown")))
    }));
    let (model, tokenizer) = weights::load(weights, named).unwrap_or_else(|error| fail(&error_line(&error)));
    let mut speaker = Generator::new(model, tokenizer);

    let mut stdin = io::stdin().lock();
    let mut line = Vec::new();
    loop {
        line.clear();
        match stdin.read_until(b'\n', &mut line) {
            Ok(0) => return ExitCode::SUCCESS,
            Ok(_) if line.trim_ascii().is_empty() => continue,
            Ok(_) => {}
            Err(error) => fail(&format!("cannot read stdin: {error}")),
        }
        if let Err(error) = parse(&line).and_then(|request| speaker.answer(&request)) {
            emit(&OutputEvent::Error {
                message: &error_line(&error),
                too_long: error.kind == ExitKind::Overflow,
            });
        }
    }
}

/// Formats an error as a single line.
fn error_line(error: &Error) -> String {
    match error.hint_for(HintTarget::SHELL) {
        Some(hint) => format!("{}; {hint}", error.chain()),
        None => error.chain(),
    }
}

/// Sets variables that candle reads. Its threads wait for each other by spinning, so two of them are ten times slower
/// than one on a busy machine; and its errors would contain a backtrace if the user's environment asks for one.
fn set_environment() {
    for (name, value) in [("RAYON_NUM_THREADS", "1"), ("RUST_LIB_BACKTRACE", "0")] {
        if env::var_os(name).is_none() {
            // SAFETY: no other thread exists yet that could read the environment. No alternative exists: candle and its
            // matrix crates read these variables themselves.
            #[allow(unsafe_code)]
            unsafe {
                env::set_var(name, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_line() {
        let cases: [(&[&str], Option<EmbeddedArgs>); 9] = [
            (&["--weights", "a b"], Some(EmbeddedArgs::Serve { weights: "a b".into(), named: None })),
            (
                &["--weights", "a", "--named", "b"],
                Some(EmbeddedArgs::Serve { weights: "a".into(), named: Some("b".into()) }),
            ),
            (&["--named", "b", "--weights", "a"], None),
            (&["--weights", "x", "-h"], Some(EmbeddedArgs::Help)),
            (&["--version", "--help"], Some(EmbeddedArgs::Help)),
            (&["-v"], Some(EmbeddedArgs::Version)),
            (&[], None),
            (&["--weights"], None),
            (&["--weights", "x", "y"], None),
        ];
        for (arguments, wanted) in cases {
            assert_eq!(command(arguments.iter().map(OsString::from)).ok(), wanted, "{arguments:?}");
        }
    }
}
