//! No files of a crate need each other in a circle: each file can be read before those that need it.
//!
//! A file needs another where its own code mentions what the other defines. A re-export needs nothing by itself: what is taken
//! through it is needed of the file that defines it. Methods are not followed, nor names that macros make, nor tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Crates whose circles are not open yet, each with the reason.
const NOT_YET: [(&str, &str); 1] = [
    ("testing", "for tests only"),
];

#[test]
fn no_files_of_a_crate_need_each_other_in_a_circle() {
    let (mut found, mut open) = (Vec::new(), BTreeSet::new());
    for root in roots() {
        let arrows = Modules::read(&root).arrows();
        let circles = circles(&arrows);
        let circles = circles.iter().map(|circle| described(circle, &arrows));
        match NOT_YET.iter().find(|(name, _)| *name == crate_of(&root)) {
            Some((name, _)) => open.extend(circles.map(|_| *name)),
            None => found.extend(circles),
        }
    }
    assert_eq!(found, [""; 0], "{}", found.join("\n"));
    assert_eq!(
        open,
        NOT_YET.map(|(name, _)| name).into(),
        "a crate without a circle leaves the list"
    );
}

#[test]
fn a_circle_is_found_through_re_exports_and_named_with_what_ties_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, text: &str| {
        fs::write(folder.path().join(name), text).expect("the folder can be written");
    };
    write(
        "lib.rs",
        "mod a; mod b; mod c; pub use b::B; #[cfg(test)] mod tests;",
    );
    write("a.rs", "use crate::B; pub struct A(B);");
    write(
        "b.rs",
        "pub struct B; impl B { fn new() { super::c::made() } }",
    );
    // A test may take from anywhere.
    write(
        "c.rs",
        "pub fn made() {} #[cfg(test)] mod tests { use crate::a::A; }",
    );
    let arrows = |root: &str| Modules::read(&folder.path().join(root)).arrows();
    assert_eq!(circles(&arrows("lib.rs")), BTreeSet::new());

    write("c.rs", "use super::a; pub fn made(from: a::A) {}");
    let arrows = arrows("lib.rs");
    let found = circles(&arrows);
    let found: Vec<String> = found
        .iter()
        .map(|circle| described(circle, &arrows))
        .collect();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let [a, b, c] = ["a.rs", "b.rs", "c.rs"].map(file);
    let ties = format!("\n  {a} -> {b}: B\n  {b} -> {c}: made\n  {c} -> {a}: A");
    assert_eq!(found, [format!("a circle of 3 files:{ties}")]);
}

/// The root file of each crate, of its program too.
fn roots() -> Vec<PathBuf> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folders = [crates.join("engines"), crates].map(|parent| {
        let entries = fs::read_dir(&parent).expect("the folder of crates is there");
        entries.map(|entry| entry.expect("it can be read").path())
    });
    let sources = folders
        .into_iter()
        .flatten()
        .map(|folder| folder.join("src"));
    let roots = sources.flat_map(|source| ["lib.rs", "main.rs"].map(|name| source.join(name)));
    let roots: Vec<PathBuf> = roots.filter(|root| root.exists()).collect();
    assert!(roots.len() > 30, "{roots:?}");
    roots
}

/// The folder of a crate, by its root file.
fn crate_of(root: &Path) -> String {
    let folder = root.ancestors().nth(2).and_then(Path::file_name);
    folder
        .expect("a root is in the sources of a crate")
        .to_string_lossy()
        .into_owned()
}

/// A circle, with the names that tie it.
fn described(circle: &[&PathBuf], arrows: &Arrows) -> String {
    let within = arrows
        .iter()
        .filter(|((from, to), _)| circle.contains(&from) && circle.contains(&to));
    let ties = within.map(|((from, to), names)| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        format!(
            "\n  {} -> {}: {}",
            from.display(),
            to.display(),
            names.join(", ")
        )
    });
    format!(
        "a circle of {} files:{}",
        circle.len(),
        ties.collect::<String>()
    )
}

/// What files take from each other: the file that needs, the file that defines, the names.
type Arrows = BTreeMap<(PathBuf, PathBuf), BTreeSet<String>>;

