//! Serves the fixed script to foreign clients until standard input ends.

use std::io::{self, Read};

use clap::Parser;
use serde_json::json;
use tds_double::{Credentials, Double, Encryption, fixed};

/// A strict double of SQL Server that knows a fixed script
#[derive(Parser)]
struct Arguments {
    /// Port of 127.0.0.1; 0 for a free one
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// The login
    #[arg(long, default_value = "sa")]
    user: String,
    /// Its password
    #[arg(long, default_value = "Double-1433")]
    password: String,
    /// Encrypt, with a certificate that signs itself
    #[arg(long)]
    tls: bool,
}

fn main() -> io::Result<()> {
    let arguments = Arguments::parse();
    let script = fixed::script(Credentials::new(&arguments.user, &arguments.password));
    let encryption = if arguments.tls {
        Encryption::Required
    } else {
        Encryption::None
    };
    let double = Double::start_at(arguments.port, script, encryption)?;
    let address = double.address();
    println!(
        "{}",
        json!({"host": address.ip(), "port": address.port(), "tls": arguments.tls, "certificate": double.certificate()})
    );
    io::stdin().read_to_end(&mut Vec::new())?;
    let report = json!({
        "heard": double.heard(),
        "unscripted": double.unscripted(),
        "violations": double.violations(),
        "attentions": double.attentions(),
    });
    println!("{report}");
    Ok(())
}
