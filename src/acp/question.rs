//! Makes a question from the blocks of a prompt: text, files below the folder as context, images as attachments.

use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use url::Url;

use crate::term::{StatusLine, one_line};
use crate::ui::notice_lines;
use lepo_acp::content::{ContentBlock, EmbeddedResource};
use lepo_base::error::{Error, Result};
use lepo_base::hint::HintTarget;
use lepo_turn::attach::{FileContent, FileGatherer, NewFile};
use lepo_turn::{ContextFile, Question, QuestionPart, join_parts};

#[derive(Default)]
pub struct PromptInput {
    pub text: String,
    /// The skipped parts, each with the reason.
    pub notes: Vec<StatusLine>,
    context: Vec<ContextFile>,
    files: Vec<NewFile>,
    /// The error of the first block that cannot be sent.
    wrong: Option<Error>,
    /// Whether the last block was text.
    ends_in_words: bool,
}

impl PromptInput {
    /// Parses the blocks of a prompt for a folder.
    pub fn read(blocks: Vec<ContentBlock>, cwd: &Path) -> PromptInput {
        let mut entry = PromptInput::default();
        for block in blocks {
            let is_words = matches!(block, ContentBlock::Text { .. });
            if let Err(error) = entry.block(block, cwd) {
                entry.wrong.get_or_insert(error);
            }
            entry.ends_in_words = is_words;
        }
        entry
    }

    /// Whether the prompt is only text.
    pub fn is_words(&self) -> bool {
        self.context.is_empty() && self.files.is_empty() && self.wrong.is_none()
    }

    /// Returns the question with all attachments; an error comes with the text of the prompt.
    pub fn question(self) -> std::result::Result<Question, Box<(Error, String)>> {
        let PromptInput { text, context, files, wrong, .. } = self;
        match wrong {
            Some(error) => Err(Box::new((error, text))),
            None => {
                join_parts(vec![text_part(&text)], context, files).map_err(|error| Box::new((error, text)))
            }
        }
    }

    fn block(&mut self, block: ContentBlock, cwd: &Path) -> Result<()> {
        match block {
            ContentBlock::Text { text } => {
                if self.ends_in_words && !self.text.ends_with(char::is_whitespace) {
                    self.text.push_str("\n\n");
                }
                self.text.push_str(&text);
            }
            ContentBlock::Image { data, .. } => {
                let file = NewFile::read("image", decoded("the image", &data)?)?;
                self.files.push(file);
            }
            ContentBlock::ResourceLink { uri, name } => match below(cwd, &uri) {
                Some((path, shown)) => {
                    self.mention(&shown);
                    let mut gathering = FileGatherer::default();
                    let added = gathering.add_path(&path)?;
                    self.notes.extend(
                        gathering.notes().iter().flat_map(|note| notice_lines(note, HintTarget::Session)),
                    );
                    let name = |file: ContextFile| {
                        let path = Path::new(&file.path);
                        let below = path.strip_prefix(path_of(cwd)).unwrap_or(path);
                        ContextFile { path: one_line(&below.to_string_lossy()), ..file }
                    };
                    self.context.extend(added.into_iter().map(name));
                }
                None if is_web(&uri) => self.web_link(&one_line(&name), &without_user_info(&uri)),
                None => {
                    self.mention(&one_line(&name));
                    self.notes.push(StatusLine::note(format!(
                        "{} is not sent: it is not a file below {}",
                        shortened(&uri),
                        cwd.display()
                    )));
                }
            },
            ContentBlock::Resource { resource: EmbeddedResource::Text { uri, text } } => {
                let path = self.mention_of(cwd, &uri);
                self.context.push(ContextFile { path, content: FileContent::Other(text.into_bytes()) });
            }
            ContentBlock::Resource { resource: EmbeddedResource::Blob { uri, blob } } => {
                let path = self.mention_of(cwd, &uri);
                let content = NewFile::of_bytes(&path, decoded(&path, &blob)?)?;
                self.context.push(ContextFile { path, content });
            }
            ContentBlock::Other { kind } => {
                return Err(Error::usage(format!("a block of type {kind:?} cannot be sent")));
            }
        }
        Ok(())
    }

