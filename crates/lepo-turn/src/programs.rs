//! The programs that the configuration names, which lepo starts outside of every sandbox.

use std::path::Path;

use lepo_model::ModelConfig;
use lepo_tool::NamedProgram;
use lepo_tool::mcp::config::{ServerConfig, ServerTarget};

/// Returns the programs of servers and models: those that run, and those that print a key. Relative paths of servers
/// are below the first of `dirs`; those of models are tried below each.
pub fn programs_of<'s>(
    models: &[ModelConfig],
    servers: impl Iterator<Item = &'s ServerConfig>,
    dirs: &[&Path],
) -> Vec<NamedProgram> {
    let dir = dirs.first().copied().unwrap_or(Path::new("/"));
    let mut programs: Vec<NamedProgram> = servers.filter_map(|server| server_program(server, dir)).collect();
    for (model, dir) in models.iter().flat_map(|model| dirs.iter().map(move |dir| (model, dir))) {
        programs.extend(model_programs(model, dir));
    }
    programs
}

/// Returns the program of a local server.
pub(crate) fn server_program(server: &ServerConfig, dir: &Path) -> Option<NamedProgram> {
    let ServerTarget::Program { command, args, env, cwd } = &server.target else { return None };
    let dir = match cwd {
        // Always an empty folder.
        Some(cwd) if cwd.as_os_str() == "none" => Path::new("/").to_path_buf(),
        Some(cwd) => dir.join(cwd),
        None => dir.to_path_buf(),
    };
    Some(NamedProgram { env: env.clone(), ..NamedProgram::new(command, args, &dir) })
}

/// Returns the programs that run a model and print its key.
pub(crate) fn model_programs(model: &ModelConfig, dir: &Path) -> Vec<NamedProgram> {
    let commands = [&model.command, &model.key.command];
    let program = |command: &Vec<String>| {
        let (program, args) = command.split_first()?;
        Some(NamedProgram::new(program, args, dir))
    };
    commands.into_iter().filter_map(program).collect()
}
