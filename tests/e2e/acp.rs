//! `lepo do --acp`: an editor's conversations are those of the repository.

mod agents;
mod asking;
mod forks;
mod given_servers;
mod held;
mod hostile;
mod peers;
mod real_agents;
mod sessions;
