//! Files and environment → [`Settings`], resolved once and then only lent.

mod model;

pub use model::{AnswerForm, Key, ModelConfig, Provider, Secret};
