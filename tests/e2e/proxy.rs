//! `lepo do --proxy`: what passes through it, who is let in, and what is kept.

mod clients;
mod guarded;
mod http;
mod kept;
mod replayed;
mod reports;