/// A module, and what its own text declares and mentions.
struct Module {
    file: PathBuf,
    /// Folder of the files of its child modules.
    folder: PathBuf,
    /// Index of the module that contains it; a root is its own.
    parent: usize,
    children: BTreeMap<String, usize>,
    items: BTreeSet<String>,
    imports: Vec<Import>,
    /// Each path in its code outside of `use`, of one name or more.
    mentions: BTreeSet<Vec<String>>,
}

/// One name that a `use` binds; `*` binds all names of a module.
struct Import {
    name: String,
    path: Vec<String>,
    /// Offered to others: it needs nothing by itself, only where its name is mentioned.
    is_public: bool,
}

/// The modules of one crate, its root first; tests are left out.
struct Modules(Vec<Module>);

impl Modules {
    fn read(root: &Path) -> Self {
        let folder = root.parent().expect("a file is in a folder");
        let mut modules = Self(Vec::new());
        modules.read_file(root, folder, 0);
        modules
    }

    fn read_file(&mut self, file: &Path, folder: &Path, parent: usize) -> usize {
        let text =
            fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let tokens = text
            .parse::<TokenStream>()
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        self.read_module(file, folder, parent, tokens)
    }

    fn read_module(
        &mut self,
        file: &Path,
        folder: &Path,
        parent: usize,
        tokens: TokenStream,
    ) -> usize {
        let index = self.0.len();
        self.0.push(Module {
            file: file.to_owned(),
            folder: folder.to_owned(),
            parent,
            children: BTreeMap::new(),
            items: BTreeSet::new(),
            imports: Vec::new(),
            mentions: BTreeSet::new(),
        });
        let tokens = tokens.into_iter().collect::<Vec<_>>();
        let mut rest = tokens.as_slice();
        while !rest.is_empty() {
            rest = self.read_item(index, rest);
        }
        index
    }

