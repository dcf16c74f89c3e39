//! Reads a results folder that `dbstow run` wrote, and prints each comparison with its verdict.
//!
//! `cargo run -p dbstow-analysis --example read_records -- FOLDER`

use std::path::Path;

use analysis::findings;
use experiment::results::Results;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("give a results folder")?;
    let results = Results::open(Path::new(&folder))?;
    let (records, left_out) = results.records();
    for warning in left_out {
        eprintln!("{}", warning.text);
    }
    let findings = findings::make(&results.question, &records);
    for compared in &findings.comparisons {
        println!(
            "{} against {}: {} {:.2}x (95 % CI {:.2} to {:.2}), {:?}",
            compared.candidate,
            compared.baseline,
            compared.metric,
            compared.ratio.mean,
            compared.ratio.low,
            compared.ratio.high,
            compared.verdict
        );
    }
    Ok(())
}
