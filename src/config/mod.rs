//! Files and environment → [`Settings`], resolved once and then only lent.

mod model;

pub use model::{AnswerForm, Key, ModelConfig, Provider, Secret};

/// Instructions (stand-in until the room is furnished).
pub struct Insts;
impl Insts {
    /// Text of `_insts.toml`.
    pub fn default_file_text() -> String { String::new() }
}
