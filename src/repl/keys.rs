//! The keys of the prompt: Emacs' as in every shell, and lepo's own.

use super::late_reply::LateReply;
use super::line_end::{EndKey, LineEnd, SentLine, is_line_feed};
use crate::term::pasted;
use lepo_turn::config::EditKeys;
use ratatui::crossterm::event::Event;
use reedline::{
    EditCommand, EditMode, Emacs, KeyCode, KeyModifiers, Keybindings, PromptEditMode, PromptViMode,
    ReedlineEvent, ReedlineRawEvent, Vi, default_emacs_keybindings, default_vi_insert_keybindings,
    default_vi_normal_keybindings, default_vi_visual_keybindings,
};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub const MENU: &str = "completion";

/// The line editor's return value for Ctrl+Z.
pub const SUSPEND: &str = "suspend";

/// The line editor's return value for Ctrl+C.
const INTERRUPT: &str = "interrupt";

/// The line editor's return value for Ctrl+X Ctrl+E.
pub const EDIT: &str = "edit";

/// The return value for Ctrl+X, the prefix of another key.
const PREFIX: &str = "prefix";

/// vi's insert mode.
const INSERT: PromptEditMode = PromptEditMode::Vi(PromptViMode::Insert);

/// An Enter counts if no key follows within this time: no user types that fast, and a program that types for one is
/// not slower.
const BURST: Duration = Duration::from_millis(30);

/// The number of times that the editor reads the mode before the first text of a burst counts: once for all keys,
/// once for the text.
const ASKED: u8 = 2;

/// Emacs' or vi's keys; Enter after a typed `\` replaces it by a new line.
///
/// The keys decide and not the text: a `\` at the end of pasted text is part of it.
pub struct Keys {
    mode: Box<dyn EditMode>,
    /// The binding of Ctrl+E without a preceding Ctrl+X.
    end_of_line: ReedlineEvent,
    after_backslash: bool,
    /// Whether keys that do not count yet typed text in vi's insert mode.
    is_typed: bool,
    /// The number of further reads for which the editor gets the insert mode.
    inserts: Cell<u8>,
    /// Whether the editor has read the mode: then all keys of a burst have been read.
    has_read_mode: Cell<bool>,
    /// The terminal's further input, after the keys read so far.
    input: Input,
    reply: LateReply,
    /// Whether Ctrl+X was the last key.
    has_ctrl_x: bool,
    /// Whether a search is open, since Ctrl+R.
    is_searching: bool,
    /// An Enter in a search sets its `found`, and `stop`, to send the found line.
    sent_line: Arc<SentLine>,
    line_end: LineEnd,
    /// If set, the editor returns its line.
    stop: Arc<AtomicBool>,
}

impl Keys {
    pub fn new(kind: EditKeys, sent_line: Arc<SentLine>, stop: Arc<AtomicBool>, input: Input) -> Keys {
        let (mode, end_of_line): (Box<dyn EditMode>, ReedlineEvent) = match kind {
            EditKeys::Emacs => {
                let mut keys = default_emacs_keybindings();
                let end_of_line = bind(&mut keys);
                bind_typing(&mut keys);
                (Box::new(Emacs::new(keys)), end_of_line)
            }
            EditKeys::Vi => {
                let (mut insert, mut normal, mut visual) = (
                    default_vi_insert_keybindings(),
                    default_vi_normal_keybindings(),
                    default_vi_visual_keybindings(),
                );
                bind(&mut visual);
                bind(&mut normal);
                let end_of_line = bind(&mut insert);
                bind_typing(&mut insert);
                let new_line = ReedlineEvent::Edit(vec![EditCommand::InsertNewline]);
                insert.add_binding(KeyModifiers::ALT, KeyCode::Enter, new_line);
                (Box::new(Vi::new(insert, normal, visual)), end_of_line)
            }
        };
        Keys {
            mode,
            end_of_line,
            after_backslash: false,
            is_typed: false,
            inserts: Cell::default(),
            has_read_mode: Cell::default(),
            input,
            reply: LateReply::default(),
            has_ctrl_x: false,
            is_searching: false,
            line_end: LineEnd::new(sent_line.clone(), stop.clone()),
            sent_line,
            stop,
        }
    }
}

