//! Stripes, host caches, and limits of a machine.

use super::*;

// Volumes and caches.

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_stripe_hands_every_byte_to_its_one_disk(
        count in 1..12_u64,
        interleave in prop::sample::select(vec![4_u64 << 10, 64 << 10, 100_000]),
        (offset, length) in range(),
        read: bool,
    ) {
        let volume = VolumeSpec {
            disks: vec![DiskSpec::unlimited(); count as usize],
            interleave: Bytes(interleave),
            ..VolumeSpec::of("data", DiskSpec::unlimited())
        };
        let mut storage = Storage::new(&MachineSpec::unlimited(), &[volume], 1);
        let seen = Seen::by(&mut storage);
        let request = match read {
            true => Request::read(offset, Bytes(length)),
            false => Request::write(offset, Bytes(length)),
        };

        storage.submit(Instant::ZERO, 0, request);

        // Told unit by unit: unit i stands on disk i mod count, in that disk's unit i div count. What a
        // disk gets is contiguous there, so the lowest address and the sum of lengths say it all.
        let mut expected: BTreeMap<usize, (u64, u64)> = BTreeMap::new();
        let mut at = offset;
        while at < offset + length {
            let unit = at / interleave;
            let end = ((unit + 1) * interleave).min(offset + length);
            let address = match count {
                1 => at,
                _ => unit / count * interleave + at % interleave,
            };
            let part = expected.entry((unit % count) as usize).or_insert((address, 0));
            part.1 += end - at;
            at = end;
        }
        let parts: BTreeMap<usize, (u64, u64)> = seen
            .take()
            .iter()
            .map(|seen| (seen.place.disk, (seen.request.offset, seen.request.length.0)))
            .collect();
        prop_assert_eq!(&parts.values().map(|(_, length)| length).sum::<u64>(), &length);
        prop_assert_eq!(parts, expected);
    }

    #[test]
    fn a_request_to_a_stripe_is_done_when_the_last_of_its_parts_is(case in case()) {
        let (mut storage, now) = case.storage_after(1);
        let seen = Seen::by(&mut storage);

        let completion = storage.submit(now, 0, Request::read(0, Bytes::mib(1)));

        prop_assert_eq!(Some(completion.done), seen.take().iter().map(|seen| seen.done).max());
    }

    #[test]
    fn a_host_cache_hit_counts_on_the_cached_limits_and_on_nothing_else(
        case in case_with(latency().boxed(), Just(HostCacheMode::ReadOnly).boxed()),
    ) {
        let mut storage = case.storage(1);
        let seen = Seen::by(&mut storage);
        let names_a_limit = matches!(&case.machine.host_cache, Some(cache) if cache.limit == "cached");
        for (now, place, request) in case.requests() {
            let before = storage.usage(Instant::ZERO);
            storage.submit(now, place, request);
            let after = storage.usage(Instant::ZERO);
            let parts = seen.take();
            seen.clear();
            if !parts.iter().all(|part| part.place.cache_hit) {
                continue;
            }
            for (before, after) in before.iter().zip(&after) {
                let cached = matches!(&after.owner, UsageOwner::Machine(name) if name == "cached")
                    && names_a_limit;
                let counted = after.limit.counts != Counts::Writes;
                prop_assert_eq!(after.used > before.used, cached && counted, "{:?}", after);
            }
        }
    }

    #[test]
    fn no_host_cache_makes_a_durable_write_faster(
        case in case_with(latency_constant().boxed(), Just(HostCacheMode::None).boxed()),
        mode in prop::sample::select(vec![HostCacheMode::ReadOnly, HostCacheMode::ReadWrite]),
    ) {
        let mut case = case;
        for arrival in &mut case.arrivals {
            let Request { offset, length, .. } = arrival.request;
            arrival.request = Request::durable_write(offset, length);
        }
        let without = case.done();
        for volume in &mut case.volumes {
            volume.host_cache = mode;
        }
        let with = case.done();

        for (without, with) in without.iter().zip(&with) {
            prop_assert!(with >= without, "{mode:?}: {with:?}, without {without:?}");
        }
    }

    #[test]
    fn what_was_read_or_written_through_a_cache_that_holds_it_all_is_hit(
        mode in prop::sample::select(vec![HostCacheMode::ReadOnly, HostCacheMode::ReadWrite]),
        request in request(),
        disks in 1..5_usize,
    ) {
        let mut storage = Storage::new(
            &MachineSpec {
                host_cache: Some(HostCacheSpec {
                    size: Bytes::mib(64),
                    hit_latency: LatencySpec::constant(Duration::from_micros(500)),
                    through_latency: LatencySpec::ZERO,
                    limit: "the machine has none of this name".into(),
                }),
                ..MachineSpec::unlimited()
            },
            &[VolumeSpec {
                disks: vec![DiskSpec::unlimited(); disks],
                host_cache: mode,
                ..VolumeSpec::of("data", DiskSpec::unlimited())
            }],
            1,
        );
        storage.submit(Instant::ZERO, 0, request);
        let seen = Seen::by(&mut storage);

        let again = storage.submit(Instant::ZERO, 0, Request::read(request.offset, request.length));

        if request.operation != Operation::Flush {
            prop_assert!(seen.take().iter().all(|part| part.place.cache_hit));
            prop_assert_eq!(again.service, Duration::from_micros(500), "a hit takes its time");
        }
    }
}

