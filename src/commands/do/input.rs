//! Builds the question from the command line, files and stdin, and finds the prompt or the skill of `-T NAME`.

use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use super::DoArgs;
use crate::commands::Context;
use crate::commands::user_env::UserEnv;
use crate::repl::mentioned_files;
use crate::term::{StatusLine, one_line, print_status, stderr_is_terminal};
use crate::ui::notice_lines;
use lepo_base::error::{Error, Result, quoted};
use lepo_base::hint::HintTarget;
use lepo_net::fetch::is_url;
use lepo_turn::attach::{FileContent, FileGatherer, NewFile, same_name};
use lepo_turn::config::{PromptTemplate, TemplateValues, load_settings};
use lepo_turn::skills::{Skill, Skills};
use lepo_turn::{
    ContextFile, PromptLibrary, Question, QuestionPart, join_parts, no_such_prompt, text_of_bytes,
};

const STDIN: &str = "-";

/// Maximum bytes of stdin: endless input is rejected before memory is full.
const MOST: usize = 256 << 20;

/// Time of silence on stdin before a note says that lepo waits for it.
const PATIENCE: Duration = Duration::from_secs(2);

/// Returns the prompt that `-T` names, preferring the store's if it is trusted; or else the skill to ask
/// with. Without a question, a skill asks for itself.
pub fn find_prompt_or_skill(
    args: &mut DoArgs,
    context: &Context<'_>,
) -> Result<(Option<PromptTemplate>, Option<Skill>)> {
    let Some(name) = args.template.clone() else { return Ok((None, None)) };
    let user = context.user_env()?;
    let UserEnv { env, paths } = &*user;
    let store = context.find_store()?;
    if let Some(prompt) = (PromptLibrary { store: store.as_ref(), paths }).find(&name)? {
        return Ok((Some(prompt), None));
    }
    let settings = load_settings(paths, env, None, &args.flags()?)?;
    if !settings.skills {
        return Err(no_such_prompt(&name));
    }
    let skill = Skills::read(context.cwd(), paths)?.get(&name, no_such_prompt(&name))?;
    if args.group.mode().is_some() {
        return Err(Error::usage(format!("{name} is a skill, which only one model can use"))
            .hint("leave out --parallel or --debate"));
    }
    if args.prompt.is_empty() && args.file.is_empty() {
        args.prompt.push(skill.asks_for_itself());
    }
    Ok((None, Some(skill)))
}

/// Returns the question; `None` without one on a terminal, which starts a session.
pub fn question(args: &DoArgs, prompt: Option<&PromptTemplate>) -> Result<Option<Question>> {
    let mut parts = Vec::new();
    let mut names_stdin = args.attach.iter().any(|path| path.as_os_str() == STDIN);
    if prompt.is_none() && args.prompt == [STDIN] {
        if std::mem::replace(&mut names_stdin, true) {
            return Err(twice());
        }
        parts.push(part("stdin", NewFile::of_bytes("stdin", stdin(!args.quiet)?)?));
    } else if prompt.is_none() && !args.prompt.is_empty() {
        let bytes = args.prompt.join(" ").into_bytes();
        parts.push(QuestionPart { is_typed: true, ..part("PROMPT", FileContent::Other(bytes)) });
    }
    let mut gathering = if args.dry_run { FileGatherer::offline() } else { FileGatherer::default() };
    for path in &args.file {
        if path.as_os_str() == STDIN {
            if std::mem::replace(&mut names_stdin, true) {
                return Err(twice());
            }
            let content = NewFile::of_bytes("stdin", stdin(!args.quiet)?)?;
            parts.push(QuestionPart {
                from: "stdin".to_string(),
                content,
                is_fenced: args.file.len() > 1,
                is_typed: false,
            });
            continue;
        }
        // A single prose file is the question or a part of it; other files get a heading with their name.
        let fenced = args.file.len() > 1 || !is_prose(path);
        for ContextFile { path, content } in gathering.add_path(path)? {
            parts.push(QuestionPart { from: path, content, is_fenced: fenced, is_typed: false });
        }
    }
    let terminal = std::io::stdin().is_terminal();
    if terminal && !args.no_stdin && parts.is_empty() && args.attach.is_empty() && prompt.is_none() {
        return Ok(None);
    }
    if !terminal && !args.no_stdin && !names_stdin {
        let bytes = stdin(!parts.is_empty() && !args.quiet)?;
        if bytes.is_empty() && !parts.is_empty() && !args.quiet && stderr_is_terminal() && is_pipe() {
            print_status(&StatusLine::note("nothing came on stdin"));
        }
        parts.push(part("stdin", NewFile::of_bytes("stdin", bytes)?));
    }
    if let Some(prompt) = prompt {
        fill(prompt, args, &mut parts)?;
    }
    let is_blank = |part: &QuestionPart| matches!(&part.content, FileContent::Other(bytes) if bytes.trim_ascii().is_empty());
    if args.server_prompt.is_some() && args.attach.is_empty() && parts.iter().all(is_blank) {
        return Ok(None);
    }
    if prompt.is_none() && !args.quiet && stderr_is_terminal() {
        // A session sends them, but the argument of a script may be any text.
        let sent: Vec<&PathBuf> = args.file.iter().chain(&args.context).chain(&args.attach).collect();
        let mentioned = mentioned_files(&args.prompt.join(" "));
        for path in mentioned.iter().filter(|path| !sent.contains(&&PathBuf::from(path.as_str()))) {
            let note = format!("@{path} is sent as text; -f FILE sends a file");
            print_status(&StatusLine::note(one_line(&note)));
        }
        let is_path = |word: &&String| word.contains(['.', '/']) && Path::new(word.as_str()).is_file();
        for path in args.prompt.iter().filter(|word| args.prompt.len() > 1 && is_path(word)) {
            let note = format!("{path} is sent as text; -f {} sends the file", quoted(path));
            print_status(&StatusLine::note(one_line(&note)));
        }
    }
    let mut context = Vec::new();
    let files =
        args.context.iter().filter(|path| !path.to_str().is_some_and(|path| path.starts_with("mcp:")));
    for path in files {
        context.extend(gathering.add_path(path)?);
    }
    if !args.quiet {
        gathering
            .notes()
            .iter()
            .flat_map(|note| notice_lines(note, HintTarget::SHELL))
            .for_each(|line| print_status(&line));
    }
    let is_page = |path: &&PathBuf| args.dry_run && path.to_str().is_some_and(is_url);
    for path in args.attach.iter().filter(is_page) {
        context.extend(gathering.add_path(path)?);
    }
    let attached = args.attach.iter().filter(|path| !is_page(path));
    let attached = attached.map(|path| attach(path, !args.quiet)).collect::<Result<_>>()?;
    let question = join_parts(parts, context, attached)?;
    let (of_folders, of_files) = (gathering.tokens(), gathering.all_tokens());
    Ok(Some(Question { of_folders, of_files, ..question }))
}

