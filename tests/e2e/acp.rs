//! `lepo do --acp`: an editor's conversations are those of the repository.

mod asking;
mod hostile;
mod sessions;