/// Reads the terminal's input outside of the editor.
#[derive(Clone, Copy)]
pub struct Input {
    /// Whether more input arrives within this time.
    pub goes_on: fn(Duration) -> bool,
}

/// Binds lepo's own keys; returns the old binding of Ctrl+E.
fn bind(keys: &mut Keybindings) -> ReedlineEvent {
    let control = KeyModifiers::CONTROL;
    // reedline's own binding is undo, and a job could not be suspended.
    let suspend = ReedlineEvent::ExecuteHostCommand(SUSPEND.into());
    keys.add_binding(control, KeyCode::Char('z'), suspend);
    keys.add_binding(control, KeyCode::Char('c'), interrupt());
    let end_of_line = keys.find_binding(control, KeyCode::Char('e')).unwrap_or(ReedlineEvent::None);
    keys.add_binding(control, KeyCode::Char('x'), ReedlineEvent::ExecuteHostCommand(PREFIX.into()));
    keys.add_binding(control, KeyCode::Char('e'), ReedlineEvent::ExecuteHostCommand(EDIT.into()));
    let redo = ReedlineEvent::Edit(vec![EditCommand::Redo]);
    keys.add_binding(control, KeyCode::Char('g'), redo);
    // `/edit` opens an editor, on a separate file.
    keys.remove_binding(control, KeyCode::Char('o'));
    end_of_line
}

/// Binds the keys of text input.
fn bind_typing(keys: &mut Keybindings) {
    // Ctrl+_ and Ctrl+/ are one byte to a terminal, which is read as Ctrl+7.
    for key in ['7', '_', '/'] {
        let undo = ReedlineEvent::Edit(vec![EditCommand::Undo]);
        keys.add_binding(KeyModifiers::CONTROL, KeyCode::Char(key), undo);
    }
    let complete = ReedlineEvent::UntilFound(vec![ReedlineEvent::Menu(MENU.into()), ReedlineEvent::MenuNext]);
    keys.add_binding(KeyModifiers::NONE, KeyCode::Tab, complete);
    keys.add_binding(KeyModifiers::SHIFT, KeyCode::BackTab, ReedlineEvent::MenuPrevious);
}

/// Returns the event of Ctrl+C, which closes the menu first.
fn interrupt() -> ReedlineEvent {
    ReedlineEvent::Multiple(vec![ReedlineEvent::Esc, ReedlineEvent::ExecuteHostCommand(INTERRUPT.into())])
}

/// Marks each `@` of a paste; a key inserts only one character.
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
        ReedlineEvent::Multiple(events) => events.contains(&ReedlineEvent::Esc),
        _ => false,
    }
}

