//! `--events` of many: the lines of one turn, each with the `name` of whose reply it is in, and a few more.

use std::cell::RefCell;

use serde_json::json;

use crate::commands::r#do::events::Events as OfOne;
use crate::commands::error_json;
use crate::term::Out;
use crate::turn::{Moment, Watch};

/// Many as lines on stdout.
pub struct Events<'o>(OfOne<'o>);

impl<'o> Events<'o> {
    /// Lines on `out`.
    pub fn new(out: &'o mut Out) -> Events<'o> {
        Events(OfOne::new(out))
    }
}

impl Watch for RefCell<Events<'_>> {
    fn sees(&self, moment: Moment<'_>) {
        let events = &mut self.borrow_mut().0;
        let line = match moment {
            Moment::Common(event) => return events.tell(None, event),
            Moment::In(name, event) => return events.tell(Some(name), event),
            // The end tells both whole.
            Moment::Spoken(..) | Moment::Concluded(_) => return,
            Moment::Failed(name, error) => {
                json!({ "event": "failed", "name": name, "error": error_json(error) })
            }
            Moment::Floor(round, names) => json!({ "event": "floor", "round": round, "names": names }),
            Moment::Wants(name, bid) => json!({ "event": "bid", "name": name, "bid": bid.word() }),
            Moment::Judging(name) => json!({ "event": "judging", "name": name }),
            Moment::Narration(text) => json!({ "event": "narration", "text": text }),
            Moment::Chosen(name) => json!({ "event": "chosen", "name": name }),
        };
        events.line(line);
    }
}
