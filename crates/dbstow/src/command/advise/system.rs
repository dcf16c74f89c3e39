//! The operating system that machines are priced with.

use advise::System;
use experiment::spec;
use import::Format;
use profile::Profile;

use super::args::Args;

/// The operating system, and why, where it was not asked for: that of `today`, or that which the counters of `profile` come from.
pub(super) fn of(
    args: &Args,
    today: Option<spec::System>,
    profile: &Profile,
) -> (System, Option<&'static str>) {
    const AS_TODAY: Option<&str> = Some("as today's layout says");
    let of_counters = profile.origin.tool == Format::Perfmon.name();
    match (args.windows, args.linux, today) {
        (true, _, _) => (System::Windows, None),
        (_, true, _) => (System::Linux, None),
        (_, _, Some(spec::System::Windows)) => (System::Windows, AS_TODAY),
        (_, _, Some(spec::System::Linux)) => (System::Linux, AS_TODAY),
        (_, _, None) if of_counters => (System::Windows, Some("where the counters come from")),
        (_, _, None) => (System::Linux, None),
    }
}
