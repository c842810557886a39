//! `lepo config`: the settings in force, and where each was said.

use std::path::PathBuf;

use serde_json::json;

use super::Context;
use super::repo_files::trusted_config;
use crate::config::{Flags, Paths, Plan, Settings};
use crate::env::Env;
use crate::error::Result;
use crate::term::say;

/// Show the settings in force and where each comes from
///
/// One line each: `NAME = VALUE  # FROM`, where FROM is `default`, a file and its line, or a variable
/// of the environment. Keys are never shown, only whether there is one.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lepo config\n  lepo config | grep -v '# default$'\n  \
    lepo config --import ~/.humble-ai-cli/config.json")]
pub struct ConfigArgs {
    /// Add what humble-ai-cli's config.json or mcp-servers.json holds. What is there already stays;
    /// what is added is shown, and what is left out is said
    #[arg(long, value_name = "FILE")]
    import: Option<PathBuf>,
    /// One JSON document: {"file", "settings": [...]}, with --import {"file", "added": [...], "left_out": [...]}
    #[arg(long)]
    pub json: bool,
}

/// Shows them, or imports some.
pub fn run_config(args: ConfigArgs, context: &mut Context<'_>) -> Result<u8> {
    let env = Env::from_process();
    let paths = Paths::from_env(&env)?;
    match &args.import {
        Some(file) => import(Plan::make(&paths, file)?, args.json, context)?,
        None => {
            let repo = trusted_config(context, &paths)?;
            show(&Settings::load(&paths, &env, repo, &Flags::default())?, args.json, context)
        }
    }
    Ok(0)
}

fn show(settings: &Settings, as_json: bool, context: &mut Context<'_>) {
    let lines = settings.lines();
    if as_json {
        let settings_json: Vec<_> = lines
            .iter()
            .map(|line| json!({ "name": line.name, "value": line.value, "source": line.source.to_string() }))
            .collect();
        let document = json!({ "file": settings.file.to_string_lossy(), "settings": settings_json });
        return context.out.line(&document.to_string());
    }
    for line in lines {
        context.out.untrusted(format!("{} = {}", line.name, line.value).as_bytes());
        context.out.trusted(&context.paint.dim("  # "));
        context.out.line(&line.source.to_string());
    }
}

fn import(plan: Plan, as_json: bool, context: &mut Context<'_>) -> Result<()> {
    let target = plan.target.display().to_string();
    if !as_json {
        for what in &plan.added {
            context.out.line(&format!("add {what}"));
        }
        for what in &plan.left_out {
            say(&format!("left out: {what}"));
        }
        context.out.flush();
    }
    plan.apply()?;
    if as_json {
        let document = json!({ "file": target, "added": plan.added, "left_out": plan.left_out });
        context.out.line(&document.to_string());
    } else {
        match plan.added.len() {
            0 => say(&format!("nothing was added to {target}")),
            _ => say(&format!("written to {target}")),
        }
    }
    Ok(())
}
