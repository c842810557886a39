//! Limits on files. A question's own files are checked before anything is written; of earlier questions'
//! files, the oldest are dropped first.

use super::NewFile;
use lepo_base::error::{Error, Result, quoted};
use lepo_base::hint::{Hint, HintCommand};
use lepo_base::media::Media;
use lepo_model::{FileSupport, encoded_len};
use lepo_store::bubb::thousands;

/// The properties of a file to which limits apply.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    pub media: Media,
    /// Length in bytes of the file.
    pub len: u64,
    /// The longer side of an image in pixels, if known.
    pub longer_side: Option<u32>,
}

impl Size {
    pub fn measure(file: &NewFile) -> Size {
        Size {
            media: file.media,
            len: file.len,
            longer_side: file.pixels.map(|(width, height)| width.max(height)),
        }
    }
}

/// Checks the files of a question, each separately and all together. `model` is the name of the model to ask.
pub fn check(files: &[NewFile], accepts: &FileSupport, model: &str) -> Result<()> {
    if accepts.media.is_empty()
        && let Some(file) = files.first()
    {
        return Err(Error::usage(format!(
            "{model} does not accept files, and {} is \
                one",
            file.name
        ))
        .hint(other_model()));
    }
    for file in files {
        if let Some(too_much) = alone(Size::measure(file), accepts) {
            let error =
                Error::usage(format!("{} cannot be sent to {model}: {}", file.about(), too_much.reason));
            return Err(too_much.explain(&file.name, error));
        }
    }
    let sizes: Vec<Size> = files.iter().map(Size::measure).collect();
    match fitting(&sizes, accepts) {
        fits if fits == sizes.len() => Ok(()),
        fits => {
            let files: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
            let reason = together(&sizes, accepts);
            Err(Error::usage(format!("{} files cannot be sent to {model} together: {reason}", files.len()))
                .hint(format!(
                    "ask about {fits} of them at a time, or shrink them: magick IN -resize 50% OUT"
                )))
        }
    }
}

/// Returns the index of the first file to send, of files that come message by message, `groups` giving the number in
/// each. Where they exceed the limits, half of the older ones are dropped at once: if only the oldest went with each
/// turn, a server's cache would lose everything after it each time.
pub fn first_sent(groups: &[usize], sizes: &[Size], accepts: &FileSupport) -> usize {
    let (mut first, mut end) = (0, 0);
    for len in groups {
        let group_start = end;
        end += len;
        while first < end && !together(sizes.get(first..end).unwrap_or_default(), accepts).is_empty() {
            first += group_start.saturating_sub(first).div_ceil(2).max(1);
        }
    }
    first
}

/// Returns how many of these files, counted from the last, fit into a request.
pub fn fitting(sizes: &[Size], accepts: &FileSupport) -> usize {
    (0..=sizes.len())
        .rev()
        .find(|&count| {
            let last = sizes.split_at(sizes.len() - count).1;
            last.iter().all(|&size| alone(size, accepts).is_none()) && together(last, accepts).is_empty()
        })
        .unwrap_or_default()
}

/// Whether the file can be sent in some request.
pub fn is_taken(size: Size, accepts: &FileSupport) -> bool {
    alone(size, accepts).is_none()
}

/// A limit that a file exceeds.
struct LimitExcess {
    reason: String,
    /// Options that shrink the file, for use between `magick IN` and `OUT`.
    shrink: Option<String>,
}

fn other_model() -> Hint {
    Hint::from(HintCommand::OtherModel)
        .text(" asks another model; ")
        .command(HintCommand::Models)
        .text(" lists them")
}

impl LimitExcess {
    fn explain(&self, name: &str, error: Error) -> Error {
        match &self.shrink {
            Some(options) => error.hint(format!("shrink it: magick {} {options} small.jpg", quoted(name))),
            None => error.hint(other_model()),
        }
    }
}

