//! Reads entries: with a line editor on a complete terminal, else line by line.

use std::borrow::Cow;
use std::io::{self, BufRead, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use reedline::{
    Color, EditCommand, FileBackedHistory, Highlighter, HistoryItem, Osc133Markers, Prompt, PromptEditMode,
    PromptHistorySearch, PromptHistorySearchStatus, PromptViMode, Reedline, ReedlineMenu, Signal, StyledText,
};
use rustix::process::{Signal as Sent, kill_current_process_group};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT};

use super::complete::{Completion, CompletionWords, NoCompletion};
use super::ctrl_c::{CtrlC, ctrl_c, is_just_stopped};
use super::error_line::print_error;
use super::history::history;
use super::keys::{EDIT, Input, Keys, SUSPEND};
use super::line_end::SentLine;
use super::menu::QuietMenu;
use crate::term::{
    self, PASTED_AT, PASTED_BANG, Paint, Relay, TypeAhead, columns, folded_question, has_input,
    has_more_input, is_dumb, key_text, pasted, show, stderr_is_terminal, stdin_is_gone, take_entry, unmarked,
};
use lepo_base::error::{Error, ExitKind, Result};
use lepo_net::runtime::{BlockingTask, blocking};
use lepo_store::store::Store;
use lepo_turn::Interrupt;
use lepo_turn::config::{EditKeys, Paths};

/// The time for the editor to stop: it checks ten times a second, but never on a lost terminal.
const GIVEN_UP_BY_THEN: Duration = Duration::from_millis(500);

/// A user cannot enter a line faster.
const BY_HAND: Duration = Duration::from_millis(15);

/// Reads the user's entries.
pub struct PromptReader {
    /// `None` while it reads in its own thread.
    editor: Option<Reedline>,
    /// Whether there is a complete terminal for line editing.
    edits: bool,
    /// If set, the editor returns its line and restores the terminal.
    stop: Arc<AtomicBool>,
    paint: Paint,
    /// Whether the last entry precedes its prompt: the user typed it during an answer.
    pub typed_ahead: bool,
    /// The offsets of each pasted `@` in the last entry.
    pub pasted: Vec<usize>,
    /// Whether the last entry is pasted text that starts with a `!`.
    pub has_pasted_bang: bool,
    /// Input typed while no prompt reads it.
    type_ahead: Option<TypeAhead>,
    /// Whether a prompt was printed.
    has_prompted: bool,
    /// The initial text of the next prompt.
    initial_text: String,
    /// The time at which Ctrl+C interrupted a turn.
    stopped: Option<Instant>,
    /// The reason to send a returned line.
    sent_line: Arc<SentLine>,
    keys: EditKeys,
}

impl PromptReader {
    /// Creates a reader. If it `keeps` a history, `paths` has the file.
    pub fn new(
        paths: &Paths,
        store: Arc<Store>,
        offered: CompletionWords,
        (paint, keeps, keys): (Paint, bool, EditKeys),
    ) -> PromptReader {
        let reader = PromptReader {
            editor: None,
            edits: is_whole_terminal(),
            stop: Arc::default(),
            paint,
            typed_ahead: false,
            pasted: Vec::new(),
            has_pasted_bang: false,
            type_ahead: None,
            has_prompted: false,
            initial_text: String::new(),
            stopped: None,
            sent_line: Arc::default(),
            keys,
        };
        if !reader.edits {
            return reader;
        }
        let editor = reader
            .bare()
            .with_semantic_markers(Some(Osc133Markers::boxed()))
            .with_history(if keeps { history(&paths.state) } else { Box::<FileBackedHistory>::default() })
            .with_completer(Box::new(Completion::new(store, paths.clone(), offered)))
            .with_quick_completions(true)
            .with_partial_completions(true)
            .with_menu(ReedlineMenu::EngineCompleter(Box::new(QuietMenu::new(MARK))));
        PromptReader { editor: Some(editor), ..reader }
    }

    /// Returns an editor without history and completion.
    fn bare(&self) -> Reedline {
        let keys = Keys::new(self.keys, self.sent_line.clone(), self.stop.clone(), TERMINAL);
        Reedline::create()
            .with_edit_mode(Box::new(keys))
            .with_highlighter(Box::new(PlainHighlighter))
            .with_completer(Box::new(NoCompletion))
            .use_bracketed_paste(true)
            .with_break_signal(self.stop.clone())
    }

    /// Starts the next prompt with this text, as if typed.
    pub fn prefill(&mut self, text: String) {
        self.initial_text.insert_str(0, &text);
    }

    /// Notes that Ctrl+C has interrupted a turn: a second Ctrl+C soon after it is not meant for the prompt.
    pub fn has_stopped(&mut self) {
        self.stopped = Some(Instant::now());
    }

    /// Whether there is a terminal for line editing, and so for questions, too.
    pub fn edits(&self) -> bool {
        self.edits
    }

