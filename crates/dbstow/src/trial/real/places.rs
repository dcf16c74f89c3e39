//! Directories for the volumes of every trial of a run.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};

use model::Bytes;

use super::ground::{Ground, GroundError};
use super::{Options, Placed, Subject, Supply};
use crate::plan::Plan;
use crate::spec::{Arm, Mode};

/// Where the volumes of a run are.
pub struct Places {
    mode: Mode,
    options: Options,
    grounds: Vec<Ground>,
}

/// Why a run cannot have its volumes where it should.
#[derive(Debug, thiserror::Error)]
pub enum PlacesError {
    /// A directory cannot be used.
    #[error(transparent)]
    Ground(#[from] GroundError),
}

/// Least free space a run asks for, where the experiment does not say how large its files are.
const SPACE_LEAST: Bytes = Bytes::gib(1);

impl Places {
    /// Makes dbstow's own directory in each that the user gave.
    ///
    /// # Errors
    /// When one cannot be used, or has not enough room.
    pub fn claim(plan: &Plan, options: &Options, keep: bool) -> Result<Places, PlacesError> {
        todo!()
    }

    /// Takes them away again. Gives what is left.
    pub fn close(self) -> Vec<String> {
        let closed = self.grounds.into_iter().map(Ground::close);
        closed
            .filter_map(|closed| closed.err().map(|error| error.to_string()))
            .collect()
    }
}

impl Supply for Places {
    fn place(&self, subject: &Subject<'_>) -> Result<Placed, String> {
        todo!()
    }
}
