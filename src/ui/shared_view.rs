//! The view of a group turn, shared by replies that are made side by side.

use std::cell::RefCell;

use lepo_turn::{Moment, Watch};

use super::group::{GroupView, TICK};

/// The view of a group turn, told by replies that are made side by side.
pub struct SharedView<'v>(RefCell<GroupView<'v>>);

impl<'v> SharedView<'v> {
    /// Shares this one.
    pub fn new(view: GroupView<'v>) -> SharedView<'v> {
        SharedView(RefCell::new(view))
    }

    /// Shows the question, before the first reply.
    pub fn begin(&self, question: Option<&str>) {
        self.0.borrow_mut().begin(question);
    }

    /// Draws the rows anew, ten times a second, as long as it is waited for.
    pub async fn ticks(&self) -> ! {
        loop {
            tokio::time::sleep(TICK).await;
            self.0.borrow_mut().draw();
        }
    }

    /// Takes the rows away, after the last reply.
    pub fn end(&self) {
        self.0.borrow_mut().end();
    }
}

impl Watch for SharedView<'_> {
    fn sees(&self, moment: Moment<'_>) {
        self.0.borrow_mut().moment(moment);
    }
}