fn alone(size: Size, accepts: &FileSupport) -> Option<LimitExcess> {
    let Size { media, len, longer_side } = size;
    if !accepts.media.contains(&media) {
        let reason = format!("it does not accept {}", if media.is_image() { media.mime() } else { "PDF" });
        let shrink = (media.is_image() && accepts.media.contains(&Media::Jpeg)).then(String::new);
        return Some(LimitExcess { reason, shrink });
    }
    if let Some(limit) = accepts.image.filter(|&limit| media.is_image() && encoded_len(len) > limit) {
        let reason = format!(
            "{} bytes as base64, over the limit of {} ({} of the file)",
            thousands(encoded_len(len)),
            thousands(limit),
            thousands(limit / 4 * 3)
        );
        return Some(LimitExcess {
            reason,
            shrink: Some(format!("-define jpeg:extent={}KB", limit / 4 * 3 / 1024)),
        });
    }
    if let Some(limit) =
        accepts.max_side.filter(|&limit| longer_side.is_some_and(|longer_side| longer_side > limit))
    {
        let reason = format!("the limit of a side is {limit} pixels");
        return Some(LimitExcess { reason, shrink: Some(format!("-resize '{limit}x{limit}>'")) });
    }
    if let Some(limit) = accepts.total.filter(|&limit| encoded_len(len) > limit) {
        let reason = format!(
            "{} bytes as base64, over the limit of {} per request",
            thousands(encoded_len(len)),
            thousands(limit)
        );
        let shrink = media.is_image().then(|| format!("-define jpeg:extent={}KB", limit / 4 * 3 / 1024));
        return Some(LimitExcess { reason, shrink });
    }
    if accepts.documents.is_some_and(|limit| !media.is_image() && len > limit) {
        return Some(LimitExcess { reason: documents(&[size], accepts), shrink: None });
    }
    None
}

/// Describes the total limit of PDFs that these exceed; empty if they do not.
fn documents(sizes: &[Size], accepts: &FileSupport) -> String {
    let len = sizes.iter().filter(|size| !size.media.is_image()).map(|size| size.len).sum();
    match accepts.documents {
        Some(limit) if len > limit => {
            format!("{} bytes of PDF, over the limit of {} per request", thousands(len), thousands(limit))
        }
        _ => String::new(),
    }
}

