//! Talking to a model: one request in, one stream of events out. Knows no bubbs and no terminal.

pub mod weights;
