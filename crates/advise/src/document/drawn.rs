//! What is not known of disks, in the intervals of layouts' times.

use analysis::report::advice::document::{self, Mostly};
use experiment::spec::Disk;

use super::DocumentBuilder;
use crate::error::AdviseError;
use crate::search::Found;
use crate::simulate::Placed;

impl DocumentBuilder<'_> {
    /// A layout with the interval of its time.
    ///
    /// # Errors
    /// When an operation takes no time.
    pub(super) fn with_range(&self, found: &Found) -> Result<document::Layout, AdviseError> {
        let placed = self.layouts.placed(&found.layout);
        self.ranged(self.layout(found), &placed)
    }

    /// The same of a layout that is `placed` so.
    ///
    /// # Errors
    /// When an operation takes no time.
    pub(super) fn ranged(
        &self,
        layout: document::Layout,
        placed: &Placed,
    ) -> Result<document::Layout, AdviseError> {
        let Some(drawing) = &self.drawing else {
            return Ok(layout);
        };
        let disks = layout.volumes.iter();
        let disks = disks.map(|volume| match volume.disk.as_str() {
            "local" => Disk::Local,
            name => Disk::Catalogue(name.to_owned()),
        });
        let drawn = drawing.drawn(self.request, layout.machine.as_deref(), disks, placed);
        let Some(drawn) = drawn.map_err(AdviseError::Headroom)? else {
            return Ok(layout);
        };
        let (time, half) = (layout.time, layout.time_half);
        let [low, high] = layout.time_range.unwrap_or([time - half, time + half]);
        let [least, most] = drawn.factors.map(|factor| factor * time);
        let (what, share) = drawn.mostly;
        Ok(document::Layout {
            time_range: Some([low.min(least), high.max(most)]),
            time_mostly: Some(Mostly { what, share }),
            ..layout
        })
    }
}
