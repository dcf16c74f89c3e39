//! What more memory does to reads: beside the answer, as it is in no simulated time.

use analysis::report::advice::document::{Advice, Layout};
use catalogue::Provision;
use model::{Bytes, Iops, Throughput};
use reading::Role;
use table::quantity::percent;

use super::{DocumentBuilder, bill};
use crate::machine::{Machine, machines};
use crate::memory::Cache;
use crate::need::Need;

/// Share of an operation's time that waits for reads from which on more memory is worth a sentence.
const READS_FROM: f64 = 0.5;

/// Memory that is looked for, as a multiple of today's: most series of machines have twice as much at the next size, or for as many
/// processors in another series.
const MORE: u64 = 2;

impl DocumentBuilder<'_> {
    /// Today's cache, where it was recorded how much of what is asked of it is read, and the load is today's.
    fn cache(&self) -> Option<Cache> {
        let request = self.request;
        let need = &request.need;
        let edition = need.tariff.licence.as_ref().map(|of| &of.edition);
        let sizes = (need.memory, need.capacity(&[Role::Data]));
        let cache = Cache::of(request.today.profile, sizes, edition);
        cache.filter(|_| request.wishes.growth == 1.0)
    }

    /// Adds to layouts with more memory than today's how many reads that leaves.
    pub(super) fn add_reads(&self, document: &mut Advice) {
        let Some(cache) = self.cache() else {
            return;
        };
        for layout in document.layouts_mut() {
            let memory = self.memory_of(layout);
            let more = memory.filter(|memory| *memory > self.request.need.memory);
            layout.data_reads = more.map(|memory| cache.reads_with(memory));
        }
    }

    /// That more memory reads less: how much of it the answer has, or where reads are most of today's time, what twice as much would
    /// leave and cost.
    pub(super) fn more_memory(&self, document: &Advice) -> Option<String> {
        let today = self.request.need.memory;
        let waits = ["waiting for reads", "waiting for throttled reads"];
        let spent = &document.today.spent;
        let share: f64 = waits.iter().filter_map(|what| spent.get(*what)).sum();
        let chosen = document.chosen();
        if let Some((layout, reads)) = chosen.and_then(|layout| Some((layout, layout.data_reads?)))
        {
            return Some(format!(
                "The answer's machine has {} of memory, and today's {today}: it reads {} as much data. Its time counts all of today's \
                 reads.",
                self.memory_of(layout)?,
                from_to(reads)
            ));
        }
        if today == Bytes::ZERO || share < READS_FROM {
            return None;
        }
        let Some(cache) = self.cache() else {
            return Some(format!(
                "Not modelled, and often cheaper: more memory than {today} saves up to the {} that reads take.",
                percent(share)
            ));
        };
        let more = Bytes(today.0.saturating_mul(MORE));
        let machine = chosen.and_then(|layout| self.machine_with(more, layout));
        let machine = machine.map(|(name, usd)| {
            let usd = document.asked.currency.shown(usd);
            format!("; {name} has that for {usd} a month more than the answer's machine")
        });
        Some(format!(
            "Not in the times, and often cheaper: with {more} of memory, twice today's, {} as much data is read{}.",
            from_to(cache.reads_with(more)),
            machine.unwrap_or_default()
        ))
    }

    /// What the bounds on reads rest on.
    pub(super) fn of_memory(&self) -> Option<String> {
        self.cache().map(|_| {
            "Reads with more memory: all that is added is taken to hold data, all data of the volume to be in use, and each further GiB to \
             save no more reads than the one before."
                .to_owned()
        })
    }

    fn memory_of(&self, layout: &Layout) -> Option<Bytes> {
        let entry = self.request.catalogue.machine(layout.machine.as_ref()?);
        Some(entry.ok()?.spec.memory)
    }

    /// The cheapest machine with so much memory that has the processors, and takes the disks, of a layout: its name, and the dollars a
    /// month that it costs more.
    fn machine_with(&self, memory: Bytes, layout: &Layout) -> Option<(String, f64)> {
        let own_usd = layout.machine_usd_per_month?;
        let need = &self.request.need;
        let catalogue = self.request.catalogue;
        let (all, _) = machines(catalogue, need);
        let is_own = |machine: &&Machine| {
            let switched_on = machine.switched_on.map(bill::switched_on);
            layout.machine.as_ref() == Some(&machine.name) && switched_on == layout.switched_on
        };
        let own = all.iter().find(is_own)?;
        let with_more = Need {
            memory,
            ..need.clone()
        };
        let (larger, _) = machines(catalogue, &with_more);
        let does_as_much = |machine: &&Machine| {
            machine.spec.cores >= own.spec.cores
                && machine.spec.speed >= own.spec.speed
                && !own.is_newer_than(machine)
                && self.takes(machine, layout)
        };
        let cheapest = larger.iter().filter(does_as_much);
        let cheapest = cheapest.min_by(|a, b| a.usd_per_month.total_cmp(&b.usd_per_month))?;
        let name = bill::Bought::of(cheapest, catalogue).shown();
        let usd = cheapest.usd_per_month - own_usd;
        (usd > 0.0).then_some((name, usd))
    }

    /// Whether a machine has a limit for each disk of a layout, or a disk of its own where that is on one.
    fn takes(&self, machine: &Machine, layout: &Layout) -> bool {
        layout.volumes.iter().all(|volume| {
            let provision = Provision {
                size: volume.size.map(Bytes),
                iops: volume.iops.map(Iops),
                throughput: volume.throughput.map(Throughput),
                bursting: false,
            };
            let disk = self.request.catalogue.disk(&volume.disk).ok();
            let disk = disk.and_then(|disk| disk.provision(&provision).ok());
            match volume.forgets {
                true => machine.local.is_some(),
                false => disk.is_some_and(|disk| machine.governs(&disk.spec)),
            }
        })
    }
}

fn from_to([least, most]: [f64; 2]) -> String {
    format!("{} to {}", percent(least), percent(most))
}
