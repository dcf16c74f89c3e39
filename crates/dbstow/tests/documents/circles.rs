//! No files of a crate need each other in a circle: each file can be read before those that need it.
//!
//! A file needs another where its own code mentions what the other defines. A re-export needs nothing by itself: what is taken
//! through it is needed of the file that defines it. Methods are not followed, nor names that macros make or take as other than
//! expressions, nor tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{
    Attribute, Expr, ExprCall, ExprLit, Ident, Item, ItemMod, ItemUse, Lit, Macro, Meta,
    MetaNameValue, Token, UseTree, Visibility,
};

#[test]
fn no_files_of_a_crate_need_each_other_in_a_circle() {
    let roots = roots();
    let arrows = roots.iter().map(|root| Modules::read(root).arrows());
    let found: Vec<String> = arrows.flat_map(|arrows| circles(&arrows)).collect();
    assert_eq!(found, [""; 0], "{}", found.join("\n"));
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
    let found = || circles(&Modules::read(&folder.path().join("lib.rs")).arrows());
    assert_eq!(found(), [""; 0]);

    write("c.rs", "use super::a; pub fn made(from: a::A) {}");
    let file = |name: &str| folder.path().join(name).display().to_string();
    let [a, b, c] = ["a.rs", "b.rs", "c.rs"].map(file);
    let ties = format!("\n  {a} -> {b}: B\n  {b} -> {c}: made\n  {c} -> {a}: A");
    assert_eq!(found(), [format!("a circle of 3 files:{ties}")]);
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

/// What files take from each other: the file that needs, the file that defines, the names.
type Arrows = BTreeMap<PathBuf, BTreeMap<PathBuf, BTreeSet<String>>>;

/// A module, and what its own text declares and mentions.
#[derive(Default)]
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

impl Module {
    /// Notes what a `use` binds, below the names of `path`.
    fn import(&mut self, tree: &UseTree, mut path: Vec<String>, is_public: bool) {
        let (last, name) = match tree {
            UseTree::Path(inner) => {
                path.push(inner.ident.to_string());
                return self.import(&inner.tree, path, is_public);
            }
            UseTree::Group(group) => {
                let trees = group.items.iter();
                return trees.for_each(|tree| self.import(tree, path.clone(), is_public));
            }
            UseTree::Name(name) => (name.ident.to_string(), name.ident.to_string()),
            UseTree::Rename(renamed) => (renamed.ident.to_string(), renamed.rename.to_string()),
            UseTree::Glob(_) => ("*".to_owned(), "*".to_owned()),
        };
        let name = match last.as_str() {
            "self" if name == "self" => path.last().cloned().unwrap_or_default(),
            _ => name,
        };
        if last != "self" {
            path.push(last);
        }
        self.imports.push(Import {
            name,
            path,
            is_public,
        });
    }
}

impl<'ast> Visit<'ast> for Module {
    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let is_public = !matches!(item.vis, Visibility::Inherited);
        self.import(&item.tree, Vec::new(), is_public);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names = names_of(path);
        // A word alone is a variable, unless it is a type or is called.
        if names.len() > 1 || names[0].starts_with(char::is_uppercase) {
            self.mentions.insert(names);
        }
        visit::visit_path(self, path);
    }

    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        if let Expr::Path(called) = call.func.as_ref() {
            self.mentions.insert(names_of(&called.path));
        }
        visit::visit_expr_call(self, call);
    }

    /// Most macros take expressions.
    fn visit_macro(&mut self, call: &'ast Macro) {
        visit::visit_path(self, &call.path);
        let arguments = call.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated);
        let Ok(arguments) = arguments else { return };
        arguments
            .iter()
            .for_each(|argument| self.visit_expr(argument));
    }
}

/// The modules of one crate, its root first; tests are left out.
struct Modules(Vec<Module>);

impl Modules {
    fn read(root: &Path) -> Self {
        let mut modules = Self(Vec::new());
        modules.read_file(root, 0);
        modules
    }

    fn read_file(&mut self, file: &Path, parent: usize) -> usize {
        let text =
            fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let parsed = syn::parse_file(&text);
        let parsed = parsed.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let is_map = ["lib.rs", "main.rs", "mod.rs"]
            .iter()
            .any(|name| file.ends_with(name));
        let folder = file.with_extension("");
        let folder = if is_map {
            file.with_file_name("")
        } else {
            folder
        };
        self.read_module(file, &folder, parent, &parsed.items)
    }