/// A disk behind a cache of that size, which takes no time and has no limit.
fn behind_a_write_back_cache(size: Bytes, disk: DiskSpec) -> Storage {
    let machine = MachineSpec {
        host_cache: Some(HostCacheSpec {
            size,
            hit_latency: LatencySpec::ZERO,
            through_latency: LatencySpec::ZERO,
            limit: "the machine has none of this name".into(),
        }),
        ..MachineSpec::unlimited()
    };
    let volume = VolumeSpec {
        host_cache: HostCacheMode::ReadWrite,
        ..VolumeSpec::of("data", disk)
    };
    Storage::new(&machine, &[volume], 1)
}

#[test]
fn a_flush_waits_until_all_that_the_write_back_cache_took_is_on_the_disk() {
    let disk = DiskSpec {
        transfer: Some(Throughput::from_mib_per_s(1)),
        ..DiskSpec::unlimited()
    };
    let at = |ms| Instant::ZERO + Duration::from_millis(ms);
    // 1 MiB at 1 MiB/s is on the disk after 1 s; the 8 KiB after it, beside it, after 1/128 s.
    for (flushed_at, waits_ms) in [(0, 1_000), (400, 600), (1_000, 0), (2_000, 0)] {
        let mut storage = behind_a_write_back_cache(Bytes::mib(64), disk.clone());
        for length in [Bytes::mib(1), Bytes::kib(8)] {
            let write = storage.submit(at(0), 0, Request::write(0, length));
            assert_eq!(write.done, at(0), "the cache takes it at once");
        }

        let flush = storage.submit(at(flushed_at), 0, Request::flush());

        assert_eq!(flush.queued, Duration::from_millis(waits_ms));
    }
}

#[test]
fn a_full_write_back_cache_takes_writes_at_the_pace_of_the_disk() {
    let disk = DiskSpec::limited(Iops(10), Throughput::from_mb_per_s(1_000));
    let mut storage = behind_a_write_back_cache(Bytes::mib(1), disk);
    let write = Request::write(0, Bytes::kib(64));
    // The disk has the first one at once, and one more each 100 ms; 16 more of 64 KiB fill the cache.
    let done: Vec<u64> = (0..20)
        .map(|_| {
            let done = storage.submit(Instant::ZERO, 0, write).done;
            done.since(Instant::ZERO).as_nanos() / 1_000_000
        })
        .collect();
    assert_eq!(done[..17], [0; 17]);
    assert_eq!(done[17..], [100, 200, 300]);
    // What has drained makes room again.
    let later = Instant::ZERO + Duration::from_secs(60);
    assert_eq!(storage.submit(later, 0, write).done, later);
}

