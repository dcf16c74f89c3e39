//! Options specific to one product, as arguments: each engine of the build declares its own.

use std::marker::PhantomData;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser, ValueParser};
use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches, value_parser};
use engine::{OptionKind, OptionSpec, OptionValue, ProductOptions};
use model::Duration;

use crate::engines::ENGINES;

/// Login options for a server. Passwords are not accepted here: they would show in the process list.
pub type ServerLogin = ProductArgs<OfLogin>;

/// Which options of products a command takes.
pub trait Purpose {
    /// Whether it takes this one.
    fn takes(option: &OptionSpec) -> bool;
}

/// A run's: all but those for the login.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OfRun;

/// A login's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OfLogin;

/// A drill's.
#[cfg(all(target_os = "linux", feature = "emulator"))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OfDrill;

/// A rehearsal's.
#[cfg(all(target_os = "linux", feature = "emulator"))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OfRehearsal;

impl Purpose for OfRun {
    fn takes(option: &OptionSpec) -> bool {
        option.login.is_none()
    }
}

impl Purpose for OfLogin {
    fn takes(option: &OptionSpec) -> bool {
        option.login.is_some()
    }
}

#[cfg(all(target_os = "linux", feature = "emulator"))]
impl Purpose for OfDrill {
    fn takes(option: &OptionSpec) -> bool {
        option.in_drill
    }
}

#[cfg(all(target_os = "linux", feature = "emulator"))]
impl Purpose for OfRehearsal {
    fn takes(option: &OptionSpec) -> bool {
        option.in_rehearsal
    }
}

/// Options of products for one purpose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProductArgs<P> {
    /// Those that were given.
    pub options: ProductOptions,
    purpose: PhantomData<P>,
}

impl<P: Purpose> ProductArgs<P> {
    fn options() -> impl Iterator<Item = &'static OptionSpec> {
        let engines = ENGINES.built.iter();
        let options = engines.flat_map(|engine| engine.options());
        options.filter(|option| P::takes(option))
    }
}

impl<P: Purpose> clap::Args for ProductArgs<P> {
    fn augment_args(command: Command) -> Command {
        Self::options().fold(command, |command, option| command.arg(argument(option)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<P: Purpose> FromArgMatches for ProductArgs<P> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut options = ProductOptions::default();
        for option in Self::options() {
            if let Some(value) = value(option, matches) {
                options.set(option.name, value);
            }
        }
        Ok(ProductArgs {
            options,
            purpose: PhantomData,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn argument(option: &'static OptionSpec) -> Arg {
    let parser: ValueParser = match option.kind {
        OptionKind::Flag => value_parser!(bool),
        OptionKind::Text(_) => value_parser!(String),
        OptionKind::Path(_) => value_parser!(PathBuf),
        OptionKind::Time => value_parser!(Duration).into(),
        OptionKind::Word(words) => one_of(words).into(),
    };
    let argument = Arg::new(option.name)
        .long(option.name)
        .help(option.help)
        .value_parser(parser);
    let argument = match option.kind {
        OptionKind::Flag => argument.action(ArgAction::SetTrue),
        OptionKind::Text(name) | OptionKind::Path(name) => argument.value_name(name),
        OptionKind::Time => argument.value_name("TIME"),
        OptionKind::Word(_) => argument,
    };
    let argument = match option.excludes {
        Some(other) => argument.conflicts_with(other),
        None => argument,
    };
    match option.login {
        Some(heading) => argument.help_heading(heading),
        None => argument,
    }
}

fn one_of(
    words: &'static [(&'static str, &'static str)],
) -> impl TypedValueParser<Value = &'static str> {
    let values = words.iter();
    let values = values.map(|(word, help)| PossibleValue::new(*word).help(*help));
    PossibleValuesParser::new(values).map(|given| {
        let known = words.iter().find(|(word, _)| *word == given);
        known.expect("no other value is possible").0
    })
}

fn value(option: &OptionSpec, matches: &ArgMatches) -> Option<OptionValue> {
    let name = option.name;
    match option.kind {
        OptionKind::Flag => matches.get_flag(name).then_some(OptionValue::Flag),
        OptionKind::Text(_) => matches.get_one(name).cloned().map(OptionValue::Text),
        OptionKind::Path(_) => matches.get_one(name).cloned().map(OptionValue::Path),
        OptionKind::Time => matches.get_one(name).copied().map(OptionValue::Time),
        OptionKind::Word(_) => matches.get_one(name).copied().map(OptionValue::Word),
    }
}
