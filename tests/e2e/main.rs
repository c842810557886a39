#[cfg(feature = "embedded")]
mod embedded;
fn main() {}
