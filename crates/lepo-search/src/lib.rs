//! Search: the pattern, the selection of bubbs to search, and the text cache of past days.
//!
//! The cache (`segment`, `cache`) only narrows down which files are read: every reported line was found in a bubb's own
//! file.

mod cache;
mod conv_positions;
mod files;
mod filter;
mod literals;
mod months;
mod pattern;
mod pattern_options;
#[cfg(test)]
mod random_tests;
mod segment;
#[cfg(any(test, fuzzing))]
mod segment_forged;
mod segment_reader;
mod segment_table;
mod trigrams;
mod unicode_forms;

pub use cache::Candidates;
pub use conv_positions::ConvPositions;
pub use files::{FileResult, matching_lines, search_files};
pub use filter::Filter;
pub use months::{SearchOptions, by_month};
pub use pattern::{FoundLine, LineKind, Pattern};
pub use pattern_options::PatternOptions;

use cache::candidates;
#[cfg(fuzzing)]
pub use segment_forged::read_forged;

#[cfg(test)]
#[path = "../../lepo-store/src/conv/fixture.rs"]
mod fixture;