/// Inserts the filled prompt before the parts; stdin is removed as a part if the prompt contains it.
fn fill(prompt: &PromptTemplate, args: &DoArgs, parts: &mut Vec<QuestionPart>) -> Result<()> {
    let is_text = |part: &QuestionPart| part.from == "stdin" && matches!(part.content, FileContent::Other(_));
    let at = parts.iter().position(is_text);
    let piped = match at.map(|at| &parts[at].content) {
        Some(FileContent::Other(bytes)) => {
            Some(text_of_bytes("stdin", bytes)?.trim_end_matches(['\n', '\r']))
        }
        _ => None,
    };
    let name = args.template.as_deref().unwrap_or_default();
    let (text, used) = prompt.fill(name, TemplateValues { args: &args.prompt, stdin: piped })?;
    if let Some(at) = at.filter(|_| used) {
        parts.remove(at);
    }
    // With stdin inserted, the text is not only the user's own.
    parts.insert(
        0,
        QuestionPart { is_typed: at.is_none() || !used, ..part(name, FileContent::Other(text.into_bytes())) },
    );
    Ok(())
}

/// Whether a file can be a question itself; code, data, web pages and folders are its subject.
fn is_prose(path: &Path) -> bool {
    let ends = path.extension().and_then(|ends| ends.to_str()).map(str::to_ascii_lowercase);
    let is_page = path.to_str().is_some_and(is_url);
    !is_page && !path.is_dir() && matches!(ends.as_deref(), Some("md" | "txt"))
}

fn twice() -> Error {
    Error::usage("`-` appears twice, but stdin can be read only once")
}

/// Creates a part without a code fence.
fn part(from: &str, content: FileContent) -> QuestionPart {
    QuestionPart { from: from.to_string(), content, is_fenced: false, is_typed: false }
}

fn attach(path: &Path, with_note: bool) -> Result<NewFile> {
    match path.to_str() {
        Some(STDIN) => NewFile::read("stdin", stdin(with_note)?),
        Some(address) if is_url(address) => NewFile::fetch(address),
        _ => NewFile::open(&same_name(path)),
    }
}

/// Whether stdin is a pipe: the command before it was expected to print something.
fn is_pipe() -> bool {
    let stat = rustix::fs::fstat(std::io::stdin());
    stat.is_ok_and(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::Fifo)
}

/// Reads all of stdin. If `with_note`, prints a note while lepo waits for it.
fn stdin(with_note: bool) -> Result<Vec<u8>> {
    let (sender, receiver) = channel();
    let failed = |error| Error::store("cannot start a thread").because(error);
    let reading = std::thread::Builder::new().spawn(move || {
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().take(MOST as u64 + 1).read_to_end(&mut bytes);
        let _ = sender.send(read.map(|_| bytes));
    });
    let reading = reading.map_err(failed)?;
    let mut received = receiver.recv_timeout(PATIENCE);
    if let Err(RecvTimeoutError::Timeout) = received {
        if with_note {
            print_status(
                "waiting for the end of stdin, which belongs to the question; --no-stdin leaves it alone",
            );
        }
        received = receiver.recv().map_err(RecvTimeoutError::from);
    }
    let _ = reading.join();
    let bytes = received
        .unwrap_or_else(|_| Err(std::io::Error::other("the reader ended early")))
        .map_err(|error| Error::usage("cannot read stdin").because(error))?;
    match bytes.len() > MOST {
        true => Err(Error::usage(format!("stdin is larger than {} MiB", MOST >> 20))
            .hint("send only the part that matters, or leave stdin alone: --no-stdin")),
        false => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_to_attach_is_found_as_its_name_is_typed() {
        let dir = tempfile::tempdir().unwrap();
        let (typed, kept) = ("\u{d68c}\u{c758}.pdf", "\u{1112}\u{116c}\u{110b}\u{1174}.pdf");
        std::fs::write(dir.path().join(kept), "%PDF-1.4\n").unwrap();
        assert_eq!(attach(&dir.path().join(typed), false).unwrap().len, 9);
        assert!(attach(&dir.path().join("none.pdf"), false).is_err());
    }
}
