//! Formats the lines that name files in a bubb, and collects their blobs.

use lepo_base::media::Media;
use lepo_base::role::Role;
use lepo_import::ImportedFile;
use lepo_store::bubb::{Attachment, ContentHash, clean_name};
use lepo_store::store::Blob;

/// Appends a line for each file; returns the text, the blobs and the number of files without bytes.
pub fn with_files(role: Role, text: &str, files: Vec<ImportedFile>) -> (String, Vec<Vec<u8>>, u64) {
    let (mut attached, mut lines, mut blobs, mut lost) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for file in files {
        let Some(bytes) = file.data else {
            lost += 1;
            lines.push(match clean_name(&file.name) {
                Some(name) => format!("[{} {name}: not in the source]", file.mime),
                None => format!("[{}: not in the source]", file.mime),
            });
            continue;
        };
        let (hash, len) = (ContentHash::from_content(&bytes), bytes.len() as u64);
        match Media::from_magic(&bytes).filter(|_| role == Role::User) {
            Some(media) => {
                let name = clean_name(&file.name).unwrap_or_else(|| format!("file.{}", media.extension()));
                attached.push(Attachment { media, len, name, hash });
            }
            None => lines.push(Blob { hash, len }.line()),
        }
        blobs.push(bytes);
    }
    // Attachments come last, because only trailing lines count as attachments.
    lines.extend(attached.iter().map(Attachment::line));
    let lines = lines.join("\n");
    let text = match (text.is_empty(), lines.is_empty()) {
        (_, true) => text.to_string(),
        (true, _) => lines,
        (false, false) => format!("{text}\n\n{lines}"),
    };
    (text, blobs, lost)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost(name: &str, mime: &str) -> ImportedFile {
        ImportedFile { name: name.into(), mime: mime.into(), data: None }
    }

    #[test]
    fn a_question_names_its_files_and_an_answer_its_blobs() {
        let png = || ImportedFile {
            name: "a/b.png".into(),
            mime: "image/png".into(),
            data: Some(b"\x89PNG\r\n\x1a\n".to_vec()),
        };
        let sha = ContentHash::from_content(b"\x89PNG\r\n\x1a\n");
        for (kind, text, files, expected) in [
            (Role::User, "look", vec![png()], format!("look\n\n[image/png 8 bytes b.png: _blobs/{sha}]")),
            (
                Role::User,
                "",
                vec![png(), lost("", "image/png")],
                format!("[image/png: not in the source]\n[image/png 8 bytes b.png: _blobs/{sha}]"),
            ),
            (Role::Assistant, "see", vec![png()], format!("see\n\n[8 bytes: _blobs/{sha}]")),
            (
                Role::User,
                "x",
                vec![lost("a\n]", "text/plain")],
                "x\n\n[text/plain a ]: not in the source]".to_string(),
            ),
            (Role::User, "x", vec![], "x".to_string()),
        ] {
            assert_eq!(with_files(kind, text, files).0, expected);
        }
        assert!(lepo_store::bubb::seems_to_name_a_blob(&format!("x\n[8 bytes: _blobs/{sha}]")));
        assert!(!lepo_store::bubb::seems_to_name_a_blob("[a]"));
    }
}
