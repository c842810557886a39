//! Hashes all files of a store on all processors, in pieces, so that no file is in memory as a whole.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use sha2::{Digest, Sha256};

use super::blobs::{blob_lines, blobs_at_end};
use super::handle::Store;
use crate::bubb::{BubbName, ContentHash};
use lepo_base::read_ahead::processors;
use lepo_base::role::Role;

const PIECE: usize = 128 << 10;

const TICK: Duration = Duration::from_millis(100);

pub struct StoredContent {
    pub hash: ContentHash,
    /// The blobs named in the last lines.
    pub blobs: Vec<ContentHash>,
}

/// Reads all `files` and returns the results in their order. `progress` receives the number read and the total.
pub(super) fn read_all(
    store: &Store,
    files: &[OsString],
    progress: &mut dyn FnMut(u64, u64),
) -> Vec<io::Result<StoredContent>> {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = channel();
    let mut found: Vec<Option<io::Result<StoredContent>>> = files.iter().map(|_| None).collect();
    thread::scope(|scope| {
        let mut started = false;
        for _ in 0..processors().min(files.len()) {
            let (next, sender) = (&next, sender.clone());
            let thread = thread::Builder::new().spawn_scoped(scope, move || {
                let mut buffer = vec![0; PIECE];
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(file) = files.get(i) else { return };
                    let _ = sender.send((i, read_one(store, file, &mut buffer)));
                }
            });
            // If no more threads can be spawned, those running read all files; if none runs, this thread does.
            started |= thread.is_ok();
        }
        drop(sender);
        let mut done = 0;
        if !started {
            let mut buffer = vec![0; PIECE];
            for (file, found) in files.iter().zip(&mut found) {
                *found = Some(read_one(store, file, &mut buffer));
                done += 1;
                progress(done, files.len() as u64);
            }
            return;
        }
        loop {
            match receiver.recv_timeout(TICK) {
                Ok((i, read)) => (found[i], done) = (Some(read), done + 1),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            progress(done, files.len() as u64);
        }
    });
    found.into_iter().flatten().collect()
}

fn read_one(store: &Store, file: &OsStr, buffer: &mut [u8]) -> io::Result<StoredContent> {
    let name = Path::new(file).file_name().and_then(|name| BubbName::parse(name.as_bytes()));
    let role = name.map_or(Role::System, |name| name.role);
    let mut file = store.dir.open_file(file)?;
    let mut hasher = Sha256::new();
    let (mut pieces, mut last) = (0, 0);
    loop {
        match file.read(buffer) {
            Ok(0) => break,
            Ok(n) => (pieces, last) = (pieces + 1, n),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        }
        hasher.update(&buffer[..last]);
    }
    let blobs = match pieces {
        0 => Vec::new(),
        1 => blob_lines(&buffer[..last], role),
        _ => blobs_at_end(&mut file, role)?,
    };
    Ok(StoredContent { hash: hasher.finalize().into(), blobs })
}
