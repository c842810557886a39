//! The graph of a crate's files, each with those that the paths in its code name. For the tests of the house.
//!
//! A name that a `pub use` hands on counts as a name of the file that defines it. `mod x;`, a `pub use` itself and code
//! of tests count for nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Files by their paths below the crate's `src`, each with the files that its code names.
pub type Graph = BTreeMap<String, BTreeSet<String>>;

/// A module: a file, or a part of one.
#[derive(Default)]
struct Module {
    file: String,
    parent: usize,
    children: BTreeMap<String, usize>,
    defined: BTreeSet<String>,
    /// Names that a `use` brings, each with its path.
    imported: BTreeMap<String, Vec<String>>,
    /// Paths of which a `use` brings everything.
    globs: Vec<Vec<String>>,
    /// Paths in the code, those of `use` too.
    named: Vec<Vec<String>>,
    /// Types that get methods here: the path of each.
    methods_of: Vec<Vec<String>>,
}

/// The modules of a crate; the first is its root.
pub struct Crate {
    modules: Vec<Module>,
    /// The statement that is read is a `pub use`.
    handing_on: bool,
}

/// Where a path leads.
enum Found {
    Module(usize),
    /// Something that this file defines.
    Item(String),
}

impl Crate {
    /// Reads the crate of which `root` is the first file.
    pub fn read(root: &Path) -> Self {
        let mut all = Self { modules: vec![Module::default()], handing_on: false };
        let mut files: Vec<(usize, PathBuf)> = vec![(0, root.to_path_buf())];
        let below = root.parent().unwrap();
        while let Some((at, path)) = files.pop() {
            all.modules[at].file = path.strip_prefix(below).unwrap().to_string_lossy().into_owned();
            let code: TokenStream = std::fs::read_to_string(&path).unwrap().parse().unwrap();
            let first = all.modules.len();
            all.items(at, code);
            let folder = match path.file_stem().unwrap().to_str().unwrap() {
                "mod" | "lib" | "main" => path.parent().unwrap().to_path_buf(),
                stem => path.with_file_name(stem),
            };
            for new in first..all.modules.len() {
                if !all.modules[new].file.is_empty() {
                    continue;
                }
                // Modules within the file are folders below its own.
                let mut names = Vec::new();
                let mut up = new;
                while up != at {
                    let parent = all.modules[up].parent;
                    let (name, _) =
                        all.modules[parent].children.iter().find(|(_, child)| **child == up).unwrap();
                    names.push(name.clone());
                    up = parent;
                }
                let place = names.iter().rev().fold(folder.clone(), |place, name| place.join(name));
                let file =
                    [place.with_extension("rs"), place.join("mod.rs")].into_iter().find(|file| file.exists());
                files.extend(file.map(|file| (new, file)));
            }
        }
        all
    }

    /// Every file with the files that it names.
    pub fn graph(&self) -> Graph {
        let mut graph = Graph::new();
        for (at, module) in self.modules.iter().enumerate() {
            let edges = graph.entry(module.file.clone()).or_default();
            for path in &module.named {
                if let Some(Found::Item(file)) = self.find(at, path, 0)
                    && file != module.file
                {
                    edges.insert(file);
                }
            }
        }
        graph
    }

    /// Types that have methods apart from their own file: the file, and the type's last name.
    pub fn methods_apart(&self) -> BTreeSet<(String, String)> {
        let mut apart = BTreeSet::new();
        for (at, module) in self.modules.iter().enumerate() {
            for path in &module.methods_of {
                if let Some(Found::Item(file)) = self.find(at, path, 0)
                    && file != module.file
                {
                    apart.insert((module.file.clone(), path.last().unwrap().clone()));
                }
            }
        }
        apart
    }

    /// The file or module that `path` leads to from the module `at`; nothing, if it leads out of the crate.
    fn find(&self, at: usize, path: &[String], depth: usize) -> Option<Found> {
        if depth > 20 {
            return None;
        }
        let (first, mut rest) = path.split_first()?;
        let mut here = match first.as_str() {
            "crate" => 0,
            "self" => at,
            "super" => self.modules[at].parent,
            _ => match self.look_up(at, first, !rest.is_empty(), depth)? {
                Found::Module(at) => at,
                item => return Some(item),
            },
        };
        while let Some((name, more)) = rest.split_first() {
            rest = more;
            if name == "super" {
                here = self.modules[here].parent;
                continue;
            }
            match self.look_up(here, name, !rest.is_empty(), depth) {
                Some(Found::Module(at)) => here = at,
                Some(item) => return Some(item),
                // Something that a macro makes.
                None => return Some(Found::Item(self.modules[here].file.clone())),
            }
        }
        Some(Found::Module(here))
    }

