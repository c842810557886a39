//! `lepo mcp login`: signs in with a browser on this machine, or with a URL that the user opens elsewhere and
//! the final URL that the user pastes.

use std::io::{BufRead, IsTerminal};
use std::time::Duration;

use tokio::sync::mpsc;
use url::Url;

use crate::commands::complete;
use crate::commands::open::{has_browser, show_in_browser};
use crate::term::print_status;
use lepo_base::error::{Error, ExitKind, Result};
use lepo_net::runtime::{blocking, current_thread};
use lepo_tool::mcp::Callback;
use lepo_tool::mcp::client::auth::{Login, RedirectParams};
use lepo_tool::mcp::client::challenge;
use lepo_tool::mcp::config::{ServerConfig, ServerTarget};
use lepo_turn::Interrupt;
use lepo_turn::config::Paths;

/// The arguments of `lepo mcp login`.
#[derive(Debug, clap::Args)]
pub struct LoginArgs {
    /// The server's name in mcp.json
    #[arg(value_name = "NAME", add = complete::server())]
    pub name: String,
    /// Do not open a browser: print the address, and read the last address of the browser from stdin
    #[arg(long)]
    no_browser: bool,
    /// The local port that the browser is redirected to, if the client was registered with one (default: a free port)
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    callback_port: Option<u16>,
    /// Request this scope in addition to those that the server names; repeatable
    #[arg(long, value_name = "SCOPE")]
    scope: Vec<String>,
}

/// Total time limit for the authorization server's responses.
const SERVER: Duration = Duration::from_secs(90);

/// Time limit for the user.
const PERSON: Duration = Duration::from_secs(15 * 60);

pub fn login(server: &ServerConfig, args: &LoginArgs, paths: &Paths) -> Result<u8> {
    if let ServerTarget::Remote { headers, .. } = &server.target
        && headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"))
    {
        return Err(Error::usage(format!("server {} has an Authorization header in mcp.json", args.name))
            .hint("that is its sign-in; remove the header to sign in another way"));
    }
    let runtime = current_thread()?;
    let done = runtime.block_on(async {
        let interrupt = Interrupt::listen()?;
        interrupt.or(sign_in(server, args, paths)).await
    });
    // A thread may still be reading stdin.
    runtime.shutdown_background();
    done.map_err(|error| match error.kind {
        ExitKind::Signal(number) => Error::new(ExitKind::Signal(number), "interrupted"),
        _ => error,
    })?;
    print_status(&format!("signed in to {}", args.name));
    Ok(0)
}

async fn sign_in(server: &ServerConfig, args: &LoginArgs, paths: &Paths) -> Result<()> {
    let refused = |words: String| Error::remote(format!("cannot sign in to {}: {words}", args.name));
    let callback = Callback::listen(args.callback_port.unwrap_or(0)).await.map_err(|error| {
        Error::usage("cannot listen for the browser on this machine").because(error).hint(
            "another program may have that port; --callback-port names one, and without it a free one is taken",
        )
    })?;
    let beginning = async {
        let challenge = challenge(server).await.map_err(&refused)?;
        let redirect = callback.address();
        let dir = paths.sign_ins();
        Login::start(server, &dir, &redirect, challenge.as_deref(), &args.scope).await.map_err(&refused)
    };
    let login = in_time(beginning, &args.name).await?;
    let by_hand = args.no_browser || !has_browser();
    print_status(&format!("Signing in to {} at {}", args.name, login.host()));
    if by_hand || !show_in_browser(login.address().as_str()) {
        print_status(&format!("Open this address in a browser:\n\n{}\n", login.address()));
    } else {
        print_status(&format!(
            "Your browser should open. If not, open this address:\n\n{}\n",
            login.address()
        ));
    }
    let pasting = by_hand || std::io::stdin().is_terminal();
    if pasting {
        print_status(
            "If the browser is on another machine, its last page cannot load: paste the address of that \
                page here, then press Enter:",
        );
    }
    let mut lines = if pasting { pasted() } else { mpsc::channel(1).1 };
    let (code, issuer) = loop {
        let redirected = tokio::select! {
            redirected = callback.wait(login.reader()) => redirected.map_err(|error| {
                Error::store("cannot listen for the browser").because(error)
            })?,
            Some(line) = lines.recv() => match address(&line) {
                Some(url) => login.read(&url),
                None => RedirectParams::Foreign,
            },
            () = tokio::time::sleep(PERSON) => {
                return Err(refused("the sign-in was not finished in the browser within 15 minutes".to_string()));
            }
        };
        match redirected {
            RedirectParams::Code(code, issuer) => break (code, issuer),
            RedirectParams::Refused(words) => return Err(refused(words)),
            RedirectParams::Foreign => print_status(
                "That is not the last address of this sign-in, which has code= and state= in it.",
            ),
        }
    };
    let finishing = async { login.finish(&code, issuer.as_deref()).await.map_err(&refused) };
    in_time(finishing, &args.name).await
}

async fn in_time<T>(work: impl Future<Output = Result<T>>, name: &str) -> Result<T> {
    match tokio::time::timeout(SERVER, work).await {
        Ok(done) => done,
        Err(_) => Err(Error::remote(format!(
            "cannot sign in to {name}: its authorization server did not answer within {} s",
            SERVER.as_secs()
        ))),
    }
}

/// Reads lines from stdin in a thread.
fn pasted() -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel(1);
    blocking(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            if !line.trim().is_empty() && sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// Parses a pasted URL, or only its query.
fn address(line: &str) -> Option<Url> {
    let line = line.trim().trim_matches(['"', '\'', '<', '>']);
    Url::parse(line).ok().filter(|url| url.has_host()).or_else(|| {
        let query = line.trim_start_matches('?');
        Url::parse(&format!("http://127.0.0.1/?{query}")).ok().filter(|_| query.contains('='))
    })
}
