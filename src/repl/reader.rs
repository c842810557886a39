//! Reading entries: with a line editor where there is a whole terminal, else line by line.

use std::borrow::Cow;
use std::io::{self, BufRead, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use reedline::{
    Color, EditCommand, FileBackedHistory, Highlighter, HistoryItem, Prompt, PromptEditMode,
    PromptHistorySearch, PromptHistorySearchStatus, PromptViMode, Reedline, ReedlineMenu, Signal, StyledText,
};
use rustix::process::{Signal as Sent, kill_current_process_group};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT};

use super::complain::complain;
use super::complete::{Completion, NoCompletion, Offered};
use super::grace::{CtrlC, ctrl_c, is_just_stopped};
use super::history::history;
use super::keys::{EDIT, Input, Keys, SUSPEND};
use super::line_end::SentLine;
use super::menu::QuietMenu;
use crate::term::{
    self, PASTED_AT, PASTED_BANG, Paint, TypeAhead, columns, folded_question, has_input, input_goes_on,
    is_dumb, pasted, show, stderr_is_terminal, stdin_is_gone, typed, unmarked,
};
use lepo_base::error::{Error, Kind, Result};
use lepo_net::runtime::{Blocking, blocking};
use lepo_store::store::Store;
use lepo_turn::Interrupt;
use lepo_turn::config::{EditKeys, Paths};

/// The editor looks ten times a second whether it is to stop; at a terminal that is gone it never does.
const GIVEN_UP_BY_THEN: Duration = Duration::from_millis(500);

/// No hand enters a line sooner.
const BY_HAND: Duration = Duration::from_millis(15);

/// Reads what a person enters.
pub struct Reader {
    /// None while it reads in a thread of its own.
    editor: Option<Reedline>,
    /// There is a whole terminal to edit on.
    edits: bool,
    /// Set, it makes the editor give up its line and put the terminal back as it was.
    stop: Arc<AtomicBool>,
    paint: Paint,
    /// The last entry was there before the prompt was: it was typed while an answer came.
    pub typed_ahead: bool,
    /// The places in the last entry of each `@` that was pasted.
    pub pasted: Vec<usize>,
    /// The last entry is pasted text that begins with a `!`.
    pub has_pasted_bang: bool,
    /// Input that is typed while no prompt reads it.
    ahead: Option<TypeAhead>,
    /// A prompt was shown.
    has_prompted: bool,
    /// The text that the next prompt begins with.
    given: String,
    /// The moment at which Ctrl+C stopped what was going on.
    stopped: Option<Instant>,
    /// Why the line that gave up is sent, if it is.
    sent: Arc<SentLine>,
    keys: EditKeys,
}

impl Reader {
    /// A reader; `paths` tell where it keeps what was entered, if it `keeps` that.
    pub fn new(
        paths: &Paths,
        store: Arc<Store>,
        offered: Offered,
        (paint, keeps, keys): (Paint, bool, EditKeys),
    ) -> Reader {
        let reader = Reader {
            editor: None,
            edits: is_whole_terminal(),
            stop: Arc::default(),
            paint,
            typed_ahead: false,
            pasted: Vec::new(),
            has_pasted_bang: false,
            ahead: None,
            has_prompted: false,
            given: String::new(),
            stopped: None,
            sent: Arc::default(),
            keys,
        };
        if !reader.edits {
            return reader;
        }
        let editor = reader
            .bare()
            .with_history(if keeps { history(&paths.state) } else { Box::<FileBackedHistory>::default() })
            .with_completer(Box::new(Completion::new(store, paths.clone(), offered)))
            .with_quick_completions(true)
            .with_partial_completions(true)
            .with_menu(ReedlineMenu::EngineCompleter(Box::new(QuietMenu::new(MARK))));
        Reader { editor: Some(editor), ..reader }
    }

    /// An editor that remembers nothing and completes nothing.
    fn bare(&self) -> Reedline {
        Reedline::create()
            .with_edit_mode(Box::new(Keys::new(self.keys, self.sent.clone(), self.stop.clone(), TERMINAL)))
            .with_highlighter(Box::new(AsTyped))
            .with_completer(Box::new(NoCompletion))
            .use_bracketed_paste(true)
            .with_break_signal(self.stop.clone())
    }

