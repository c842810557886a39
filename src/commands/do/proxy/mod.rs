//! `lepo do --proxy`: passes requests of other programs on, and records them, or answers them from the store.

mod program;
mod traffic;
mod variables;

use std::future::Future;
use std::sync::Arc;

use super::DoArgs;
use super::recorded::{no_store, open};
use super::setup::{Setup, store_of_turn};
use crate::commands::Context;
use crate::commands::repo_files::recorded_ignore;
use lepo_base::env::Env;
use lepo_base::error::{Error, ExitKind, Result};
use lepo_net::runtime::current_thread;
use lepo_proxy::{IgnoredText, ProxyListener, ProxyRecorder, ProxyState, ProxyToken, UpstreamTable};
use lepo_store::store::Store;
use lepo_turn::recorded::RecordedOptions;
use lepo_turn::{Interrupt, Masking};
use program::ProxiedProgram;
pub use traffic::TrafficDocument;
use traffic::{Traffic, TrafficForm};
use variables::proxy_variables;

/// Serves until the command ends, or until Ctrl+C. Returns the exit code of the command.
pub fn run_proxy(args: &DoArgs, context: &mut Context<'_>) -> Result<u8> {
    let recorded = args.recorded.options()?;
    let setup = Setup::read(args, context)?;
    let searched = recorded.as_ref().map(|options| searched_store(options, context)).transpose()?;
    let is_offline = recorded.as_ref().is_some_and(|options| options.only);
    let store = match (&searched, is_offline) {
        // Nothing is written, so no store is made.
        (Some(searched), true) => searched.clone(),
        _ => store_of_turn(args, context)?,
    };
    let env = Env::from_process();
    let (settings, state_dir) = (&setup.configured.settings, &setup.configured.paths.state);
    let upstreams = UpstreamTable::read(&env, &settings.models, args.proxy.upstream.as_deref())?;
    let masking = Arc::new(Masking::new(settings, &env, state_dir));
    let cassette = match searched {
        Some(searched) => {
            let ignored = [settings.recorded_ignore.clone(), recorded_ignore(&searched)?].concat();
            let ignored = IgnoredText::new(&ignored)?;
            // A store has one recorder.
            let is_own = searched.path() == store.path();
            let other = (!is_own).then(|| ProxyRecorder::new(searched, masking.clone()));
            Some((other, ignored))
        }
        None => None,
    };
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
        let state = ProxyState::new(token, listener.port, upstreams, recorder.clone(), sink);
        let state = Arc::new(match cassette {
            Some((other, ignored)) => {
                let cassette = other.as_ref().unwrap_or(&recorder).cassette(ignored);
                state.answering_from(cassette, is_offline)
            }
            None => state,
        });
        match args.prompt.split_first() {
            Some((program, words)) => {
                let program = ProxiedProgram::start(program, words, &variables)?;
                let code = serve_until(listener, state.clone(), program.wait()).await??;
                if code == 0 { all_recorded(&state).map(|()| code) } else { Ok(code) }
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
    state: Arc<ProxyState>,
    exit: impl Future<Output = Result<u8>>,
) -> Result<Result<u8>> {
    let mut code = Err(Error::store("the proxy ended early"));
    let until = async { code = exit.await };
    listener.serve(state, until).await;
    Ok(code)
}

/// Returns the store with the recorded answers.
fn searched_store(options: &RecordedOptions, context: &Context<'_>) -> Result<Arc<Store>> {
    let store = match &options.from {
        Some(path) => open(path, context)?,
        None => match context.find_store()? {
            Some(store) => store,
            None if options.only => return Err(no_store()),
            None => context.store_or_make(false)?,
        },
    };
    Ok(Arc::new(store))
}

/// Fails if a request had no recorded answer, and was not sent.
fn all_recorded(state: &ProxyState) -> Result<()> {
    match state.unrecorded() {
        0 => Ok(()),
        count => {
            let what = if count == 1 { "1 request has" } else { &format!("{count} requests have") };
            let message = format!("{what} no recorded answer");
            let error = Error::new(ExitKind::NotRecorded, message);
            Err(error.hint("--recorded without =only sends them, and records the answers"))
        }
    }
}