    /// The meaning of `name` in a module; `goes_on`: a path goes on behind it, so it may be a module before anything else.
    fn look_up(&self, at: usize, name: &str, goes_on: bool, depth: usize) -> Option<Found> {
        let module = &self.modules[at];
        let child = module.children.get(name).map(|child| Found::Module(*child));
        if goes_on && child.is_some() {
            return child;
        }
        if module.defined.contains(name) {
            return Some(Found::Item(module.file.clone()));
        }
        if let Some(path) = module.imported.get(name) {
            return self.find(at, path, depth + 1);
        }
        if child.is_some() {
            return child;
        }
        module.globs.iter().find_map(|glob| match self.find(at, glob, depth + 1)? {
            Found::Module(of) if of != at => self.look_up(of, name, goes_on, depth + 1),
            _ => None,
        })
    }

    /// Reads the items of a module.
    fn items(&mut self, at: usize, code: TokenStream) {
        let trees: Vec<TokenTree> = code.into_iter().collect();
        let mut rest = trees.as_slice();
        while let Some((first, more)) = rest.split_first() {
            match first {
                TokenTree::Punct(mark) if mark.as_char() == '#' => {
                    let (attribute, more) = match more {
                        [TokenTree::Group(group), more @ ..] => (group.to_string(), more),
                        [_, TokenTree::Group(group), more @ ..] => (group.to_string(), more),
                        _ => (String::new(), more),
                    };
                    let has = |word: &str| words(&attribute).any(|other| other == word);
                    let of_tests = attribute.starts_with("[cfg") && has("test") && !has("any") && !has("not");
                    rest = if of_tests { after_item(more) } else { more };
                }
                TokenTree::Ident(word) if word == "pub" => {
                    let of_crate = matches!(more.first(), Some(TokenTree::Group(_)));
                    rest = &more[usize::from(of_crate)..];
                    self.handing_on = matches!(rest.first(), Some(TokenTree::Ident(word)) if word == "use");
                }
                TokenTree::Ident(word) => {
                    rest = self.item(at, &word.to_string(), rest);
                    self.handing_on = false;
                }
                _ => rest = more,
            }
        }
    }

    /// Reads from one word of a module's items on; the trees behind what it read.
    fn item<'t>(&mut self, at: usize, word: &str, trees: &'t [TokenTree]) -> &'t [TokenTree] {
        let name = |index: usize| match trees.get(index) {
            Some(TokenTree::Ident(name)) => Some(name.to_string().trim_start_matches("r#").to_string()),
            _ => None,
        };
        match word {
            "mod" => {
                let child = self.modules.len();
                let body = match &trees[2] {
                    TokenTree::Group(group) => Some(group.stream()),
                    _ => None,
                };
                let file = if body.is_some() { self.modules[at].file.clone() } else { String::new() };
                self.modules.push(Module { file, parent: at, ..Module::default() });
                self.modules[at].children.insert(name(1).unwrap(), child);
                self.items(child, body.unwrap_or_default());
                return &trees[3..];
            }
            "macro_rules" => {
                self.modules[at].defined.extend(name(2));
                return self.code(at, trees);
            }
            "impl" => {
                self.modules[at].methods_of.extend(type_of(trees));
                return self.code(at, trees);
            }
            "fn" | "struct" | "enum" | "union" | "trait" | "type" | "const" | "static" => {
                let name = name(1).filter(|name| name != "fn" && name != "mut").or_else(|| name(2));
                self.modules[at].defined.extend(name);
                return self.code(at, trees);
            }
            _ => {}
        }
        if word == "use" { self.code(at, trees) } else { &trees[1..] }
    }

    /// Reads the paths of one item's code, up to its end; the trees behind it.
    fn code<'t>(&mut self, at: usize, trees: &'t [TokenTree]) -> &'t [TokenTree] {
        let behind = after_item(trees);
        self.paths(at, &trees[..trees.len() - behind.len()]);
        behind
    }

    /// Reads the paths in any code, with what is in brackets.
    fn paths(&mut self, at: usize, trees: &[TokenTree]) {
        let mut index = 0;
        while index < trees.len() {
            match &trees[index] {
                TokenTree::Ident(word) if word == "use" => {
                    index += 1;
                    let end = index + trees[index..].iter().take_while(|tree| !is(tree, ';')).count();
                    self.import(at, Vec::new(), &trees[index..end]);
                    index = end;
                }
                TokenTree::Ident(_) => {
                    let follows_path =
                        index > 0 && (is(&trees[index - 1], ':') && index > 1 && is(&trees[index - 2], ':'));
                    let mut path = Vec::new();
                    while let Some(TokenTree::Ident(word)) = trees.get(index) {
                        path.push(word.to_string().trim_start_matches("r#").to_string());
                        index += 1;
                        match trees.get(index..index + 3) {
                            Some([a, b, TokenTree::Ident(_)]) if is(a, ':') && is(b, ':') => index += 2,
                            _ => break,
                        }
                    }
                    if !follows_path && path.len() > 1 {
                        self.modules[at].named.push(path);
                    }
                }
                TokenTree::Group(group) => {
                    let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                    self.paths(at, &inner);
                    index += 1;
                }
                _ => index += 1,
            }
        }
    }

    /// Reads one tree of a `use`, below `base`.
    fn import(&mut self, at: usize, mut base: Vec<String>, trees: &[TokenTree]) {
        for (index, tree) in trees.iter().enumerate() {
            match tree {
                TokenTree::Ident(word) if word == "as" => {
                    if let Some(TokenTree::Ident(new)) = trees.get(index + 1) {
                        self.modules[at].imported.insert(new.to_string(), base.clone());
                    }
                    self.name(at, base);
                    return;
                }
                TokenTree::Ident(word) => base.push(word.to_string().trim_start_matches("r#").to_string()),
                TokenTree::Punct(mark) if mark.as_char() == '*' => {
                    self.modules[at].globs.push(base.clone());
                    self.name(at, base);
                    return;
                }
                TokenTree::Group(group) => {
                    let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                    for part in inner.split(|tree| is(tree, ',')).filter(|part| !part.is_empty()) {
                        self.import(at, base.clone(), part);
                    }
                    return;
                }
                _ => {}
            }
        }
        if base.last().is_some_and(|last| last == "self") && base.len() > 1 {
            base.pop();
        }
        let module = &mut self.modules[at];
        if let Some(last) = base.last().filter(|_| base.len() > 1) {
            module.imported.entry(last.clone()).or_insert_with(|| base.clone());
        }
        self.name(at, base);
    }

    /// Keeps the path of a `use`, unless that only hands it on.
    fn name(&mut self, at: usize, path: Vec<String>) {
        if !self.handing_on {
            self.modules[at].named.push(path);
        }
    }
}

