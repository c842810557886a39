//! All end-to-end tests, in one binary.

mod providers;
mod scripted;
