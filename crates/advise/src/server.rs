//! A server on its way to advice: from a resolved layout to a request.
//!
//! ```text
//! resolved layout, wishes ──checked at once──> server ──back-test──> server as recorded ──> request
//! ```

use catalogue::Catalogue;
use import::Format;
use replay::BackTest;
use resolve::Resolved;

use super::error::AdviseError;
use super::recorded::teach;
use super::request::Request;
use super::simulate::Placed;
use super::system::System;
use super::today::Today;
use super::wishes::Wishes;

/// A server that advice is asked for, on today's layout.
#[derive(Clone, Debug)]
pub struct Server<'a> {
    wishes: Wishes,
    /// Why machines are priced with the operating system of the wishes, where that was not asked for.
    system_why: Option<&'static str>,
    today: Today<'a>,
    /// What is sold, at the prices that were asked for.
    catalogue: Catalogue,
    /// Catalogue name of the disks of each of today's volumes.
    disks: &'a [String],
}

impl<'a> Server<'a> {
    /// The server whose profile `resolved` replays on its layout. `system` is the operating system that was asked for; that of
    /// `wishes` follows from it. What cannot be fulfilled is refused before anything is simulated.
    ///
    /// # Errors
    /// A wish that cannot be fulfilled, with the remedy, or a profile that lacks data.
    ///
    /// # Panics
    /// When `resolved` replays no profile.
    pub fn new(
        resolved: &'a Resolved,
        wishes: Wishes,
        system: Option<System>,
        catalogue: Catalogue,
    ) -> Result<Server<'a>, AdviseError> {
        let (arm, stage, recording) = resolved.first();
        let profile = &recording.expect("a back-test is of a profile").profile;
        let is_perfmon = profile.origin.tool == Format::Perfmon.name();
        let (system, system_why) = System::of(system, arm.settings.machine.system, is_perfmon);
        let server = Server {
            wishes: Wishes { system, ..wishes },
            system_why,
            today: Today {
                settings: &arm.settings,
                placed: Placed {
                    machine: stage.machine.clone(),
                    volumes: stage.volumes.clone(),
                    places: stage.replay_places(&arm.settings.placement),
                },
                notes: &stage.notes,
                profile,
            },
            catalogue,
            disks: &stage.disks,
        };
        server.request()?.check_offers()?;
        Ok(server)
    }

    /// The same as its back-test found it: with the latencies of its disks as recorded, in the long run, and with the processors
    /// that the database uses.
    ///
    /// # Errors
    /// As [`Server::new`].
    pub fn tested(mut self, backtest: &BackTest) -> Result<Server<'a>, AdviseError> {
        let cores = self.request()?.cores_used_today();
        teach(backtest, self.disks, &mut self.catalogue);
        self.today.placed.volumes = backtest.volumes_in_the_long_run();
        self.today.placed.machine.cores = cores;
        Ok(self)
    }

    /// What is asked for it.
    ///
    /// # Errors
    /// A wish that cannot be fulfilled, with the remedy, or a profile that lacks data.
    pub fn request(&self) -> Result<Request<'_>, AdviseError> {
        Request::new(&self.wishes, &self.today, &self.catalogue)
    }

    /// Why machines are priced with their operating system, where that was not asked for; a phrase.
    pub fn system_why(&self) -> Option<&'static str> {
        self.system_why
    }

    /// The product, as its profile calls it.
    pub fn product(&self) -> Option<&'a str> {
        self.today.profile.origin.product.as_deref()
    }
}
