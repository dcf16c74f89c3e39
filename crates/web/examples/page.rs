//! Prints the page, made of a module that is compiled and compressed: what `scripts/dist web` ends with.
//!
//! Usage: `page MODULE.wasm.gz BINDINGS.js EXAMPLES > dbstow.html`

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use web::{Example, Parts, page};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [module, bindings, examples] = arguments.as_slice() else {
        return Err("usage: page MODULE.wasm.gz BINDINGS.js EXAMPLES".into());
    };
    let text = |name: &str| fs::read_to_string(examples.join(name));
    let [shop, shop_today] = [text("shop.toml")?, text("today.toml")?];
    let [orders, orders_today] = [text("orders.toml")?, text("orders-today.toml")?];
    let examples = [
        Example {
            title: "Example: a shop on PostgreSQL",
            name: "shop.toml",
            profile: &shop,
            today: &shop_today,
            asked: vec![
                ("cloud", "azure"),
                ("budget", "300"),
                ("data", "60GiB"),
                ("log", "20GiB"),
            ],
        },
        Example {
            title: "Example: orders on SQL Server",
            name: "orders.toml",
            profile: &orders,
            today: &orders_today,
            asked: vec![("data", "600GiB"), ("log", "100GiB"), ("temp", "60GiB")],
        },
    ];
    let page = page(&Parts {
        module: &fs::read(module)?,
        bindings: &fs::read_to_string(bindings)?,
        examples: &examples,
    })?;
    print!("{page}");
    Ok(())
}