    /// Reads the next item of a module, and returns what follows it.
    fn read_item<'a>(&mut self, module: usize, tokens: &'a [TokenTree]) -> &'a [TokenTree] {
        let length = 1 + tokens
            .iter()
            .position(|token| is_punct(token, ';') || is_group(token, Delimiter::Brace))
            .unwrap_or(tokens.len() - 1);
        let declared = tokens.iter().position(
            |token| matches!(token, TokenTree::Ident(ident) if DECLARES.contains(&ident.to_string().as_str())),
        );
        let keyword = declared.filter(|at| *at < length);
        let is_use = keyword.is_some_and(|at| tokens[at].to_string() == "use");
        let length = match is_use {
            true => {
                1 + tokens
                    .iter()
                    .position(|token| is_punct(token, ';'))
                    .expect("a use ends")
            }
            false => length,
        };
        let (item, rest) = tokens.split_at(length);
        if is_of_tests(item) {
            return rest;
        }
        let Some(at) = keyword else {
            self.mention(module, item);
            return rest;
        };
        let name = item
            .get(at + 1)
            .map(ToString::to_string)
            .unwrap_or_default();
        match item[at].to_string().as_str() {
            "use" => {
                let is_public = item[..at].iter().any(|token| token.to_string() == "pub");
                self.import(module, &item[at + 1..], is_public);
            }
            "mod" => self.read_child(module, &name, item),
            "impl" => self.mention(module, item),
            "macro_rules" => {
                let name = item
                    .get(at + 2)
                    .map(ToString::to_string)
                    .unwrap_or_default();
                self.0[module].items.insert(name);
                self.mention(module, item);
            }
            _ => {
                self.0[module].items.insert(name);
                self.mention(module, item);
            }
        }
        rest
    }

    fn read_child(&mut self, module: usize, name: &str, item: &[TokenTree]) {
        let (file, folder) = (
            self.0[module].file.clone(),
            self.0[module].folder.join(name),
        );
        let child = match item.last() {
            Some(TokenTree::Group(body)) => self.read_module(&file, &folder, module, body.stream()),
            _ => {
                let beside = file.parent().expect("a file is in a folder");
                let candidates = [
                    path_attribute(item).map(|path| beside.join(path)),
                    Some(folder.with_extension("rs")),
                    Some(folder.join("mod.rs")),
                ];
                let found = candidates.into_iter().flatten().find(|path| path.exists());
                let found = found.unwrap_or_else(|| panic!("{}: no {name}", file.display()));
                let folder = match found.ends_with("mod.rs") {
                    true => found.parent().expect("a file is in a folder").to_owned(),
                    false => found.with_extension(""),
                };
                self.read_file(&found, &folder, module)
            }
        };
        self.0[module]
            .children
            .entry(name.to_owned())
            .or_insert(child);
    }

    /// Notes each path in some code, and what a `use` in it binds.
    fn mention(&mut self, module: usize, tokens: &[TokenTree]) {
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Group(group) => {
                    let inner = group.stream().into_iter().collect::<Vec<_>>();
                    self.mention(module, &inner);
                }
                TokenTree::Ident(ident) if *ident == "use" => {
                    let end = tokens[at..].iter().position(|token| is_punct(token, ';'));
                    let end = end.map_or(tokens.len(), |end| at + end);
                    self.import(module, &tokens[at + 1..end], false);
                    at = end;
                }
                TokenTree::Ident(ident) if at == 0 || !is_punct(&tokens[at - 1], '.') => {
                    let mut path = vec![ident.to_string()];
                    while let Some(TokenTree::Ident(next)) = tokens.get(at + 3)
                        && is_punct(&tokens[at + 1], ':')
                        && is_punct(&tokens[at + 2], ':')
                    {
                        path.push(next.to_string());
                        at += 3;
                    }
                    // A word alone is a variable, a field or a method, unless it is a type or is called.
                    let is_called = tokens
                        .get(at + 1)
                        .is_some_and(|token| is_group(token, Delimiter::Parenthesis));
                    let is_type = path[0].starts_with(char::is_uppercase);
                    let is_defined = at > 0 && tokens[at - 1].to_string() == "fn";
                    if path.len() > 1 || is_type || is_called && !is_defined {
                        self.0[module].mentions.insert(path);
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// Notes what a `use` binds: `a::b as c`, `a::*`, `a::{b, c::d}`.
    fn import(&mut self, module: usize, tokens: &[TokenTree], is_public: bool) {
        for path in paths_of(tokens) {
            let (path, name) = match path.as_slice() {
                [path @ .., word, name] if word == "as" => (path.to_vec(), name.clone()),
                [path @ .., last] if last == "self" => {
                    (path.to_vec(), path.last().cloned().unwrap_or_default())
                }
                path => (path.to_vec(), path.last().cloned().unwrap_or_default()),
            };
            self.0[module].imports.push(Import {
                name,
                path,
                is_public,
            });
        }
    }

    /// The module whose text defines what a path of another module means; none for another crate's.
    fn definer(&self, module: usize, path: &[String], depth: usize) -> Option<Found> {
        let (first, rest) = path.split_first()?;
        let found = match first.as_str() {
            "crate" => Found::Module(0),
            "self" => Found::Module(module),
            "super" => Found::Module(self.0[module].parent),
            name => self.named(module, name, depth)?,
        };
        match found {
            Found::Module(found) if !rest.is_empty() => self.definer(found, rest, depth),
            found => Some(found),
        }
    }

    /// What a name means in a module.
    fn named(&self, module: usize, name: &str, depth: usize) -> Option<Found> {
        let here = &self.0[module];
        if let Some(child) = here.children.get(name) {
            return Some(Found::Module(*child));
        }
        if here.items.contains(name) {
            return Some(Found::Item(module));
        }
        // An import of an import, and so on: more steps than files are a name of another crate.
        let depth = depth.checked_sub(1)?;
        here.imports.iter().find_map(|import| {
            let is_all = import.name == "*";
            match import.path.split_last() {
                Some((_, all)) if is_all => match self.definer(module, all, depth)? {
                    Found::Module(all) if all != module => self.named(all, name, depth),
                    _ => None,
                },
                _ if import.name == name && import.path[0] != name => {
                    self.definer(module, &import.path, depth)
                }
                _ => None,
            }
        })
    }

    fn arrows(&self) -> Arrows {
        let mut arrows = Arrows::new();
        for (index, module) in self.0.iter().enumerate() {
            let imported = module.imports.iter().filter(|import| !import.is_public);
            let imported = imported.map(|import| &import.path);
            for path in imported.chain(&module.mentions) {
                let Some(Found::Item(definer)) = self.definer(index, path, 8) else {
                    continue;
                };
                let to = &self.0[definer].file;
                if *to != module.file {
                    let names = arrows.entry((module.file.clone(), to.clone())).or_default();
                    names.insert(path.last().expect("a path has a name").clone());
                }
            }
        }
        arrows
    }
}

#[derive(Clone, Copy)]
enum Found {
    Module(usize),
    /// An item that this module's text defines.
    Item(usize),
}

/// Words that begin an item.
const DECLARES: [&str; 13] = [
    "use",
    "mod",
    "fn",
    "struct",
    "enum",
    "union",
    "trait",
    "type",
    "const",
    "static",
    "impl",
    "macro_rules",
    "extern",
];

fn is_punct(token: &TokenTree, punct: char) -> bool {
    matches!(token, TokenTree::Punct(found) if found.as_char() == punct)
}

fn is_group(token: &TokenTree, delimiter: Delimiter) -> bool {
    matches!(token, TokenTree::Group(found) if found.delimiter() == delimiter)
}

/// Whether an item is compiled for tests only.
fn is_of_tests(item: &[TokenTree]) -> bool {
    let mut pairs = item
        .windows(2)
        .take_while(|pair| is_punct(&pair[0], '#') || is_group(&pair[0], Delimiter::Bracket));
    pairs.any(|pair| {
        is_punct(&pair[0], '#') && {
            let text = pair[1].to_string().replace(' ', "");
            text == "[test]" || text == "[cfg(test)]" || text.starts_with("[cfg(all(test")
        }
    })
}

/// The value of `#[path = ".."]`.
fn path_attribute(item: &[TokenTree]) -> Option<String> {
    item.iter().find_map(|token| {
        let text = token.to_string().replace(' ', "");
        let path = text.strip_prefix("[path=\"")?.strip_suffix("\"]")?;
        Some(path.to_owned())
    })
}

/// Each path of a tree of imports, word by word.
fn paths_of(tokens: &[TokenTree]) -> Vec<Vec<String>> {
    tokens
        .split(|token| is_punct(token, ','))
        .flat_map(|tree| {
            let words = tree
                .iter()
                .filter(|token| !is_punct(token, ':') && !is_punct(token, ';'));
            let mut prefix = Vec::new();
            for word in words {
                if let TokenTree::Group(group) = word {
                    let inner = group.stream().into_iter().collect::<Vec<_>>();
                    let inner = paths_of(&inner).into_iter();
                    return inner
                        .map(|path| [prefix.clone(), path].concat())
                        .collect::<Vec<_>>();
                }
                prefix.push(word.to_string());
            }
            Vec::from_iter((!prefix.is_empty()).then_some(prefix))
        })
        .collect()
}

/// Files that reach each other by arrows, each circle sorted.
fn circles(arrows: &Arrows) -> BTreeSet<Vec<&PathBuf>> {
    let reached = |from| {
        let mut reached = BTreeSet::new();
        let mut next = vec![from];
        while let Some(file) = next.pop() {
            let arrows = arrows.keys().filter(|(from, _)| from == file);
            next.extend(arrows.map(|(_, to)| to).filter(|to| reached.insert(*to)));
        }
        reached
    };
    let files = arrows.keys().map(|(from, _)| from);
    let reached = files
        .map(|file| (file, reached(file)))
        .collect::<BTreeMap<_, _>>();
    let is_mutual =
        |a, b| reached[a].contains(b) && reached.get(b).is_some_and(|all| all.contains(a));
    let circles = reached.keys().map(|file| {
        let circle = reached.keys().filter(|other| is_mutual(*file, **other));
        circle.copied().collect::<Vec<_>>()
    });
    circles.filter(|circle| circle.len() > 1).collect()
}
