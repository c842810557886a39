//! The programs that the configuration names, which lepo starts outside of every sandbox.

use std::path::Path;

use crate::config::Settings;
use lepo_model::ModelConfig;
use lepo_tool::NamedProgram;
use lepo_tool::mcp::config::{ServerConfig, Target};

/// The programs of servers and models: those that run, and those that print a key. Relative paths are meant in `dir`.
pub(crate) fn named_programs<'s>(
    settings: &Settings,
    servers: impl Iterator<Item = &'s ServerConfig>,
    dir: &Path,
) -> Vec<NamedProgram> {
    let mut programs: Vec<NamedProgram> = servers.filter_map(|server| server_program(server, dir)).collect();
    for model in &settings.models {
        programs.extend(model_programs(model, dir));
    }
    programs
}

/// The program of a server that is one.
pub(crate) fn server_program(server: &ServerConfig, dir: &Path) -> Option<NamedProgram> {
    let Target::Program { command, args, env, cwd } = &server.target else { return None };
    let dir = cwd.as_ref().map_or_else(|| dir.to_path_buf(), |cwd| dir.join(cwd));
    Some(NamedProgram { env: env.clone(), ..NamedProgram::new(command, args, &dir) })
}

/// The program that a model is, and the one that prints its key.
pub(crate) fn model_programs(model: &ModelConfig, dir: &Path) -> Vec<NamedProgram> {
    let commands = [&model.command, &model.key.command];
    let program = |command: &Vec<String>| {
        let (program, args) = command.split_first()?;
        Some(NamedProgram::new(program, args, dir))
    };
    commands.into_iter().filter_map(program).collect()
}
