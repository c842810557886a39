//! The comparison right before a configured program is started outside of every sandbox.

use std::fmt;
use std::sync::Arc;

use super::NamedProgram;

type Compare = dyn Fn(&NamedProgram) -> Result<(), String> + Send + Sync;

/// Compares the files that a program is started from with what was agreed to.
#[derive(Clone, Default)]
pub struct StartCheck(Option<Arc<Compare>>);

impl StartCheck {
    /// The check by this function, which says in words why a program is not started.
    pub fn new(compare: impl Fn(&NamedProgram) -> Result<(), String> + Send + Sync + 'static) -> StartCheck {
        StartCheck(Some(Arc::new(compare)))
    }

    /// Compares; without a function everything is agreed to.
    pub fn compare(&self, program: &NamedProgram) -> Result<(), String> {
        self.0.as_ref().map_or(Ok(()), |compare| compare(program))
    }
}

impl fmt::Debug for StartCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StartCheck").finish_non_exhaustive()
    }
}
