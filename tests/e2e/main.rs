//! All end-to-end tests, in one binary.

#![allow(clippy::unwrap_used, clippy::string_slice, reason = "a test that cannot go on has failed")]

mod basics;
mod branches;
mod checking;
mod docs;
mod editing;
#[cfg(feature = "embedded")]
mod embedded;
mod home;
mod house;
mod manual;
mod providers;
mod removing;
mod scripted;
mod settings;
mod watching;