    /// Returns the next entry; `None` at the end: Ctrl+D, Ctrl+C. A signal is the error. Input typed during an
    /// answer, or before the first prompt, is the initial text of the editor: only an Enter at the prompt sends it.
    pub async fn read(&mut self, interrupt: &Interrupt) -> Result<Option<String>> {
        self.pasted.clear();
        self.has_pasted_bang = false;
        let Some(mut editor) = self.editor.take() else {
            return self.read_plain(MARK, interrupt).await;
        };
        if !std::mem::replace(&mut self.has_prompted, true) {
            self.initial_text += &key_text(&TypeAhead::buffered());
        }
        self.restore_typed();
        let initial = take_entry(&mut self.initial_text);
        editor.run_edit_commands(&[EditCommand::InsertString(initial)]);
        let (sent, stopped) = (self.sent_line.clone(), self.stopped);
        let mark = PromptMark(MARK.into(), self.paint);
        let (waits, since, before) = (has_input(), Instant::now(), self.typed_ahead);
        let reading = blocking(move || {
            let read = edit(&mut editor, &mark, &sent, stopped);
            // Saved now, and not only at the end, so that the history has the question whatever happens to the
            // answer.
            let _ = editor.sync_history();
            read.map(|read| (editor, read))
        });
        let (editor, read) = self.wait(reading, interrupt).await?;
        self.editor = Some(editor);
        // The editor may have read several lines together.
        self.typed_ahead = waits || (before && since.elapsed() < BY_HAND);
        Ok(read.map(|text| self.read_marks(&text)))
    }

    /// Returns the text of an entry, and notes which characters were pasted.
    fn read_marks(&mut self, text: &str) -> String {
        self.pasted = text.match_indices(PASTED_AT).map(|(at, _)| at).collect();
        self.has_pasted_bang = text.starts_with(PASTED_BANG);
        unmarked(text)
    }

    /// Returns the answer to a question of lepo's own, which the history omits.
    pub async fn answer(&mut self, question: &'static str, interrupt: &Interrupt) -> Result<Option<String>> {
        if self.editor.is_none() {
            return self.read_plain(question, interrupt).await;
        }
        self.restore_typed();
        let (before, question) = folded_question(question, columns());
        show(&before);
        let (mut editor, mark) = (self.bare(), PromptMark(question, self.paint));
        let sent = self.sent_line.clone();
        self.wait(blocking(move || edit(&mut editor, &mark, &sent, None)), interrupt).await
    }

    /// Moves the buffered input into the next prompt.
    fn restore_typed(&mut self) {
        let mut ahead = Relay::unread();
        ahead.extend(self.type_ahead.take().map(TypeAhead::finish).unwrap_or_default());
        self.initial_text += &key_text(&ahead);
    }

    /// Reads a line that the terminal itself edits.
    async fn read_plain(&self, question: &'static str, interrupt: &Interrupt) -> Result<Option<String>> {
        let read = self.wait(blocking(move || read_plainly(question)), interrupt).await;
        if !matches!(read, Ok(Some(_))) {
            // Before leaving: end the line of the question.
            show("\n");
        }
        read
    }

    async fn wait<T>(&self, mut reading: BlockingTask<io::Result<T>>, interrupt: &Interrupt) -> Result<T> {
        let read = loop {
            tokio::select! {
            biased;
            signal = interrupt.wait() => {
                let is_ctrl_c = signal.kind == ExitKind::Signal(SIGINT as u8);
                if is_ctrl_c && is_just_stopped(self.stopped, Instant::now()) {
                    interrupt.reset();
                    continue;
                }
                // A read without an editor cannot be cancelled.
                if self.edits {
                    self.stop.store(true, Ordering::Relaxed);
                    let _ = tokio::time::timeout(GIVEN_UP_BY_THEN, reading).await;
                    leave_line();
                }
                return Err(signal);
            }
            () = hung_up(), if self.edits => {
                return Err(Error::new(ExitKind::Signal(SIGHUP as u8), "the terminal is gone"));
            }
            read = &mut reading => break read,
            }
        };
        read.flatten().map_err(|error| Error::usage("cannot read the terminal").because(error))
    }

    /// Buffers further input for the next prompt, and hides it from the answer.
    pub fn buffer_typed(&mut self) {
        if self.edits && self.type_ahead.is_none() {
            self.type_ahead = TypeAhead::start();
        }
    }
}

const TERMINAL: Input = Input { goes_on: has_more_input };