impl EditMode for Keys {
    fn parse_event(&mut self, event: ReedlineRawEvent) -> ReedlineEvent {
        let event: Event = event.into();
        if self.reply.consume(&event) {
            return ReedlineEvent::None;
        }
        if let Some(count) = self.reply.device(&event) {
            let is_text = matches!(self.mode.edit_mode(), PromptEditMode::Emacs | INSERT);
            return match is_text {
                true => ReedlineEvent::Edit(vec![EditCommand::Backspace; count]),
                false => ReedlineEvent::None,
            };
        }
        let (is_line_feed, was_searching) = (is_line_feed(&event), self.is_searching);
        let Ok(event) = ReedlineRawEvent::try_from(event) else { return ReedlineEvent::None };
        if self.has_read_mode.take() {
            (self.is_typed, self.inserts) = (false, Cell::default());
        }
        let before = self.mode.edit_mode();
        let event = self.mode.parse_event(event);
        if event == ReedlineEvent::SearchHistory && before != INSERT && before != PromptEditMode::Emacs {
            // The text of a search is typed in insert mode.
            self.mode.handle_mode_specific_event(ReedlineEvent::SwitchMode(INSERT));
        }
        if before == INSERT {
            self.is_typed |= matches!(event, ReedlineEvent::Edit(_));
            if self.is_typed && self.mode.edit_mode() != INSERT {
                self.inserts.set(ASKED);
            }
        }
        let prefixed = std::mem::replace(&mut self.has_ctrl_x, false);
        let event = match event {
            ReedlineEvent::ExecuteHostCommand(word) if word == PREFIX => {
                self.has_ctrl_x = true;
                return ReedlineEvent::None;
            }
            ReedlineEvent::ExecuteHostCommand(word) if word == EDIT && (!prefixed || self.is_searching) => {
                self.end_of_line.clone()
            }
            // Ctrl+G.
            ReedlineEvent::Edit(edits) if self.is_searching && edits == [EditCommand::Redo] => {
                ReedlineEvent::Esc
            }
            ReedlineEvent::Edit(edits) => ReedlineEvent::Edit(edits.into_iter().map(marked).collect()),
            // In a search, these only end the search, because the editor accepts no list of events there.
            ReedlineEvent::Multiple(events) if self.is_searching && events.contains(&ReedlineEvent::Esc) => {
                ReedlineEvent::Esc
            }
            event => event,
        };
        if self.is_searching && event == ReedlineEvent::Enter {
            // The editor would only insert the found line; if it returns now, the line is sent.
            self.sent_line.is_found.store(true, Ordering::Relaxed);
            self.stop.store(true, Ordering::Relaxed);
        }
        self.is_searching =
            event == ReedlineEvent::SearchHistory || self.is_searching && !ends_search(&event);
        let typed = event == ReedlineEvent::Edit(vec![EditCommand::InsertChar('\\')]);
        let event = match (std::mem::replace(&mut self.after_backslash, typed), &event) {
            (true, ReedlineEvent::Enter) => {
                ReedlineEvent::Edit(vec![EditCommand::Backspace, EditCommand::InsertNewline])
            }
            _ => event,
        };
        // Within a burst an Enter is a line break of text pasted without marks; only a resize may follow.
        let end = match event == ReedlineEvent::Enter && !was_searching {
            true if is_line_feed => Some(EndKey::LineFeed),
            true if !self.is_searching && (self.input.goes_on)(BURST) => Some(EndKey::Enter),
            _ => None,
        };
        self.line_end.before(event, end)
    }