    /// Adds a link to a web page. Its address is all that the block has, as nothing is fetched; a part of it would be
    /// another address.
    fn web_link(&mut self, name: &str, address: &str) {
        if address.chars().count() > LONGEST_ADDRESS {
            let host = Url::parse(address).ok().and_then(|url| url.host_str().map(str::to_string));
            let name = if name.is_empty() { host.unwrap_or_default() } else { name.to_string() };
            self.mention(&name);
            self.notes.push(StatusLine::note(format!(
                "the address of {name} is not sent: it is longer than {LONGEST_ADDRESS} characters"
            )));
            return;
        }
        let name = if name.is_empty() { address } else { name };
        let name = name.replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]");
        let address = address.replace('(', "%28").replace(')', "%29");
        self.text.push_str(&format!("[{name}]({address})"));
    }

    fn mention(&mut self, name: &str) {
        self.text.push_str(&format!("@{name}"));
    }

    /// Mentions a resource; returns its path or URI for the question.
    fn mention_of(&mut self, cwd: &Path, uri: &str) -> String {
        let shown = match below(cwd, uri) {
            Some((_, shown)) => shown,
            None => shortened(uri),
        };
        self.mention(&shown);
        shown
    }
}

/// Returns text that the user typed, as a part of a question.
pub fn text_part(text: &str) -> QuestionPart {
    let content = FileContent::Other(text.as_bytes().to_vec());
    QuestionPart { from: "the question".into(), content, is_fenced: false, is_typed: true }
}

/// Longest URI that a note has, or a question as the name of a resource, in characters.
const LONGEST_URI: usize = 300;

/// Longest address of a link in a question, in characters: signed addresses have up to 2,000.
const LONGEST_ADDRESS: usize = 4096;

fn shortened(uri: &str) -> String {
    without_user_info(uri).chars().take(LONGEST_URI).collect()
}

/// Formats a URI on one line without its user and password, which may be secret.
fn without_user_info(uri: &str) -> String {
    match Url::parse(uri) {
        Ok(mut url) if !url.username().is_empty() || url.password().is_some() => {
            let is_removed = url.set_username("").is_ok() && url.set_password(None).is_ok();
            if is_removed { url.to_string() } else { format!("{}:", url.scheme()) }
        }
        // White space would end the address of a link.
        Ok(url) if uri.contains(char::is_whitespace) => url.to_string(),
        _ => one_line(uri),
    }
}

fn is_web(uri: &str) -> bool {
    Url::parse(uri).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
}

/// Decodes base64, with the start of a `data:` URL and with white space.
fn decoded(what: &str, data: &str) -> Result<Vec<u8>> {
    let (_, data) = data.split_once(";base64,").filter(|_| data.starts_with("data:")).unwrap_or(("", data));
    let data: String = data.split_ascii_whitespace().collect();
    STANDARD.decode(data).map_err(|error| Error::usage(format!("{what} is not valid base64")).because(error))
}

fn path_of(cwd: &Path) -> PathBuf {
    cwd.canonicalize().unwrap_or_else(|_| cwd.to_path_buf())
}