/// Describes the limit that these exceed together; empty if they do not.
fn together(sizes: &[Size], accepts: &FileSupport) -> String {
    let total: u64 = sizes.iter().map(|size| encoded_len(size.len)).sum();
    if let Some(limit) = accepts.count.filter(|&limit| sizes.len() > limit) {
        return format!("the limit of a request is {limit}");
    }
    if let Some(limit) = accepts.total.filter(|&limit| total > limit) {
        let (total, limit) = (thousands(total), thousands(limit));
        return format!("{total} bytes as base64, over the limit of {limit} per request");
    }
    let beyond = documents(sizes, accepts);
    if !beyond.is_empty() {
        return beyond;
    }
    let images = sizes.iter().filter(|size| size.media.is_image()).count();
    match accepts.many_images {
        Some((many, side)) if images > many && sizes.iter().any(|size| size.longer_side > Some(side)) => {
            format!("of more than {many} images none may have a side of more than {side} pixels")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::FileContent;
    use super::*;
    use lepo_base::hint::HintTarget;
    use lepo_model::IMAGES;

    const STRICT: FileSupport = FileSupport {
        media: IMAGES,
        image: Some(4000),
        max_side: Some(800),
        many_images: Some((2, 200)),
        count: Some(4),
        total: Some(6000),
        documents: None,
    };

    /// Creates a GIF of this width and length in bytes.
    fn gif(name: &str, side: u16, len: usize) -> NewFile {
        let mut bytes = b"GIF89a".to_vec();
        bytes.extend(side.to_le_bytes());
        bytes.extend(1u16.to_le_bytes());
        bytes.resize(len.max(16), 0);
        match NewFile::of_bytes(name, bytes).unwrap() {
            FileContent::Media(file) => file,
            FileContent::Other(_) => panic!("no GIF"),
        }
    }

    fn pdf(len: usize) -> NewFile {
        let mut bytes = b"%PDF-1.7\n".to_vec();
        bytes.resize(len.max(9), b' ');
        match NewFile::of_bytes("a.pdf", bytes).unwrap() {
            FileContent::Media(file) => file,
            FileContent::Other(_) => panic!("no PDF"),
        }
    }

    #[test]
    fn what_is_too_much_is_said_with_how_to_shrink_it() {
        for (files, message, hint) in [
            (
                vec![gif("a b.gif", 100, 3001)],
                "4,004 bytes as base64, over the limit of 4,000 (3,000 of the file)",
                "magick 'a b.gif' -define jpeg:extent=2KB small.jpg",
            ),
            (
                vec![gif("a.gif", 801, 20)],
                "801 x 1 pixels) cannot be sent to m: the limit of a side is 800 pixels",
                "-resize '800x800>' small.jpg",
            ),
            (vec![pdf(10)], "it does not accept PDF", "-m NAME"),
            (
                (0..5).map(|_| gif("a.gif", 9, 20)).collect(),
                "the limit of a request is 4",
                "ask about 4 of them",
            ),
            (
                vec![gif("a.gif", 9, 2400), gif("b.gif", 9, 2400)],
                "6,400 bytes as base64, over the limit of 6,000",
                "ask about 1",
            ),
            ((0..3).map(|_| gif("a.gif", 201, 20)).collect(), "more than 2 images", "ask about 2"),
        ] {
            let error = check(&files, &STRICT, "m").unwrap_err();
            assert_eq!(error.kind.exit_code(), 2);
            assert!(error.message.contains(message), "{}", error.message);
            assert!(error.hint_for(HintTarget::SHELL).unwrap().contains(hint), "{:?}", error.hint);
        }
        for files in
            [vec![], vec![gif("a.gif", 800, 3000)], vec![gif("a.gif", 800, 30), gif("b.gif", 800, 30)]]
        {
            check(&files, &STRICT, "m").unwrap();
        }
        let error = check(&[gif("a.gif", 1, 20)], &FileSupport::NOTHING, "m").unwrap_err();
        assert_eq!(error.message, "m does not accept files, and a.gif is one");
    }

    #[test]
    fn half_of_the_older_files_give_way_at_once() {
        let accepts = FileSupport { count: Some(8), ..FileSupport::any(IMAGES) };
        let size = Size { media: Media::Png, len: 10, longer_side: Some(10) };
        for (groups, first) in [
            (vec![1; 8], 0),
            (vec![1; 9], 4),
            // It stays where it is until they exceed the limit again.
            (vec![1; 10], 4),
            (vec![1; 12], 4),
            (vec![1; 13], 8),
            // All files of the newest message go along.
            (vec![1, 1, 7], 1),
            (vec![1, 1, 8], 2),
            (vec![9], 1),
            (vec![], 0),
        ] {
            let sizes = vec![size; groups.iter().sum()];
            assert_eq!(first_sent(&groups, &sizes, &accepts), first, "{groups:?}");
        }
    }

    #[test]
    fn the_newest_fit() {
        let size = |len| Size { media: Media::Png, len, longer_side: Some(10) };
        for (lens, fits) in [
            (vec![], 0),
            (vec![2400, 2400], 1),
            (vec![2400, 1500, 601], 2),
            (vec![10, 10, 10, 10, 10], 4),
            (vec![10, 3001], 0),
        ] {
            let sizes: Vec<Size> = lens.iter().map(|&len| size(len)).collect();
            assert_eq!(fitting(&sizes, &STRICT), fits, "{lens:?}");
        }
    }
}
