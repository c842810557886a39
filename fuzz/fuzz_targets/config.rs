//! A configuration and an instructions file: read, or an error in words; never a panic.
#![no_main]

use std::path::{Path, PathBuf};

use lepo_base::env::Env;
use lepo_turn::config::{Flags, Insts, Paths, load_settings};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let nowhere = PathBuf::from("/nonexistent");
    let paths = Paths { config: nowhere.clone(), state: nowhere.clone(), data: nowhere, home: None };
    let repo = Some((PathBuf::from("_config.toml"), bytes.to_vec()));
    match load_settings(&paths, &Env::default(), repo, &Flags::default()) {
        Ok(settings) => drop(settings.choose()),
        Err(error) => assert!(!error.chain().is_empty()),
    }
    if let Err(error) = Insts::parse(Path::new("_insts.toml"), bytes) {
        assert!(!error.chain().is_empty());
    }
});
