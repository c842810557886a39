//! An export: a zip file, the folder it was unpacked to, or a single document.
//!
//! A zip is untrusted: its names are only compared, never written to, its links are ignored, and unpacked bytes are
//! counted on reading, whatever the zip declares.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use zip::ZipArchive;
use zip::result::ZipError;

use super::source::{LimitedReader, SourceReader, cannot, files_below, most, regular};
use lepo_base::error::{Error, Result};

/// Maximum bytes of one asset.
const ASSET: u64 = 256 << 20;

pub enum Archive {
    /// A single document.
    File(PathBuf),
    /// Documents and assets in a folder, with their file names.
    Folder(Vec<(String, PathBuf)>),
    /// Documents and assets in a zip, with their indices.
    Zip(Box<Zip>),
}

pub struct Zip {
    path: PathBuf,
    archive: ZipArchive<BufReader<File>>,
    names: Vec<(String, usize)>,
    /// Bytes that may still be unpacked.
    remaining: u64,
}

impl Archive {
    /// Opens an export. A zip that declares more than it may unpack to is refused.
    pub fn open(path: &Path) -> Result<Archive> {
        if path.is_dir() {
            let files = files_below(path, 4).into_iter();
            let mut files: Vec<_> = files.map(|path| (file_name(&path), path)).collect();
            files.sort();
            return Ok(Archive::Folder(files));
        }
        if !is_zip(path) {
            return Ok(Archive::File(path.to_path_buf()));
        }
        let refuse = |error: ZipError| match error {
            ZipError::InvalidArchive(_) => Error::usage(format!("cannot read {}", path.display()))
                .because("it is not a complete zip archive"),
            other => Error::usage(format!("cannot read {} as a zip archive", path.display())).because(other),
        };
        let (file, length) = regular(path).map_err(|error| cannot(path, error))?;
        let mut archive = ZipArchive::new(BufReader::new(file)).map_err(refuse)?;
        let (mut names, mut declared) = (Vec::new(), 0u64);
        for index in 0..archive.len() {
            let Ok(entry) = archive.by_index_raw(index) else { continue };
            declared = declared.saturating_add(entry.size());
            if entry.is_file() && !entry.is_symlink() {
                let name = String::from_utf8_lossy(entry.name_raw());
                names.push((name.rsplit('/').next().unwrap_or_default().to_string(), index));
            }
        }
        if declared > most(length) {
            return Err(Error::usage(format!("{} unpacks to {declared} bytes", path.display()))
                .hint("more than 16 GiB, or than 200 times its size beyond the first GiB, is not read"));
        }
        names.sort();
        Ok(Archive::Zip(Box::new(Zip { path: path.to_path_buf(), archive, names, remaining: most(length) })))
    }

    /// Returns the documents whose names `is_it` accepts, sorted by name.
    pub fn documents(&self, is_it: impl Fn(&str) -> bool) -> Vec<usize> {
        let indices = |names: Vec<&str>| {
            names.into_iter().enumerate().filter(|(_, name)| is_it(name)).map(|(index, _)| index).collect()
        };
        match self {
            Archive::File(_) => vec![0],
            Archive::Folder(files) => indices(files.iter().map(|(name, _)| name.as_str()).collect()),
            Archive::Zip(zip) => indices(zip.names.iter().map(|(name, _)| name.as_str()).collect()),
        }
    }

    /// Returns the names of the first `count` files, and the number of the others.
    pub fn first_names(&self, count: usize) -> (Vec<&str>, usize) {
        let (first, all): (Vec<&str>, usize) = match self {
            Archive::File(_) => (Vec::new(), 0),
            Archive::Folder(files) => {
                (files.iter().map(|(name, _)| &**name).take(count).collect(), files.len())
            }
            Archive::Zip(zip) => {
                (zip.names.iter().map(|(name, _)| &**name).take(count).collect(), zip.names.len())
            }
        };
        let others = all - first.len();
        (first, others)
    }

    /// Opens a document and passes it to `then`.
    pub fn read<T>(
        &mut self,
        document: usize,
        reading: &mut SourceReader,
        then: impl FnOnce(&mut dyn Read, &mut SourceReader) -> Result<T>,
    ) -> Result<T> {
        match self {
            Archive::File(path) => then(&mut *reading.open(path)?, reading),
            Archive::Folder(files) => then(&mut *reading.open(&files[document].1)?, reading),
            Archive::Zip(zip) => {
                let Zip { path, archive, names, remaining } = &mut **zip;
                let entry = archive.by_index(names[document].1).map_err(|error| {
                    let cannot =
                        Error::usage(format!("cannot read {} in {}", names[document].0, path.display()));
                    match error {
                        ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => cannot
                            .because("it is protected by a password")
                            .hint("unpack it, and import the folder"),
                        error => cannot.because(error),
                    }
                })?;
                let packed = entry.compressed_size();
                let mut capped = LimitedReader::with_limit(entry, *remaining);
                let done = then(&mut capped, reading)?;
                *remaining = capped.remaining();
                reading.bytes.set(reading.bytes.get() + packed);
                Ok(done)
            }
        }
    }

    /// Returns the bytes of the asset whose file name starts with `id`; `None` if it is missing or larger than the
    /// limit.
    pub fn asset(&mut self, id: &str) -> Option<Vec<u8>> {
        if id.len() < 6 {
            return None;
        }
        let mut bytes = Vec::new();
        match self {
            Archive::File(_) => None,
            Archive::Folder(files) => {
                let index = index_of(files, id)?;
                let (file, length) = regular(&files[index].1).ok()?;
                file.take(ASSET).read_to_end(&mut bytes).ok()?;
                (length <= ASSET).then_some(bytes)
            }
            Archive::Zip(zip) => {
                let index = index_of(&zip.names, id)?;
                let entry = zip.archive.by_index(zip.names[index].1).ok()?;
                let limit = ASSET.min(zip.remaining);
                entry.take(limit + 1).read_to_end(&mut bytes).ok()?;
                zip.remaining = zip.remaining.saturating_sub(bytes.len() as u64);
                (bytes.len() as u64 <= limit).then_some(bytes)
            }
        }
    }
}

/// Finds, in sorted names, the name that is `id` or continues after it with a character that no id contains.
fn index_of<T>(names: &[(String, T)], id: &str) -> Option<usize> {
    let from = names.partition_point(|(name, _)| name.as_str() < id);
    let is_it = |name: &str| {
        name.strip_prefix(id).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '.', '_', ' ']))
    };
    let near = names[from..].iter().take_while(|(name, _)| name.starts_with(id));
    near.enumerate().find(|(_, (name, _))| is_it(name)).map(|(index, _)| from + index)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Whether a file starts with the magic number of a zip.
pub fn is_zip(path: &Path) -> bool {
    begins(path, b"PK\x03\x04")
}

pub fn begins(path: &Path, magic: &[u8]) -> bool {
    let Ok((file, _)) = regular(path) else { return false };
    let mut first = Vec::new();
    file.take(magic.len() as u64).read_to_end(&mut first).is_ok() && first == magic
}
