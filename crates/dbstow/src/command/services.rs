//! `dbstow services`: lists the managed services of the catalogue, and shows what one allows.

use analysis::report::catalogue as report;
use catalogue::Catalogue;
use clap::Args as ClapArgs;

use super::listing::ListFormat;
use super::output::{print_all, print_whole};

/// Arguments of `dbstow services`.
#[derive(Clone, Debug, Default, ClapArgs)]
#[command(after_help = "Examples:\n  \
    dbstow services\n  \
    dbstow services rds-postgresql\n  \
    dbstow services azure-sql-mi-gp --classes\n  \
    dbstow disks aws.rds.gp3 --size 400GiB\n  \
    dbstow machines aws.rds.postgresql.db.r6i.2xlarge")]
pub struct Args {
    /// Part of a name or title; where one service is meant, its storage and its classes are shown
    #[cfg_attr(feature = "shell", arg(add = super::names::of_services()))]
    pub pattern: Option<String>,
    /// Show every class of the services found, as experiments name it
    #[arg(long)]
    pub classes: bool,
    /// Show everything about each service found, sources included
    #[arg(long)]
    pub details: bool,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    pub format: ListFormat,
}

/// Prints the list, the services or their classes.
///
/// # Errors
/// When nothing is found.
pub fn run(args: &Args) -> anyhow::Result<()> {
    let catalogue = Catalogue::builtin();
    let services = catalogue.find_services(args.pattern.as_deref().unwrap_or_default())?;
    match args.format {
        ListFormat::Json => super::print_json(&report::services_json(&services, &catalogue))?,
        ListFormat::Text if args.classes => {
            print_all(services.iter().map(|service| report::classes(service)))?;
        }
        ListFormat::Text if args.details => {
            let both = |service| {
                let known = report::service(service, &catalogue);
                [known, report::service_details(service, &catalogue)]
            };
            print_all(services.iter().copied().flat_map(both))?;
        }
        ListFormat::Text => match services.as_slice() {
            [one] => print_whole(&report::service(one, &catalogue))?,
            all => print_whole(&report::services(all))?,
        },
    }
    Ok(())
}
