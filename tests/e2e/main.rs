//! All end-to-end tests, in one binary.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod basics;
mod bots;
mod disk;
mod do_links;
mod do_requests;
mod docs;
mod home;
mod house;
mod providers;
mod pty;
mod scripted;
