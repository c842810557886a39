//! All end-to-end tests, in one binary.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod basics;
mod branches;
mod checking;
mod docs;
mod editing;
mod home;
mod house;
mod manual;
mod providers;
mod removing;
mod scripted;
mod settings;
mod watching;
