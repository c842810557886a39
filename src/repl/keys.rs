//! The keys of the prompt: Emacs' as in every shell, and what is lepo's own.

use crate::term::pasted;
use reedline::{
    EditCommand, EditMode, Emacs, KeyCode, KeyModifiers, PromptEditMode, ReedlineEvent, ReedlineRawEvent,
    default_emacs_keybindings,
};

/// The name of the menu that Tab opens.
pub const MENU: &str = "completion";

/// The word that the line editor returns for Ctrl+Z.
pub const SUSPEND: &str = "suspend";

/// The word that the line editor returns for Ctrl+C.
const INTERRUPT: &str = "interrupt";

/// Emacs' keys, and Enter behind a `\` that was just typed begins a new line in its place.
///
/// Told by the keys and not by the text: a `\` at the end of what was pasted is part of it.
pub struct Keys {
    emacs: Emacs,
    after_backslash: bool,
    /// Ctrl+R was pressed, and the search not ended by what ends one.
    searching: bool,
}

impl Keys {
    /// The keys as they are bound.
    pub fn new() -> Keys {
        let mut keys = default_emacs_keybindings();
        let control = KeyModifiers::CONTROL;
        let either = |first, second| ReedlineEvent::UntilFound(vec![first, second]);
        // reedline's own is undo, and a job could not be stopped.
        let suspend = ReedlineEvent::ExecuteHostCommand(SUSPEND.into());
        keys.add_binding(control, KeyCode::Char('z'), suspend);
        keys.add_binding(control, KeyCode::Char('c'), interrupt());
        // Ctrl+_ and Ctrl+/ are one byte to a terminal, which is read as Ctrl+7.
        for key in ['7', '_', '/'] {
            keys.add_binding(control, KeyCode::Char(key), ReedlineEvent::Edit(vec![EditCommand::Undo]));
        }
        // `/edit` does it, on a file of its own.
        keys.remove_binding(control, KeyCode::Char('o'));
        let complete = either(ReedlineEvent::Menu(MENU.into()), ReedlineEvent::MenuNext);
        keys.add_binding(KeyModifiers::NONE, KeyCode::Tab, complete);
        keys.add_binding(KeyModifiers::SHIFT, KeyCode::BackTab, ReedlineEvent::MenuPrevious);
        Keys { emacs: Emacs::new(keys), after_backslash: false, searching: false }
    }
}

fn interrupt() -> ReedlineEvent {
    ReedlineEvent::ExecuteHostCommand(INTERRUPT.into())
}

/// A paste, in which each `@` is marked; no key inserts more than a character.
fn marked(edit: EditCommand) -> EditCommand {
    match edit {
        EditCommand::InsertString(text) => EditCommand::InsertString(pasted(&text)),
        edit => edit,
    }
}

/// Whether a search of the history is over after this.
fn ends_search(event: &ReedlineEvent) -> bool {
    match event {
        ReedlineEvent::Enter | ReedlineEvent::Esc | ReedlineEvent::CtrlD => true,
        ReedlineEvent::UntilFound(events) => events.contains(&ReedlineEvent::HistoryHintComplete),
        _ => false,
    }
}

impl EditMode for Keys {
    fn parse_event(&mut self, event: ReedlineRawEvent) -> ReedlineEvent {
        let event = self.emacs.parse_event(event);
        let event = match event {
            ReedlineEvent::Edit(edits) => ReedlineEvent::Edit(edits.into_iter().map(marked).collect()),
            // In a search, Ctrl+C ends the search and no more.
            event if self.searching && event == interrupt() => ReedlineEvent::Esc,
            event => event,
        };
        self.searching = event == ReedlineEvent::SearchHistory || self.searching && !ends_search(&event);
        let typed = event == ReedlineEvent::Edit(vec![EditCommand::InsertChar('\\')]);
        match (std::mem::replace(&mut self.after_backslash, typed), &event) {
            (true, ReedlineEvent::Enter) => {
                ReedlineEvent::Edit(vec![EditCommand::Backspace, EditCommand::InsertNewline])
            }
            _ => event,
        }
    }

    fn edit_mode(&self) -> PromptEditMode {
        PromptEditMode::Emacs
    }
}