    /// Begins the next prompt with this text, as if it had been typed.
    pub fn give(&mut self, text: String) {
        self.given.insert_str(0, &text);
    }

    /// Notes that Ctrl+C stopped something just now: pressed again at once, it is not meant for the prompt.
    pub fn has_stopped(&mut self) {
        self.stopped = Some(Instant::now());
    }

    /// True if there is a terminal to edit on, and to ask on besides.
    pub fn edits(&self) -> bool {
        self.edits
    }

    /// The next entry; `None` at the end: Ctrl+D, Ctrl+C. A signal is the error. What was typed while an answer came,
    /// or before the first prompt, is in the editor then: only an Enter at the prompt sends it.
    pub async fn read(&mut self, interrupt: &Interrupt) -> Result<Option<String>> {
        self.pasted.clear();
        self.has_pasted_bang = false;
        let Some(mut editor) = self.editor.take() else {
            return self.read_plain(MARK, interrupt).await;
        };
        if !std::mem::replace(&mut self.has_prompted, true) {
            self.given += &typed(&TypeAhead::held());
        }
        self.take_typed();
        let given = std::mem::take(&mut self.given);
        editor.run_edit_commands(&[EditCommand::InsertString(given)]);
        let (sent, stopped) = (self.sent.clone(), self.stopped);
        let mark = Mark(MARK.into(), self.paint);
        let (waits, since, before) = (has_input(), Instant::now(), self.typed_ahead);
        let reading = blocking(move || {
            let read = edit(&mut editor, &mark, &sent, stopped);
            // Now, and not only at the end: what was asked is remembered, whatever becomes of the answer.
            let _ = editor.sync_history();
            read.map(|read| (editor, read))
        });
        let (editor, read) = self.wait(reading, interrupt).await?;
        self.editor = Some(editor);
        // The editor may have taken up several lines at once.
        self.typed_ahead = waits || (before && since.elapsed() < BY_HAND);
        Ok(read.map(|text| self.read_marks(&text)))
    }

    /// The text of an entry, and which of its characters were pasted.
    fn read_marks(&mut self, text: &str) -> String {
        self.pasted = text.match_indices(PASTED_AT).map(|(at, _)| at).collect();
        self.has_pasted_bang = text.starts_with(PASTED_BANG);
        unmarked(text)
    }

    /// The answer to a question of lepo's own, which is not remembered.
    pub async fn answer(&mut self, question: &'static str, interrupt: &Interrupt) -> Result<Option<String>> {
        if self.editor.is_none() {
            return self.read_plain(question, interrupt).await;
        }
        self.take_typed();
        let (before, question) = folded_question(question, columns());
        show(&before);
        let (mut editor, mark) = (self.bare(), Mark(question, self.paint));
        let sent = self.sent.clone();
        self.wait(blocking(move || edit(&mut editor, &mark, &sent, None)), interrupt).await
    }

    /// Puts what was kept into the next prompt.
    fn take_typed(&mut self) {
        let ahead = self.ahead.take().map(TypeAhead::take).unwrap_or_default();
        self.given += &typed(&ahead);
    }

    /// A line that the terminal itself edits.
    async fn read_plain(&self, question: &'static str, interrupt: &Interrupt) -> Result<Option<String>> {
        let read = self.wait(blocking(move || read_plainly(question)), interrupt).await;
        if !matches!(read, Ok(Some(_))) {
            // Left, the question stands on a line of its own.
            show("\n");
        }
        read
    }

    async fn wait<T>(&self, mut reading: Blocking<io::Result<T>>, interrupt: &Interrupt) -> Result<T> {
        let read = loop {
            tokio::select! {
            biased;
            signal = interrupt.wait() => {
                let is_ctrl_c = signal.kind == Kind::Signal(SIGINT as u8);
                if is_ctrl_c && is_just_stopped(self.stopped, Instant::now()) {
                    interrupt.reset();
                    continue;
                }
                // A line that is read plainly cannot be called back.
                if self.edits {
                    self.stop.store(true, Ordering::Relaxed);
                    let _ = tokio::time::timeout(GIVEN_UP_BY_THEN, reading).await;
                    leave_line();
                }
                return Err(signal);
            }
            () = hung_up(), if self.edits => {
                return Err(Error::new(Kind::Signal(SIGHUP as u8), "the terminal is gone"));
            }
            read = &mut reading => break read,
            }
        };
        read.flatten().map_err(|error| Error::usage("cannot read the terminal").because(error))
    }