    fn read_module(&mut self, file: &Path, folder: &Path, parent: usize, items: &[Item]) -> usize {
        let index = self.0.len();
        self.0.push(Module {
            file: file.to_owned(),
            folder: folder.to_owned(),
            parent,
            ..Module::default()
        });
        for item in items {
            let (attributes, name) = declared(item);
            if attributes.iter().any(is_of_tests) {
                continue;
            }
            match item {
                Item::Mod(child) => {
                    let at = self.read_child(index, child);
                    self.0[index]
                        .children
                        .entry(child.ident.to_string())
                        .or_insert(at);
                }
                item => {
                    self.0[index].items.extend(name.map(ToString::to_string));
                    self.0[index].visit_item(item);
                }
            }
        }
        index
    }

    fn read_child(&mut self, module: usize, child: &ItemMod) -> usize {
        let Module { file, folder, .. } = &self.0[module];
        let (file, folder) = (file.clone(), folder.join(child.ident.to_string()));
        if let Some((_, items)) = &child.content {
            return self.read_module(&file, &folder, module, items);
        }
        let named = child.attrs.iter().find_map(path_of);
        let named = named.map(|path| file.with_file_name(path));
        let found = named.unwrap_or_else(|| folder.with_extension("rs"));
        match found.exists() {
            true => self.read_file(&found, module),
            false => self.read_file(&folder.join("mod.rs"), module),
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
                    let of_file = arrows.entry(module.file.clone()).or_default();
                    let names = of_file.entry(to.clone()).or_default();
                    names.extend(path.last().cloned());
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

fn names_of(path: &syn::Path) -> Vec<String> {
    let parts = path.segments.iter();
    parts.map(|part| part.ident.to_string()).collect()
}

/// The attributes of an item, and the name that it declares.
fn declared(item: &Item) -> (&[Attribute], Option<&Ident>) {
    match item {
        Item::Const(item) => (&item.attrs, Some(&item.ident)),
        Item::Enum(item) => (&item.attrs, Some(&item.ident)),
        Item::Fn(item) => (&item.attrs, Some(&item.sig.ident)),
        Item::Impl(item) => (&item.attrs, None),
        Item::Macro(item) => (&item.attrs, item.ident.as_ref()),
        Item::Mod(item) => (&item.attrs, Some(&item.ident)),
        Item::Static(item) => (&item.attrs, Some(&item.ident)),
        Item::Struct(item) => (&item.attrs, Some(&item.ident)),
        Item::Trait(item) => (&item.attrs, Some(&item.ident)),
        Item::Type(item) => (&item.attrs, Some(&item.ident)),
        Item::Union(item) => (&item.attrs, Some(&item.ident)),
        Item::Use(item) => (&item.attrs, None),
        _ => (&[], None),
    }
}

/// Whether an attribute has its item compiled for tests only.
fn is_of_tests(attribute: &Attribute) -> bool {
    match &attribute.meta {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("cfg") => {
            let condition = list.tokens.to_string().replace(' ', "");
            condition == "test" || condition.starts_with("all(test")
        }
        Meta::List(_) | Meta::NameValue(_) => false,
    }
}

/// The value of `#[path = ".."]`.
fn path_of(attribute: &Attribute) -> Option<String> {
    match &attribute.meta {
        Meta::NameValue(MetaNameValue {
            path,
            value:
                Expr::Lit(ExprLit {
                    lit: Lit::Str(file),
                    ..
                }),
            ..
        }) if path.is_ident("path") => Some(file.value()),
        _ => None,
    }
}

/// The files that reach each other by arrows: each circle, with the names that tie it.
fn circles(arrows: &Arrows) -> Vec<String> {
    let reached = |from| {
        let mut reached = BTreeSet::new();
        let mut next = vec![from];
        while let Some(file) = next.pop() {
            let to = arrows.get(file).into_iter().flat_map(BTreeMap::keys);
            next.extend(to.filter(|to| reached.insert(*to)));
        }
        reached
    };
    let reached: BTreeMap<_, _> = arrows.keys().map(|file| (file, reached(file))).collect();
    let mut circles = BTreeSet::new();
    for (file, of_file) in &reached {
        let mut circle = of_file.clone();
        circle.retain(|other| {
            reached
                .get(other)
                .is_some_and(|of_other| of_other.contains(file))
        });
        if !circle.is_empty() {
            circles.insert(circle);
        }
    }
    let described = circles.into_iter().map(|circle| {
        let mut text = format!("a circle of {} files:", circle.len());
        for from in &circle {
            for (to, names) in arrows[*from].iter().filter(|(to, _)| circle.contains(*to)) {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                let names = names.join(", ");
                text += &format!("\n  {} -> {}: {names}", from.display(), to.display());
            }
        }
        text
    });
    described.collect()
}
