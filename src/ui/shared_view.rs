//! The view of a group turn, shared by concurrent replies.

use std::cell::RefCell;

use lepo_turn::{GroupEvent, GroupView};

use super::group::{GroupTurnView, TICK};

pub struct SharedView<'v>(RefCell<GroupTurnView<'v>>);

impl<'v> SharedView<'v> {
    pub fn new(view: GroupTurnView<'v>) -> SharedView<'v> {
        SharedView(RefCell::new(view))
    }

    /// Prints the question, before the first reply.
    pub fn print_header(&self, question: Option<&str>) {
        self.0.borrow_mut().print_header(question);
    }

    /// Redraws the rows ten times a second, as long as the future is polled.
    pub async fn ticks(&self) -> ! {
        loop {
            tokio::time::sleep(TICK).await;
            self.0.borrow_mut().draw();
        }
    }

    /// Clears the rows, after the last reply.
    pub fn end(&self) {
        self.0.borrow_mut().finish();
    }
}

impl GroupView for SharedView<'_> {
    fn on_event(&self, moment: GroupEvent<'_>) {
        self.0.borrow_mut().moment(moment);
    }
}
