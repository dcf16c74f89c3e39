//! The modelled store of an arm.

use experiment::spec::{self, Settings};
use model::Bytes;
use model::store::{
    BinlogSpec, Commit, DoublewriteSpec, FileSpec, ReadUnit, StoreSpec, VersionSpec,
};

/// The store of these settings, on the volumes that hold files, in the order of the settings.
pub(super) fn store(settings: &Settings) -> StoreSpec {
    let used = settings.placement.volumes();
    let places: Vec<&str> = settings
        .volumes
        .iter()
        .map(|volume| volume.name.as_str())
        .filter(|name| used.contains(name))
        .collect();
    let file = |file: &spec::File| FileSpec {
        volume: places
            .iter()
            .position(|name| *name == file.volume)
            .expect("a checked spec defines every volume"),
        size: file.size,
    };
    let (engine, placement) = (&settings.engine, &settings.placement);
    StoreSpec {
        memory: engine.memory,
        page_size: engine.page_size,
        read_unit: match engine.read_unit {
            spec::ReadUnit::Page => ReadUnit::Page,
            spec::ReadUnit::Extent => ReadUnit::Extent,
        },
        read_ahead: engine.read_ahead,
        write_gather: engine.write_gather,
        writes_in_flight: engine.writes_in_flight,
        data_durability: engine.data_durability,
        checkpoint: engine.checkpoint,
        log_capacity: (engine.log_capacity > Bytes::ZERO).then_some(engine.log_capacity),
        doublewrite: (engine.doublewrite_pages > 0).then_some(DoublewriteSpec {
            batch: engine.doublewrite_pages,
            volume: placement.doublewrite.as_ref().map(|area| file(area).volume),
        }),
        full_page_images: engine.full_page_images,
        commit: match engine.commit {
            spec::Commit::Durable => Commit::Durable,
            spec::Commit::Relaxed => Commit::Relaxed,
        },
        log_block: engine.log_gather,
        log_in_flight_max: engine.log_in_flight_max,
        log_flush: engine.log_flush,
        binlog: placement.binlog.as_ref().map(|binlog| BinlogSpec {
            file: file(binlog),
            // More than 1 is refused in simulate.
            sync: engine.binlog_sync(),
        }),
        page_cache: engine.page_cache,
        versions: engine.versions.map(|versions| VersionSpec {
            bytes_per_row: versions.bytes_per_row,
            retention: versions.retention,
        }),
        data: placement.data.iter().map(file).collect(),
        temp: placement.temp.iter().map(file).collect(),
        log: file(&placement.log),
    }
}