    /// Keeps what is typed from now on for the next prompt: it does not stand in the answer.
    pub fn keep_typed(&mut self) {
        if self.edits && self.ahead.is_none() {
            self.ahead = TypeAhead::begin();
        }
    }
}

/// The input of the terminal itself.
const TERMINAL: Input = Input { goes_on: input_goes_on };

/// Waits until the terminal is gone. Its editor would read the end of it for ever, and with SIGHUP
/// ignored, nothing else would report it.
async fn hung_up() {
    while !stdin_is_gone() {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// A terminal all around, which can move its cursor and tell where it is.
fn is_whole_terminal() -> bool {
    !is_dumb() && io::stdin().is_terminal() && io::stdout().is_terminal() && stderr_is_terminal()
}

fn edit(
    editor: &mut Reedline,
    prompt: &Mark,
    sent: &SentLine,
    stopped: Option<Instant>,
) -> io::Result<Option<String>> {
    loop {
        match editor.read_line(prompt)? {
            Signal::Success(text) => return Ok(Some(text)),
            Signal::ExternalBreak(_) if sent.entered.swap(false, Ordering::Relaxed) => {
                return submit(editor, prompt);
            }
            // Enter in a search of the history: what was found is sent, unless nothing was.
            Signal::ExternalBreak(text) if sent.found.swap(false, Ordering::Relaxed) => {
                if !text.trim().is_empty() {
                    return submit(editor, prompt);
                }
            }
            Signal::HostCommand(what) if what == EDIT => edit_elsewhere(editor),
            // Ctrl+Z. The terminal is as it was before; the editor keeps the line until `fg`.
            Signal::HostCommand(what) if what == SUSPEND => stop_like_a_job()?,
            // Ctrl+C: words are cleared, and remembered; where there are none it leaves.
            Signal::HostCommand(_) => {
                let words = editor.current_buffer_contents().to_string();
                match ctrl_c(&words, stopped, Instant::now()) {
                    CtrlC::Nothing => {}
                    CtrlC::Leaves => {
                        // Ctrl+D ends the line by itself.
                        leave_line();
                        return Ok(None);
                    }
                    CtrlC::Clears => {
                        let _ = editor.history_mut().save(HistoryItem::from_command_line(words));
                        editor.run_edit_commands(&[EditCommand::Clear]);
                    }
                }
            }
            _ => return Ok(None),
        }
    }
}

/// Left, the prompt stands on a line of its own; what the editor has shown below it, like a menu, goes.
fn leave_line() {
    show("\x1b[J\n");
}

/// Sends the line as it stands.
fn submit(editor: &mut Reedline, prompt: &Mark) -> io::Result<Option<String>> {
    let at_once = |editor: &mut Reedline, at_once| {
        let taken = std::mem::replace(editor, Reedline::create());
        *editor = taken.with_immediately_accept(at_once);
    };
    at_once(editor, true);
    let read = editor.read_line(prompt);
    at_once(editor, false);
    Ok(match read? {
        Signal::Success(text) => Some(text),
        _ => None,
    })
}

/// Changes the line in the person's editor; what comes back is sent by an Enter.
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
        Err(error) => complain(&error),
    }
}

/// Stops the whole job, as the terminal itself does for Ctrl+Z, and comes back once it goes on.
fn stop_like_a_job() -> io::Result<()> {
    const STOPPED_BY_THEN: Duration = Duration::from_millis(100);
    let goes_on = Arc::new(AtomicBool::new(false));
    let heard = signal_hook::flag::register(SIGCONT, goes_on.clone())?;
    kill_current_process_group(Sent::TSTP)?;
    // This thread may run on for a moment; without a shell that could continue it, it is not stopped.
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

/// The prompt is one mark, and further lines stand under the first.
struct Mark(String, Paint);

impl Prompt for Mark {
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

/// No colours in what is typed; marks of pasted characters are not shown.
struct AsTyped;

impl Highlighter for AsTyped {
    fn highlight(&self, line: &str, _: usize) -> StyledText {
        let mut text = StyledText::new();
        text.push((Default::default(), unmarked(line)));
        text
    }
}