#[test]
fn units_of_a_stripe_are_a_sector_at_least() {
    let volume = VolumeSpec {
        disks: vec![DiskSpec::unlimited(); 2],
        interleave: Bytes::ZERO,
        ..VolumeSpec::of("data", DiskSpec::unlimited())
    };
    let mut storage = Storage::new(&MachineSpec::unlimited(), &[volume], 1);
    let seen = Seen::by(&mut storage);

    storage.submit(Instant::ZERO, 0, Request::read(0, Bytes(1_024)));

    // 1,024 bytes are two sectors of 512, one on each disk.
    let parts = seen.take();
    let lengths: Vec<_> = parts
        .iter()
        .map(|part| (part.place.disk, part.request.length.0))
        .collect();
    assert_eq!(lengths, [(0, 512), (1, 512)]);
}

#[test]
fn warming_a_volume_without_a_host_cache_takes_no_room_in_it() {
    let machine = MachineSpec {
        host_cache: Some(HostCacheSpec {
            size: Bytes::kib(8),
            hit_latency: LatencySpec::ZERO,
            through_latency: LatencySpec::ZERO,
            limit: "the machine has none of this name".into(),
        }),
        ..MachineSpec::unlimited()
    };
    let cached = VolumeSpec {
        host_cache: HostCacheMode::ReadOnly,
        ..VolumeSpec::of("data", DiskSpec::unlimited())
    };
    let plain = VolumeSpec::of("log", DiskSpec::unlimited());
    let mut storage = Storage::new(&machine, &[cached, plain], 1);
    storage.warm(0, 0, Bytes::kib(8));
    storage.warm(1, 0, Bytes::kib(8));
    let seen = Seen::by(&mut storage);

    storage.submit(Instant::ZERO, 0, Request::read(0, Bytes::kib(8)));
    storage.clear_host_cache();
    storage.submit(Instant::ZERO, 0, Request::read(0, Bytes::kib(8)));

    // The cache has room for one block, which is still the first volume's, until it is cleared.
    let hits: Vec<_> = seen
        .take()
        .iter()
        .map(|part| part.place.cache_hit)
        .collect();
    assert_eq!(hits, [true, false]);
}

#[test]
fn a_machine_limit_counts_a_request_once_whichever_way_it_applies() {
    // Given a disk whose own machine limit is the one that its host cache passes too
    let machine = MachineSpec {
        limits: [("cached".into(), vec![LimitSpec::iops(Iops(500))])].into(),
        host_cache: Some(HostCacheSpec {
            size: Bytes::mib(1),
            hit_latency: LatencySpec::ZERO,
            through_latency: LatencySpec::ZERO,
            limit: "cached".into(),
        }),
        ..MachineSpec::unlimited()
    };
    let disk = DiskSpec {
        machine_limits: vec!["cached".into()],
        ..DiskSpec::unlimited()
    };
    let volume = VolumeSpec {
        host_cache: HostCacheMode::ReadOnly,
        ..VolumeSpec::of("data", disk)
    };
    let mut storage = Storage::new(&machine, &[volume], 1);

    storage.submit(Instant::ZERO, 0, Request::read(0, Bytes::kib(8)));

    assert_eq!(storage.usage(Instant::ZERO)[0].used, 1);
}

#[test]
fn a_machine_limit_counts_the_bytes_that_move_and_not_what_the_disk_charges() {
    let bytes = || LimitSpec::throughput(Throughput::from_mib_per_s(250));
    let machine = MachineSpec {
        limits: [("ebs".into(), vec![bytes()])].into(),
        ..MachineSpec::unlimited()
    };
    let disk = DiskSpec {
        limits: vec![bytes()],
        io_unit: IoUnit {
            size_max: None,
            charge_min: Some(Bytes::mib(1)),
        },
        machine_limits: vec!["ebs".into()],
        ..DiskSpec::unlimited()
    };
    let mut storage = Storage::new(&machine, &[VolumeSpec::of("data", disk)], 1);

    storage.submit(Instant::ZERO, 0, Request::read(0, Bytes::kib(8)));

    let used: Vec<_> = storage
        .usage(Instant::ZERO)
        .iter()
        .map(|usage| usage.used)
        .collect();
    assert_eq!(used, [8 << 10, 1 << 20]);
}
