//! How far the times of layouts may be off by what neither a vendor nor today's server says of disks.

use std::cell::RefCell;
use std::collections::BTreeSet;

use catalogue::Spreads;
use experiment::spec::Disk;
use replay::{BackTest, ReplayError};

use super::request::Request;
use super::simulate::Placed;
use super::worlds::{Drawn, Unknown, logs, of_machine, of_volume};

/// What today's server says of disks.
pub(crate) struct Drawing {
    /// Names of latencies that were recorded on disks of today's.
    known: BTreeSet<String>,
    /// What the others make of today's time, by world.
    today: Vec<f64>,
    /// By layout: several answers may be the same.
    drawn: RefCell<Vec<(Placed, Option<Drawn>)>>,
}

impl Drawing {
    /// From a profile beside its replays on today's layout.
    ///
    /// # Errors
    /// When an operation takes no time.
    pub(crate) fn of(request: &Request<'_>, backtest: &BackTest) -> Result<Drawing, ReplayError> {
        let today = &request.today.placed;
        let spreads = |volume: usize| {
            let name = &today.volumes[volume].name;
            let mut volumes = request.today.settings.volumes.iter();
            let disk = &volumes.find(|volume| volume.name == *name)?.disk;
            of_disk(request, request.today.machine(), disk)
        };
        let timed = backtest.timed(&today.places).into_iter();
        let known =
            timed.filter_map(|(volume, operation)| Some(spreads(volume)?.name_of(operation)));
        let known: BTreeSet<String> = known.collect();
        let of_today = (0..today.volumes.len())
            .filter_map(|volume| Some(of_volume(volume, &spreads(volume)?, &known)));
        let machine = request.today.machine().map(of_machine);
        let of_today: Vec<Unknown> = of_today.flatten().chain(machine).collect();
        let today = logs(today, &request.today_load, &of_today)?;
        Ok(Drawing {
            known,
            today,
            drawn: RefCell::default(),
        })
    }

    /// How far the time of a layout, `placed` on `disks`, may be from the typical one beside today's; `None` where nothing about it is
    /// drawn. `machine` is what local disks are in.
    ///
    /// # Errors
    /// When an operation takes no time.
    pub(crate) fn drawn(
        &self,
        request: &Request<'_>,
        machine: Option<&str>,
        disks: impl Iterator<Item = Disk>,
        placed: &Placed,
    ) -> Result<Option<Drawn>, ReplayError> {
        let is_same = |(known, _): &&(Placed, Option<Drawn>)| known == placed;
        if let Some((_, drawn)) = self.drawn.borrow().iter().find(is_same) {
            return Ok(drawn.clone());
        }
        let of = |(volume, disk): (usize, Disk)| {
            let spreads = of_disk(request, machine, &disk)?;
            Some(of_volume(volume, &spreads, &self.known))
        };
        let unknowns = disks.enumerate().filter_map(of).flatten();
        let unknowns: Vec<Unknown> = unknowns.chain(machine.map(of_machine)).collect();
        let own = logs(placed, &request.load, &unknowns)?;
        let drawn = Drawn::of(&own, &self.today, &unknowns);
        self.drawn
            .borrow_mut()
            .push((placed.clone(), drawn.clone()));
        Ok(drawn)
    }
}

/// How far disks like these differ, of `machine` where they are its own; `None` where nothing is known of them but what was recorded.
fn of_disk(request: &Request<'_>, machine: Option<&str>, disk: &Disk) -> Option<Spreads> {
    let catalogue = request.catalogue;
    match disk {
        Disk::Catalogue(name) => Some(catalogue.disk(name).ok()?.class.spreads()),
        Disk::Local => catalogue.machine(machine?).ok()?.local_spreads.clone(),
        Disk::Recorded | Disk::Unlimited => None,
    }
}
