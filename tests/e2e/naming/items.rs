//! The types and functions that a source file defines, without those of its tests.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A type or a function, by its bare name.
#[derive(Debug, PartialEq)]
pub struct Item {
    pub name: String,
}

/// The named items of a file.
#[derive(Debug, Default, PartialEq)]
pub struct Items {
    pub types: Vec<Item>,
    pub functions: Vec<Item>,
}

impl Items {
    pub fn read(source: &str) -> Items {
        let mut items = Items::default();
        items.add(source.parse().unwrap(), false);
        items
    }

    /// Adds the items of some code; a `type` in the braces of an `impl` or a `trait` is an associated one, and no item.
    fn add(&mut self, code: TokenStream, is_associated: bool) {
        let trees: Vec<TokenTree> = code.into_iter().collect();
        // The braces to come are those of an `impl` or a `trait`.
        let (mut opens_associated, mut is_function) = (false, false);
        let mut index = 0;
        while let Some(tree) = trees.get(index) {
            index += 1;
            match tree {
                TokenTree::Punct(mark) if mark.as_char() == '#' => {
                    if let Some(TokenTree::Group(group)) = trees.get(index) {
                        index += 1;
                        if group.stream().to_string().replace(' ', "") == "cfg(test)" {
                            index += length_of_item(&trees[index..]);
                        }
                    }
                }
                // The name of a macro's parameter, such as `$type`.
                TokenTree::Punct(mark) if mark.as_char() == '$' => {
                    index += usize::from(matches!(trees.get(index), Some(TokenTree::Ident(_))));
                }
                TokenTree::Punct(mark) if mark.as_char() == ';' => {
                    (opens_associated, is_function) = (false, false);
                }
                TokenTree::Ident(word) => {
                    let word = word.to_string();
                    let name = match trees.get(index) {
                        Some(TokenTree::Ident(name)) => name.to_string().trim_start_matches("r#").to_string(),
                        _ => String::new(),
                    };
                    match word.as_str() {
                        // Not the `impl` of what a function returns.
                        "impl" => opens_associated = !is_function,
                        "trait" if !name.is_empty() => {
                            opens_associated = true;
                            self.types.push(Item { name });
                        }
                        "struct" | "enum" | "union" if !name.is_empty() => self.types.push(Item { name }),
                        "type" if !name.is_empty() && !is_associated => self.types.push(Item { name }),
                        "fn" if !name.is_empty() => {
                            is_function = true;
                            self.functions.push(Item { name });
                        }
                        _ => {}
                    }
                }
                TokenTree::Group(group) => {
                    let braces = group.delimiter() == Delimiter::Brace;
                    self.add(group.stream(), braces && opens_associated);
                    opens_associated &= !braces;
                    is_function &= !braces;
                }
                _ => {}
            }
        }
    }
}

/// The trees up to the end of an item: its braces, or a semicolon.
fn length_of_item(trees: &[TokenTree]) -> usize {
    let ends = |tree: &TokenTree| match tree {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(mark) => mark.as_char() == ';',
        _ => false,
    };
    trees.iter().position(ends).map_or(trees.len(), |end| end + 1)
}

#[test]
fn items_are_found_wherever_they_are_and_those_of_tests_are_left_out() {
    let items = Items::read(
        "pub struct A; enum B { X } impl Iterator for A { type Item = u8; fn of(&self) { struct Inner; } }\n\
         trait C { type D; fn take(); } type E = fn(u8) -> A; fn f(g: impl Fn(u8)) -> impl C { type Low = u8; }\n\
         #[cfg(test)] mod tests { struct T; fn told() {} } #[cfg(test)] use x::Y; #[cfg(unix)] fn u() {}\n\
         macro_rules! m { ($name:ident) => { struct $name; $(fn r() {})* <$type as C>::v(); } }",
    );
    let names = |items: &[Item]| items.iter().map(|item| item.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&items.types), ["A", "B", "Inner", "C", "E", "Low"]);
    assert_eq!(names(&items.functions), ["of", "take", "f", "u", "r"]);
}
