//! Writes attached files next to an exported document.

use std::collections::HashMap;
use std::fs::DirBuilder;
use std::io::{ErrorKind, copy};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use crate::term::{StatusLine, print_status};
use lepo_base::error::{Error, Result};
use lepo_base::role::Role;
use lepo_store::bubb::{Attachment, BubbName, ContentHash, split_attachments};
use lepo_store::store::Store;

/// Maximum bytes of a file name's stem.
const NAME: usize = 200;

#[derive(Default)]
pub struct Files {
    names: Vec<(ContentHash, String)>,
    /// The folder, relative to the document.
    folder: String,
}

impl Files {
    pub fn collect(store: &Store, bubbs: &[BubbName]) -> Result<Files> {
        let mut files = Files::default();
        let mut used: HashMap<String, usize> = HashMap::new();
        for name in bubbs.iter().filter(|name| name.role == Role::User) {
            for file in split_attachments(&store.text(name)?).1 {
                if files.names.iter().all(|(hash, _)| *hash != file.hash) {
                    let plain = file_name(&file);
                    let count = used.entry(plain.clone()).or_default();
                    *count += 1;
                    let unique = if *count > 1 { format!("{count}-{plain}") } else { plain };
                    files.names.push((file.hash, unique));
                }
            }
        }
        Ok(files)
    }

    /// Returns a user bubb's text as Markdown, with attachments as images and links.
    pub fn markdown(&self, text: &str) -> String {
        let (body, attached) = split_attachments(text);
        let mut markdown = body.trim_end().to_string();
        for file in attached {
            let Some((_, name)) = self.names.iter().find(|(hash, _)| *hash == file.hash) else { continue };
            let mark = if file.media.is_image() { "!" } else { "" };
            let path = format!("{}/{name}", self.folder);
            let path = path.replace('%', "%25").replace('<', "%3C").replace('>', "%3E").replace('\\', "%5C");
            let label = file.name.replace(['[', ']', '\\'], "_");
            markdown.push_str(&format!("\n\n{mark}[{label}](<{path}>)"));
        }
        markdown
    }

    /// Copies the files into a new folder `STEM-files` in `dir`; `None` without files. Warns about a blob
    /// that is missing or does not match its hash.
    pub fn write(mut self, store: &Store, dir: &Path, stem: &str) -> Result<Option<Files>> {
        if self.names.is_empty() {
            return Ok(None);
        }
        let failed = |error| Error::store(format!("cannot write in {}", dir.display())).because(error);
        std::fs::create_dir_all(dir)
            .map_err(|error| Error::usage(format!("cannot write in {}", dir.display())).because(error))?;
        self.folder = format!("{stem}-files");
        let mut number = 1;
        while let Err(error) = DirBuilder::new().mode(0o700).create(dir.join(&self.folder)) {
            if error.kind() != ErrorKind::AlreadyExists {
                return Err(failed(error));
            }
            number += 1;
            self.folder = format!("{stem}-{number}-files");
        }
        let folder = dir.join(&self.folder);
        for (hash, name) in &self.names {
            let Some((mut blob, _)) = store.open_proven_blob(hash)? else {
                print_status(&StatusLine::warning(format!(
                    "{} is missing or changed: {name} is not exported",
                    store.blob_path(hash).display()
                )));
                continue;
            };
            let mut file = tempfile::NamedTempFile::new_in(&folder).map_err(failed)?;
            copy(&mut blob, &mut file).map_err(failed)?;
            file.persist_noclobber(folder.join(name)).map_err(|error| failed(error.error))?;
        }
        Ok(Some(self))
    }
}

/// Returns a valid file name: neither hidden nor too long, with the extension of its type.
fn file_name(file: &Attachment) -> String {
    let name = file.name.trim_start_matches('.').trim_start();
    let extension = file.media.extension();
    let has_one =
        name.rsplit_once('.').is_some_and(|(stem, end)| !stem.is_empty() && (1..=5).contains(&end.len()));
    let (stem, end) = match name.rsplit_once('.') {
        Some((stem, end)) if has_one => (stem, end),
        _ => (name, extension),
    };
    let stem = stem.split_at(stem.floor_char_boundary(NAME)).0;
    format!("{}.{end}", if stem.is_empty() { "file" } else { stem })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lepo_base::media::Media;

    #[test]
    fn names_are_good_for_a_folder() {
        for (name, expected) in [
            ("chart.png", "chart.png"),
            ("chart", "chart.png"),
            ("..", "file.png"),
            (".png", "png.png"),
            ("a.b.jpeg", "a.b.jpeg"),
            ("v1.2 of the plan", "v1.2 of the plan.png"),
        ] {
            let file = Attachment { media: Media::Png, len: 1, name: name.into(), hash: [0xaa; 32].into() };
            assert_eq!(file_name(&file), expected, "{name}");
        }
        let file = Attachment { media: Media::Pdf, len: 1, name: "글".repeat(120), hash: [0xaa; 32].into() };
        assert!(file_name(&file).len() < 255);
    }
}