/// Returns the file or folder below `cwd` that a `file:` URI or an absolute path names, with links resolved, and its path
/// relative to `cwd`.
fn below(cwd: &Path, uri: &str) -> Option<(PathBuf, String)> {
    let named = match Path::new(uri).is_absolute() {
        true => PathBuf::from(uri),
        false => Url::parse(uri).ok().filter(|url| url.scheme() == "file")?.to_file_path().ok()?,
    };
    let path = named.canonicalize().ok()?;
    let shown = path.strip_prefix(path_of(cwd)).ok()?.to_string_lossy().into_owned();
    // Skip files such as fifos, where a read would block.
    let is_plain = path.metadata().is_ok_and(|meta| meta.is_file() || meta.is_dir());
    is_plain.then(|| (path, one_line(if shown.is_empty() { "." } else { &shown })))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(path: &Path, name: &str) -> ContentBlock {
        ContentBlock::ResourceLink { uri: Url::from_file_path(path).unwrap().to_string(), name: name.into() }
    }

    #[test]
    fn files_below_the_folder_are_context_and_others_are_said() {
        let dir = tempfile::tempdir().unwrap();
        let (cwd, outside) = (dir.path().join("work"), dir.path().join("key"));
        std::fs::create_dir(&cwd).unwrap();
        std::fs::write(cwd.join("a 가.txt"), "inner\n").unwrap();
        std::fs::write(&outside, "secret").unwrap();
        std::os::unix::fs::symlink(&outside, cwd.join("link")).unwrap();
        let blocks = vec![
            ContentBlock::text("look at "),
            link(&cwd.join("a 가.txt"), "a"),
            ContentBlock::text(" and "),
            link(&cwd.join("link"), "link"),
            link(&cwd.join("../key"), "key"),
            ContentBlock::ResourceLink { uri: "https://example.org/".into(), name: "page".into() },
            ContentBlock::Resource {
                resource: EmbeddedResource::Text { uri: "zed:///selection".into(), text: "picked".into() },
            },
        ];
        let entry = PromptInput::read(blocks, &cwd);
        // https://github.com/getsentry/junior/pull/1691, https://github.com/avivsinai/agent-message-queue/pull/631
        assert_eq!(
            entry.text,
            "look at @a 가.txt and @link@key[page](https://example.org/)@zed:///selection"
        );
        assert_eq!(entry.notes.len(), 2, "{:?}", entry.notes);
        let question = entry.question().unwrap();
        assert!(question.text.ends_with("a 가.txt:\n```\ninner\n```\n\nzed:///selection:\n```\npicked\n```"));
        assert!(!question.text.contains("secret"));
    }

    #[test]
    fn a_link_to_a_page_is_sent_whole_or_not_at_all() {
        let signed = format!("https://h/a?signature={}", "x".repeat(2000));
        let long = format!("https://h/{}", "x".repeat(LONGEST_ADDRESS));
        let with_user = |scheme: &str, path: &str| format!("{scheme}://user:{}@h/{path}", "s3cret");
        for (name, uri, text, notes) in [
            ("page", signed.as_str(), format!("[page]({signed})"), 0),
            ("page", long.as_str(), "@page".to_string(), 1),
            ("", long.as_str(), "@h".to_string(), 1),
            ("", "https://h/가", "[https://h/가](https://h/가)".to_string(), 0),
            ("p", with_user("https", "a?b#c").as_str(), "[p](https://h/a?b#c)".to_string(), 0),
            ("", "https://s3cret@h/a", "[https://h/a](https://h/a)".to_string(), 0),
            ("a](b)[\\", "https://h/c_(d)e", r"[a\](b)\[\\](https://h/c_%28d%29e)".to_string(), 0),
            ("p", "https://h/a b", "[p](https://h/a%20b)".to_string(), 0),
            ("p", with_user("ftp", "a").as_str(), "@p".to_string(), 1),
        ] {
            let block = ContentBlock::ResourceLink { uri: uri.into(), name: name.into() };
            let entry = PromptInput::read(vec![block], Path::new("/nowhere"));
            assert_eq!((&entry.text, entry.notes.len()), (&text, notes), "{uri}");
            assert!(!format!("{:?}", entry.notes).contains("s3cret"), "{uri}");
        }
    }

    #[test]
    fn what_cannot_be_sent_leaves_the_words() {
        let cwd = Path::new("/");
        for (block, why) in [
            (
                ContentBlock::Image { mime: "image/png".into(), data: "!".into() },
                "the image is not valid base64",
            ),
            (
                ContentBlock::Image { mime: "image/png".into(), data: STANDARD.encode("text") },
                "image cannot be attached",
            ),
            (ContentBlock::Other { kind: "audio".into() }, "a block of type \"audio\" cannot be sent"),
        ] {
            let (error, text) =
                *PromptInput::read(vec![ContentBlock::text("what?"), block], cwd).question().err().unwrap();
            assert!(error.chain().starts_with(why), "{}", error.chain());
            assert_eq!(text, "what?");
        }
        // https://github.com/OpenHands/software-agent-sdk/pull/3027
        let image = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
        for data in [format!("data:image/png;base64,{image}"), image.replace("AAAA", "AAAA\n")] {
            let block = ContentBlock::Image { mime: "image/png".into(), data };
            assert!(PromptInput::read(vec![ContentBlock::text("what?"), block], cwd).question().is_ok());
        }
        let blank = PromptInput::read(vec![ContentBlock::text(" \n")], cwd).question();
        assert!(blank.is_err_and(|wrong| wrong.0.chain().starts_with("the question is blank")));
        let two = PromptInput::read(vec![ContentBlock::text("a"), ContentBlock::text("b")], cwd);
        assert_eq!(two.text, "a\n\nb");
    }
}
