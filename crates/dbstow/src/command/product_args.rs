//! Options specific to one product, as arguments: each engine of the build declares its own.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser, ValueParser};
use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches, value_parser};
use engine::{OptionKind, OptionSpec, OptionValue, ProductOptions};
use model::Duration;

use crate::engines::ENGINES;

/// Login options for a server. Passwords are not accepted here: they would show in the process list.
pub type ServerLogin = ProductArgs<true>;

/// Options of products: those for the login, or the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProductArgs<const LOGIN: bool>(pub ProductOptions);

impl<const LOGIN: bool> ProductArgs<LOGIN> {
    fn options() -> impl Iterator<Item = &'static OptionSpec> {
        let engines = ENGINES.built.iter();
        let options = engines.flat_map(|engine| engine.options());
        options.filter(|option| option.login.is_some() == LOGIN)
    }
}

impl<const LOGIN: bool> clap::Args for ProductArgs<LOGIN> {
    fn augment_args(command: Command) -> Command {
        Self::options().fold(command, |command, option| command.arg(argument(option)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const LOGIN: bool> FromArgMatches for ProductArgs<LOGIN> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut given = ProductOptions::default();
        for option in Self::options() {
            if let Some(value) = value(option, matches) {
                given.set(option.name, value);
            }
        }
        Ok(ProductArgs(given))
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
