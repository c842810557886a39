//! `lepo mcp`: signs in to MCP servers, lists them without starting any, and runs lepo as a server.

pub mod list;
mod login;
mod serve;

use std::path::PathBuf;

use super::repo_files::{REPO_FILES, trusted};
use super::{Context, complete};
use crate::commands::user_env::UserEnv;
use crate::term::print_status;
use crate::ui::print_server_notices;
use lepo_base::error::{Error, Result};
use lepo_tool::mcp::config::{ServerConfig, ServerTarget, all_servers};
use lepo_tool::mcp::config::{ServerVariables, notes as server_notes};
use lepo_turn::config::{Flags, Paths, Settings, load_settings};
use list::sign_in_store;
use login::LoginArgs;

/// Manage sign-ins to MCP servers, list servers, and serve conversations
///
/// Servers are configured in mcp.json, see lepo-config(5). These commands start no servers: `lepo do` starts them,
/// and `lepo do --list-tools` shows what they offer. `lepo mcp serve` is a server itself.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  lepo mcp\n  lepo mcp login docs\n  lepo mcp login docs --no-browser    # \
        over SSH: open the address elsewhere, paste the last one\n  lepo mcp logout docs"
)]
pub struct McpArgs {
    #[command(subcommand)]
    command: Option<McpCommand>,
    /// List as one JSON document: {"servers": [...]}
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum McpCommand {
    /// List the configured servers: name, kind, on, off or left out, sign-in, and the number of approved tools
    Ls {
        /// Print one JSON document: {"servers": [...]}
        #[arg(long)]
        json: bool,
    },
    Serve(serve::ServeArgs),
    /// Sign in to a server in the browser; the tokens are readable only by you, and `lepo do` refreshes them
    Login(LoginArgs),
    /// Sign out of a server
    Logout {
        /// The server's name in mcp.json
        #[arg(value_name = "NAME", add = complete::server())]
        name: String,
    },
}

impl McpArgs {
    /// Whether `--json` also prints a document on failure.
    pub fn wants_json(&self) -> bool {
        self.json || matches!(self.command, Some(McpCommand::Ls { json: true }))
    }
}

pub fn run_mcp(args: McpArgs, context: &mut Context<'_>) -> Result<u8> {
    if let Some(McpCommand::Serve(args)) = &args.command {
        return serve::run(args, context);
    }
    let user = context.user_env()?;
    let UserEnv { env, paths } = &*user;
    let (config, repo) = match context.find_store()? {
        // A repository's servers apply only once trusted, as in `lepo do`.
        Some(store) => {
            let quiet = true;
            (trusted(&store, paths, REPO_FILES[0], quiet)?, trusted(&store, paths, REPO_FILES[1], false)?)
        }
        None => (None, None),
    };
    // Only a repository's servers need the names of lepo's key variables.
    let load = |_: &(PathBuf, Vec<u8>)| load_settings(paths, env, config.clone(), &Flags::default());
    let settings = repo.as_ref().map(load).transpose()?;
    let keys = settings.as_ref().map(Settings::keys).unwrap_or_default();
    let own = settings.as_ref().map(Settings::key_variables).unwrap_or_default();
    let variables = ServerVariables { env, own_names: own, keys: &keys };
    let servers = all_servers(&paths.mcp_file(), repo, Some(&variables))?;
    print_server_notices(&server_notes(&servers));
    match args.command.unwrap_or(McpCommand::Ls { json: args.json }) {
        McpCommand::Ls { json } => list::list(&servers, paths, json, context),
        McpCommand::Login(args) => login::login(find(&servers, &args.name)?, &args, paths),
        McpCommand::Serve(_) => Ok(0),
        McpCommand::Logout { name } => logout(find(&servers, &name)?, paths),
    }
}

/// Finds the remote server with this name.
fn find<'s>(servers: &'s [ServerConfig], name: &str) -> Result<&'s ServerConfig> {
    let Some(server) = servers.iter().find(|server| server.name == name) else {
        return Err(
            Error::usage(format!("no MCP server {name:?}")).hint("`lepo mcp` lists the configured ones")
        );
    };
    if let Some(why) = &server.details.left_out {
        let error = Error::usage(format!("server {name} cannot be used: {why}"));
        return Err(match why.starts_with("${") {
            true => error.hint("set the variable, or give it a default in mcp.json: ${NAME:-x}"),
            false => error,
        });
    }
    match &server.target {
        ServerTarget::Remote { .. } => Ok(server),
        ServerTarget::Program { .. } => {
            Err(Error::usage(format!("server {name} is a program on this machine"))
                .hint("if it needs a sign-in, its own documentation says how"))
        }
    }
}

fn logout(server: &ServerConfig, paths: &Paths) -> Result<u8> {
    let name = &server.name;
    let sign_in_store = sign_in_store(server, paths)?;
    let forgotten = sign_in_store
        .forget()
        .map_err(|error| Error::store(format!("the sign-in to {name} cannot be removed")).because(error))?;
    match forgotten {
        true => {
            print_status(&format!("signed out of {name}: its tokens are gone from this machine"));
            Ok(0)
        }
        false => Err(Error::nothing(format!("there is no sign-in to {name}"))),
    }
}
