//! Lists in JSON documents whose rows are read while they are written.

use std::cell::Cell;
use std::io::{self, Write};

use serde::ser::{Serialize, SerializeSeq, Serializer};
use serde_json::ser::{CompactFormatter, Formatter};

/// The rows of a list, each read when it is written.
pub trait RowSource {
    fn each<S: SerializeSeq>(self, rows: &mut S) -> Result<(), S::Error>;
}

/// A list in a document, which is written once.
pub struct RowList<R>(Cell<Option<R>>);

impl<R> RowList<R> {
    pub fn new(rows: R) -> RowList<R> {
        RowList(Cell::new(Some(rows)))
    }
}

impl<R: RowSource> Serialize for RowList<R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut rows = serializer.serialize_seq(None)?;
        self.0.take().map_or(Ok(()), |source| source.each(&mut rows))?;
        rows.end()
    }
}

/// Writes a document whose only field is a list, a row a line; flushes after row 1, 2, 4, 8 …
pub fn write_rows(to: &mut impl Write, document: &impl Serialize) -> serde_json::Result<()> {
    document.serialize(&mut serde_json::Serializer::with_formatter(&mut *to, RowLines::default()))?;
    to.write_all(b"\n").map_err(serde_json::Error::io)
}

/// Compact JSON, with a newline before each row of the outermost list and after the last.
#[derive(Default)]
struct RowLines {
    depth: usize,
    rows: usize,
}

/// The depth of the list: an array in an object.
const LIST: usize = 2;

impl Formatter for RowLines {
    fn begin_array<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.depth += 1;
        CompactFormatter.begin_array(to)
    }

    fn end_array<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        if self.depth == LIST {
            to.write_all(b"\n")?;
        }
        self.depth -= 1;
        CompactFormatter.end_array(to)
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, to: &mut W, first: bool) -> io::Result<()> {
        CompactFormatter.begin_array_value(to, first)?;
        if self.depth == LIST { to.write_all(b"\n") } else { Ok(()) }
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        if self.depth == LIST {
            self.rows += 1;
            if self.rows.is_power_of_two() {
                to.flush()?;
            }
        }
        Ok(())
    }

    fn begin_object<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.depth += 1;
        CompactFormatter.begin_object(to)
    }

    fn end_object<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.depth -= 1;
        CompactFormatter.end_object(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Numbers(u8);

    impl RowSource for Numbers {
        fn each<S: SerializeSeq>(self, rows: &mut S) -> Result<(), S::Error> {
            (0..self.0).try_for_each(|number| rows.serialize_element(&[[number]]))
        }
    }

    #[test]
    fn each_row_of_the_outer_list_has_a_line() {
        for (count, text) in [(0, "{\"rows\":[\n]}\n"), (2, "{\"rows\":[\n[[0]],\n[[1]]\n]}\n")] {
            let (mut written, rows) = (Vec::new(), RowList::new(Numbers(count)));
            write_rows(&mut written, &std::collections::BTreeMap::from([("rows", rows)])).unwrap();
            assert_eq!(String::from_utf8(written).unwrap(), text);
        }
    }
}
