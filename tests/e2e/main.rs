//! All end-to-end tests, in one binary.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod basics;
mod docs;
mod faults;
#[cfg(feature = "embedded")]
mod embedded;
mod home;
mod house;
mod manual;
mod providers;
mod scripted;
mod wild;
