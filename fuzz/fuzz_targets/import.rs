//! A file of any format: no reader panics, and each node follows one that is there.
#![no_main]

use std::io::Write;

use lepo_import::{FORMATS, SourceFormat, SourceReader, recognise};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &[u8])| {
    let endings = [".json", ".jsonl", ".zip", ".jsonl.zst"];
    let ending = endings[input.0 as usize % endings.len()];
    let mut file = tempfile::Builder::new().prefix("conversations").suffix(ending).tempfile().unwrap();
    file.write_all(input.1).unwrap();
    let _ = recognise(file.path(), &mut SourceReader::default());
    let readers = FORMATS.iter().map(|(_, format, _)| *format);
    for format in readers.filter(|format| !matches!(format, SourceFormat::Lepo | SourceFormat::Database)) {
        let _ = format.read(vec![file.path().to_path_buf()], &mut SourceReader::default(), &mut |read, _, _| {
            for node in &read.nodes {
                assert!(node.parent.is_none_or(|parent| parent < read.nodes.len()), "{format:?}");
            }
            Ok(())
        });
    }
});
