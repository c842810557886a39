//! `lepo do --proxy`: passes requests of other programs on, and records them.

mod program;
mod traffic;
mod variables;

use std::future::Future;
use std::sync::Arc;

use super::DoArgs;
use super::setup::{Setup, store_of_turn};
use crate::commands::Context;
use lepo_base::env::Env;
use lepo_base::error::{Error, Result};
use lepo_net::runtime::current_thread;
use lepo_proxy::{ProxyListener, ProxyRecorder, ProxyState, ProxyToken, UpstreamTable};
use lepo_turn::{Interrupt, Masking};
use program::ProxiedProgram;
use traffic::{Traffic, TrafficForm};
use variables::proxy_variables;

/// Serves until the command ends, or until Ctrl+C. Returns the exit code of the command.
pub fn run_proxy(args: &DoArgs, context: &mut Context<'_>) -> Result<u8> {
    // Nothing may be sent under `only`, and the proxy sends all that comes.
    if args.recorded.options()?.is_some() {
        return Err(Error::usage(
            "--proxy does not answer from the store: --recorded cannot be used with it",
        )
        .hint("unset LEPO_RECORDED, or ask with `lepo do --recorded`"));
    }
    let setup = Setup::read(args, context)?;
    let store = store_of_turn(args, context)?;
    let env = Env::from_process();
    let (settings, state_dir) = (&setup.configured.settings, &setup.configured.paths.state);
    let upstreams = UpstreamTable::read(&env, &settings.models, args.proxy.upstream.as_deref())?;
    let masking = Arc::new(Masking::new(settings, &env, state_dir));
    let recorder = Arc::new(ProxyRecorder::new(store, masking));
    let traffic = Arc::new(Traffic::new(match (args.json, args.quiet) {
        (true, _) => TrafficForm::Json,
        (false, true) => TrafficForm::Silent,
        (false, false) => TrafficForm::Lines,
    }));
    let token = ProxyToken::random()?;
    let runtime = current_thread()?;
    let code = runtime.block_on(async {
        let listener = ProxyListener::bind(args.proxy.port.unwrap_or(0)).await?;
        let printed = traffic.clone();
        let sink = Box::new(move |event| printed.print(&event));
        let variables = proxy_variables(&env, &token, listener.port);
        let state = ProxyState::new(token, listener.port, upstreams, recorder, sink);
        match args.prompt.split_first() {
            Some((program, words)) => {
                let program = ProxiedProgram::start(program, words, &variables)?;
                serve_until(listener, state, program.wait()).await?
            }
            None => {
                for (name, value) in &variables {
                    context.out.line(&variables::export_line(name, value));
                }
                context.out.flush();
                let interrupt = Interrupt::listen()?;
                serve_until(listener, state, async move {
                    interrupt.wait().await;
                    Ok(0)
                })
                .await?
            }
        }
    });
    runtime.shutdown_background();
    traffic.print_sums();
    code
}

/// Serves until `ended` is ready, and returns its value.
async fn serve_until(
    listener: ProxyListener,
    state: ProxyState,
    ended: impl Future<Output = Result<u8>>,
) -> Result<Result<u8>> {
    let mut code = Err(Error::store("the proxy ended early"));
    let until = async { code = ended.await };
    listener.serve(Arc::new(state), until).await;
    Ok(code)
}
