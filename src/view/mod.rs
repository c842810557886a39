//! The facts that several rooms show, collected once, and the parts of JSON documents. Neither terminal nor network.

mod json;
mod overview;
mod row_list;

pub use json::{ErrorFields, FailureDocument, IdText, KindWord, NameFields, RequestFields, UsageFields};
pub use overview::{Overview, Overviews};
pub use row_list::{RowList, RowSource, write_rows};
