//! `dbstow advise`: which machine, which disks, where the files go, for how much a month.
//!
//! ```text
//! profile, today's layout ──back-test──> fits? ──> advise::Request ──> document ──> terminal, JSON, folder
//! ```

mod folder;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use advise::{
    AdviseError, Finalists, Limits, Names, Placed, Request, Step, System, TempOn, Today, Wishes,
};
use anyhow::{Context, Result};
use catalogue::Catalogue;
use clap::{ValueEnum, ValueHint};
use files::input;

use super::listing::{self, ListFormat};
use super::output::note;
use super::pair::key_and_value;
use super::progress::Progress;
use super::{Asked, ResolvedRun, UsageError, backtest, drilled, names, plan};