    // The editor reads all keys of a burst before the first one counts, and would insert text in the mode of the
    // last one, in another order.
    fn edit_mode(&self) -> PromptEditMode {
        self.has_read_mode.set(true);
        self.reply.note_prompt();
        self.line_end.settle(|| (self.input.goes_on)(BURST));
        match self.inserts.get().checked_sub(1) {
            None => self.mode.edit_mode(),
            Some(left) => {
                self.inserts.set(left);
                INSERT
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::crossterm::event::KeyEvent;

    /// No input follows a key.
    const QUIET: Input = Input { goes_on: |_| false };

    /// Returns the effect of a key.
    fn press(keys: &mut Keys, code: KeyCode, modifiers: KeyModifiers) -> ReedlineEvent {
        let event = Event::Key(KeyEvent::new(code, modifiers));
        keys.parse_event(ReedlineRawEvent::try_from(event).unwrap())
    }

    fn typed(keys: &mut Keys, c: char) -> ReedlineEvent {
        press(keys, KeyCode::Char(c), KeyModifiers::NONE)
    }

    fn inserts(c: char) -> ReedlineEvent {
        ReedlineEvent::Edit(vec![EditCommand::InsertChar(c)])
    }

    #[test]
    fn with_vi_letters_are_text_until_escape_and_commands_after_it() {
        let mut keys = Keys::new(EditKeys::Vi, Arc::default(), Arc::default(), QUIET);
        assert!(matches!(keys.edit_mode(), PromptEditMode::Vi(PromptViMode::Insert)));
        assert_eq!(typed(&mut keys, 'x'), inserts('x'));
        assert_eq!(keys.edit_mode(), INSERT);
        press(&mut keys, KeyCode::Esc, KeyModifiers::NONE);
        assert!(matches!(keys.edit_mode(), PromptEditMode::Vi(PromptViMode::Normal)));
        assert_ne!(typed(&mut keys, 'x'), inserts('x'));
        typed(&mut keys, 'i');
        assert!(matches!(keys.edit_mode(), PromptEditMode::Vi(PromptViMode::Insert)));
        assert_eq!(typed(&mut keys, '한'), inserts('한'));

        let mut keys = Keys::new(EditKeys::Emacs, Arc::default(), Arc::default(), QUIET);
        press(&mut keys, KeyCode::Esc, KeyModifiers::NONE);
        assert!(matches!(keys.edit_mode(), PromptEditMode::Emacs));
        assert_eq!(typed(&mut keys, 'x'), inserts('x'));
    }

    #[test]
    fn text_before_an_escape_in_one_burst_is_typed_in_its_own_mode() {
        let normal = PromptEditMode::Vi(PromptViMode::Normal);
        let mut keys = Keys::new(EditKeys::Vi, Arc::default(), Arc::default(), QUIET);
        typed(&mut keys, '가');
        typed(&mut keys, '나');
        press(&mut keys, KeyCode::Esc, KeyModifiers::NONE);
        // For all keys, for the text, for the Escape.
        assert_eq!([keys.edit_mode(), keys.edit_mode(), keys.edit_mode()], [INSERT, INSERT, normal.clone()]);
        // The rest of a burst may be dropped.
        typed(&mut keys, 'i');
        typed(&mut keys, '다');
        press(&mut keys, KeyCode::Esc, KeyModifiers::NONE);
        assert_eq!(keys.edit_mode(), INSERT);
        typed(&mut keys, '0');
        assert_eq!(keys.edit_mode(), normal);
    }

    #[test]
    fn a_search_of_the_history_is_typed_and_left_with_every_key_that_leaves() {
        for kind in [EditKeys::Emacs, EditKeys::Vi] {
            let [c, g] = ['c', 'g'].map(|key| (KeyCode::Char(key), KeyModifiers::CONTROL));
            for (code, modifiers) in [(KeyCode::Esc, KeyModifiers::NONE), c, g] {
                let mut keys = Keys::new(kind, Arc::default(), Arc::default(), QUIET);
                press(&mut keys, KeyCode::Esc, KeyModifiers::NONE);
                let search = press(&mut keys, KeyCode::Char('r'), KeyModifiers::CONTROL);
                assert_eq!(search, ReedlineEvent::SearchHistory);
                assert_eq!(typed(&mut keys, 'd'), inserts('d'));
                assert_eq!(press(&mut keys, code, modifiers), ReedlineEvent::Esc, "{kind:?} {code:?}");
                assert!(!keys.is_searching);
            }
        }
    }

    #[test]
    fn lepos_own_keys_are_the_same_with_both() {
        for kind in [EditKeys::Emacs, EditKeys::Vi] {
            let mut keys = Keys::new(kind, Arc::default(), Arc::default(), QUIET);
            let control = KeyModifiers::CONTROL;
            let word = |word: &str| ReedlineEvent::ExecuteHostCommand(word.into());
            assert_eq!(press(&mut keys, KeyCode::Char('c'), control), interrupt());
            assert_eq!(press(&mut keys, KeyCode::Char('z'), control), word(SUSPEND));
            assert_eq!(press(&mut keys, KeyCode::Char('x'), control), ReedlineEvent::None);
            assert_eq!(press(&mut keys, KeyCode::Char('e'), control), word(EDIT));
            assert_ne!(press(&mut keys, KeyCode::Char('e'), control), word(EDIT));
            // Enter after a `\\` is a new line.
            assert_eq!(typed(&mut keys, '\\'), inserts('\\'));
            let new_line = ReedlineEvent::Edit(vec![EditCommand::Backspace, EditCommand::InsertNewline]);
            assert_eq!(press(&mut keys, KeyCode::Enter, KeyModifiers::NONE), new_line);
            assert_eq!(press(&mut keys, KeyCode::Enter, KeyModifiers::NONE), ReedlineEvent::Enter);
        }
    }

    #[test]
    fn an_enter_within_a_burst_is_a_line_break() {
        let enter = |input: Input| {
            let mut keys = Keys::new(EditKeys::Emacs, Arc::default(), Arc::default(), input);
            (press(&mut keys, KeyCode::Enter, KeyModifiers::NONE), typed(&mut keys, 'x'))
        };
        let broken = ReedlineEvent::Edit(vec![EditCommand::InsertNewline, EditCommand::InsertChar('x')]);
        assert_eq!(enter(Input { goes_on: |_| true }), (ReedlineEvent::None, broken));
        assert_eq!(enter(QUIET), (ReedlineEvent::Enter, inserts('x')));
    }
}