/// Waits until the terminal is gone. The editor would read its end forever, and with SIGHUP ignored, nothing else
/// would report it.
async fn hung_up() {
    while !stdin_is_gone() {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// Whether stdin, stdout and stderr are a terminal that can move its cursor and report its position.
fn is_whole_terminal() -> bool {
    !is_dumb() && io::stdin().is_terminal() && io::stdout().is_terminal() && stderr_is_terminal()
}

fn edit(
    editor: &mut Reedline,
    prompt: &PromptMark,
    sent: &SentLine,
    stopped: Option<Instant>,
) -> io::Result<Option<String>> {
    loop {
        match read_line(editor, prompt)? {
            Signal::Success(text) => return Ok(Some(text)),
            Signal::ExternalBreak(_) if sent.is_entered.swap(false, Ordering::Relaxed) => {
                return submit(editor, prompt);
            }
            // Enter in a search of the history sends the found line, if any.
            Signal::ExternalBreak(text) if sent.is_found.swap(false, Ordering::Relaxed) => {
                if !text.trim().is_empty() {
                    return submit(editor, prompt);
                }
            }
            Signal::HostCommand(what) if what == EDIT => edit_elsewhere(editor),
            // Ctrl+Z. The terminal is restored; the editor has the line until `fg`.
            Signal::HostCommand(what) if what == SUSPEND => stop_like_a_job()?,
            // Ctrl+C clears a line, with an entry in the history; on an empty line it leaves.
            Signal::HostCommand(_) => {
                let buffer = editor.current_buffer_contents().to_string();
                match ctrl_c(&buffer, stopped, Instant::now()) {
                    CtrlC::Nothing => {}
                    CtrlC::Leaves => {
                        // For Ctrl+D, the editor ends the line.
                        leave_line();
                        return Ok(None);
                    }
                    CtrlC::Clears => {
                        let _ = editor.history_mut().save(HistoryItem::from_command_line(buffer));
                        editor.run_edit_commands(&[EditCommand::Clear]);
                    }
                }
            }
            _ => return Ok(None),
        }
    }
}

fn read_line(editor: &mut Reedline, prompt: &PromptMark) -> io::Result<Signal> {
    let _relay = Relay::start();
    editor.read_line(prompt)
}

/// Before leaving: clear the menu below the prompt and end its line.
fn leave_line() {
    show("\x1b[J\n");
}

/// Sends the line unchanged.
fn submit(editor: &mut Reedline, prompt: &PromptMark) -> io::Result<Option<String>> {
    let at_once = |editor: &mut Reedline, at_once| {
        let taken = std::mem::replace(editor, Reedline::create());
        *editor = taken.with_immediately_accept(at_once);
    };
    at_once(editor, true);
    let read = read_line(editor, prompt);
    at_once(editor, false);
    Ok(match read? {
        Signal::Success(text) => Some(text),
        _ => None,
    })
}

/// Changes the line in the user's editor; an Enter then sends it.
fn edit_elsewhere(editor: &mut Reedline) {
    let old = editor.current_buffer_contents().to_string();
    let edited = term::edit(unmarked(&old).as_bytes(), ".md").and_then(|bytes| {
        String::from_utf8(bytes).map_err(|error| Error::usage("the text is not UTF-8").because(error))
    });
    match edited {
        Ok(text) => {
            let text = text.trim_end_matches(['\n', '\r']);
            let text = if old.contains([PASTED_AT, PASTED_BANG]) { pasted(text) } else { text.to_string() };
            editor.run_edit_commands(&[EditCommand::Clear, EditCommand::InsertString(text)]);
        }
        Err(error) => print_error(&error),
    }
}

/// Suspends the whole job, as the terminal itself does for Ctrl+Z, and returns once it is continued.
fn stop_like_a_job() -> io::Result<()> {
    const STOPPED_BY_THEN: Duration = Duration::from_millis(100);
    let goes_on = Arc::new(AtomicBool::new(false));
    let heard = signal_hook::flag::register(SIGCONT, goes_on.clone())?;
    kill_current_process_group(Sent::TSTP)?;
    // This thread may run for another moment; without a shell that could continue the job, it is not suspended.
    let sent = Instant::now();
    while !goes_on.load(Ordering::Relaxed) && sent.elapsed() < STOPPED_BY_THEN {
        std::thread::sleep(Duration::from_millis(1));
    }
    signal_hook::low_level::unregister(heard);
    Ok(())
}

fn read_plainly(prompt: &str) -> io::Result<Option<String>> {
    show(prompt);
    let mut line = Vec::new();
    let read = io::stdin().lock().read_until(b'\n', &mut line)?;
    Ok((read > 0).then(|| String::from_utf8_lossy(&line).into_owned()))
}

const MARK: &str = "> ";

/// The prompt is one mark; further lines are aligned with the first.
struct PromptMark(String, Paint);

impl Prompt for PromptMark {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_indicator(&self, mode: PromptEditMode) -> Cow<'_, str> {
        match mode {
            PromptEditMode::Vi(PromptViMode::Normal) if self.0 == MARK => Cow::Borrowed(": "),
            _ => Cow::Borrowed(&self.0),
        }
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        Cow::Borrowed("  ")
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        let found = match search.status {
            PromptHistorySearchStatus::Passing => "search",
            PromptHistorySearchStatus::Failing => "not found",
        };
        Cow::Owned(format!("({found}: {}) ", search.term))
    }

    fn get_indicator_color(&self) -> Color {
        if self.1.is_on() { Color::Cyan } else { Color::Default }
    }
}

/// Prints input without colours, and without the marks of pasted characters.
struct PlainHighlighter;

impl Highlighter for PlainHighlighter {
    fn highlight(&self, line: &str, _: usize) -> StyledText {
        let mut text = StyledText::new();
        text.push((Default::default(), unmarked(line)));
        text
    }
}
