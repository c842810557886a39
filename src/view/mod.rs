//! The facts that several rooms show, collected once, and the parts of JSON documents. Neither terminal nor network.

mod json;
mod overview;
mod row_list;

pub use json::{FailureDocument, IdText, KindWord, NameFields, UsageFields, request_schema};
pub use overview::{Overview, Overviews};
pub use row_list::{RowList, RowSource, write_rows};