/// The path of the type that an `impl` without a trait gives methods.
fn type_of(trees: &[TokenTree]) -> Option<Vec<String>> {
    let mut depth = 0_i32;
    let mut path = Vec::new();
    for tree in &trees[1..] {
        match tree {
            tree if is(tree, '<') => depth += 1,
            tree if is(tree, '>') => depth -= 1,
            TokenTree::Ident(word) if depth == 0 => match word.to_string().as_str() {
                "for" => return None,
                "where" => break,
                word => path.push(word.to_string()),
            },
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => break,
            _ => {}
        }
    }
    Some(path).filter(|path| !path.is_empty())
}

/// The trees behind an item: behind its `;` or its braces.
fn after_item(trees: &[TokenTree]) -> &[TokenTree] {
    // The braces of `use a::{b};` and of a value do not end it.
    let ends_with_mark = trees.iter().find_map(|tree| match tree {
        TokenTree::Ident(word) => match word.to_string().as_str() {
            "use" | "static" | "type" => Some(true),
            "fn" | "struct" | "enum" | "union" | "trait" | "impl" | "mod" => Some(false),
            _ => None,
        },
        tree if is(tree, '=') => Some(true),
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(false),
        _ => None,
    });
    let braces = ends_with_mark != Some(true);
    let end = trees.iter().position(|tree| match tree {
        TokenTree::Group(group) => braces && group.delimiter() == Delimiter::Brace,
        tree => is(tree, ';'),
    });
    end.map_or(&[], |end| &trees[end + 1..])
}

/// Whether a tree is this mark.
fn is(tree: &TokenTree, mark: char) -> bool {
    matches!(tree, TokenTree::Punct(punct) if punct.as_char() == mark)
}

/// The words of some code.
fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !c.is_alphanumeric() && c != '_')
}

/// Files that name each other, directly or by way of others: each set of two or more.
pub fn cycles(graph: &Graph) -> Vec<BTreeSet<String>> {
    let reach: BTreeMap<&String, BTreeSet<&String>> = graph
        .keys()
        .map(|from| {
            let mut seen = BTreeSet::new();
            let mut next = vec![from];
            while let Some(at) = next.pop() {
                next.extend(graph.get(at).into_iter().flatten().filter(|to| seen.insert(*to)));
            }
            (from, seen)
        })
        .collect();
    let mut sets: BTreeSet<BTreeSet<String>> = BTreeSet::new();
    for (from, reached) in reach.iter().filter(|(from, reached)| reached.contains(*from)) {
        sets.insert(
            reached.iter().filter(|to| reach[**to].contains(*from)).map(|to| (*to).clone()).collect(),
        );
    }
    sets.into_iter().collect()
}
