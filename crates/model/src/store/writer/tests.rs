use alloc::vec;
use alloc::vec::Vec;

use core::cell::RefCell;

use super::*;
use crate::request::Operation;
use crate::store::{DoublewriteSpec, FileSpec, Files, PAGE, PageSize};
use crate::units::Bytes;

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// Four writes at a time, gathered up to four pages, and pages dirty for a second at most.
fn spec() -> StoreSpec {
    StoreSpec {
        write_gather: Bytes(4 * PAGE.0),
        writes_in_flight: 4,
        checkpoint: Some(Duration::SECOND),
        ..StoreSpec::plain(Bytes::mib(1))
    }
}

/// A pool that holds `keys`, used once, on arrival.
fn holding(frames: u32, keys: impl IntoIterator<Item = u64>) -> Pool {
    let mut pool = Pool::new(frames);
    for key in keys {
        let frame = pool.take_free().expect("a frame a page");
        pool.install(frame, key, Completion::immediate(at(0)));
    }
    pool
}

/// Makes a page dirty as the store does.
fn dirty(writer: &mut Writer, pool: &mut Pool, key: u64, now: Instant) {
    if pool.dirty(key, now) {
        writer.dirtied(now, key, 0);
    }
}

/// Records the runs of pages written, as first page and count.
fn runs(
    mut see: impl FnMut(Instant, u64, u64) -> Completion,
) -> impl FnMut(Instant, WriteRequest) -> Completion {
    move |now, written| match written {
        WriteRequest::Pages { first, count, .. } => see(now, first, count),
        WriteRequest::Copies { .. } => panic!("pages are written once"),
    }
}

/// For when nothing is to be written.
fn none() -> impl FnMut(Instant, WriteRequest) -> Completion {
    runs(|_, _, _| panic!("nothing is to be written"))
}

fn done_in(now: Instant, ms: u64) -> Completion {
    Completion {
        done: now + Duration::from_millis(ms),
        service: Duration::from_millis(ms),
        ..Completion::immediate(now)
    }
}

#[test]
fn an_old_page_is_written_with_its_dirty_neighbours_up_to_the_largest_write() {
    let mut writer = Writer::new(&spec(), None);
    let mut pool = holding(64, 10..20);
    // 10 11 . 13 14 15 16 17 . 19: the old one is 16.
    for key in [16, 10, 11, 13, 14, 15, 17, 19] {
        dirty(&mut writer, &mut pool, key, at(0));
    }
    let mut seen = Vec::new();
    let mut submit = runs(|now, first, pages| {
        seen.push((first, pages));
        done_in(now, 1)
    });
    writer.write_old(at(1_000), 0, &mut pool, &mut submit);
    // Upwards first, then downwards, four pages at most: 14 to 17, then the remaining ones.
    drop(submit);
    assert_eq!(seen, [(14, 4), (10, 2), (13, 1), (19, 1)]);
    assert!((10..20).all(|key| !pool.writable(key)));
}

#[test]
fn page_0_has_no_neighbour_below() {
    let mut writer = Writer::new(&spec(), None);
    let mut pool = holding(64, 0..2);
    dirty(&mut writer, &mut pool, 1, at(0));
    dirty(&mut writer, &mut pool, 0, at(0));
    let mut seen = Vec::new();
    writer.write_old(
        at(1_000),
        0,
        &mut pool,
        &mut runs(|now, first, pages| {
            seen.push((first, pages));
            done_in(now, 1)
        }),
    );
    assert_eq!(seen, [(0, 2)]);
}

#[test]
fn a_page_written_and_changed_again_has_its_second_anew() {
    let mut writer = Writer::new(&spec(), None);
    let mut pool = holding(64, [5]);
    dirty(&mut writer, &mut pool, 5, at(0));
    // Written for another reason at 100 ms, changed again at 900 ms.
    pool.start_write(5, 77);
    pool.finish_write(5, 77, false);
    dirty(&mut writer, &mut pool, 5, at(900));
    let mut written = Vec::new();
    let mut submit = runs(|now: Instant, first, _| {
        written.push((now, first));
        done_in(now, 1)
    });
    writer.write_old(at(1_000), 0, &mut pool, &mut submit);
    assert_eq!(writer.next_due(), Some(at(1_900)));
    writer.write_old(at(1_899), 0, &mut pool, &mut submit);
    writer.write_old(at(1_900), 0, &mut pool, &mut submit);
    drop(submit);
    assert_eq!(written, [(at(1_900), 5)]);
}

#[test]
fn a_page_that_is_being_written_is_not_written_a_second_time_meanwhile() {
    let mut writer = Writer::new(&spec(), None);
    let mut pool = holding(64, [5]);
    let mut started = 0;
    let mut submit = runs(|now, _, _| {
        started += 1;
        done_in(now, 5_000)
    });
    dirty(&mut writer, &mut pool, 5, at(0));
    writer.write_old(at(1_000), 0, &mut pool, &mut submit);
    // Changed while its write of 5 s is under way, and dirty for a second before that is done.
    dirty(&mut writer, &mut pool, 5, at(1_500));
    writer.write_old(at(2_500), 0, &mut pool, &mut submit);
    drop(submit);
    assert_eq!(started, 1);
}

#[test]
fn a_page_dropped_meanwhile_is_not_written() {
    let mut writer = Writer::new(&spec(), None);
    let mut pool = holding(64, [5]);
    dirty(&mut writer, &mut pool, 5, at(0));
    pool.discard(5);
    let mut submit = runs(|_: Instant, _: u64, _: u64| -> Completion {
        panic!("its page is gone");
    });
    writer.write_old(at(1_000), 0, &mut pool, &mut submit);
    assert_eq!(writer.next_due(), None);
}

#[test]
fn writes_end_in_the_order_of_their_completion() {
    let mut writer = Writer::new(&spec(), None);
    // Far enough apart to be written one by one, which takes 30, 10, 20 and 10 ms.
    let keys = [10, 20, 30, 40];
    let mut pool = holding(64, keys);
    for key in keys {
        dirty(&mut writer, &mut pool, key, at(0));
    }
    let mut takes = [30, 10, 20, 10].into_iter();
    let mut submit = runs(|now, _, _| done_in(now, takes.next().expect("four writes")));
    writer.write_old(at(1_000), 0, &mut pool, &mut submit);
    for key in keys {
        dirty(&mut writer, &mut pool, key, at(1_001));
    }
    let mut writable = |now| {
        writer.finish(at(now), &mut pool, &mut none());
        let keys = keys.into_iter().filter(|key| pool.writable(*key));
        (writer.next_due(), keys.collect::<Vec<_>>())
    };
    // Every place is taken: the next due event is a completion, the earliest.
    assert_eq!(writable(1_009), (Some(at(1_010)), vec![]));
    assert_eq!(writable(1_010), (Some(at(1_020)), vec![20, 40]));
    assert_eq!(writable(1_020), (Some(at(1_030)), vec![20, 30, 40]));
    // Then the page that has been dirty for a second.
    assert_eq!(writable(1_030), (Some(at(2_001)), vec![10, 20, 30, 40]));
}

#[test]
fn no_more_writes_are_under_way_than_there_are_places() {
    let mut writer = Writer::new(&spec(), None);
    // Pages that are not neighbours.
    let mut pool = holding(64, (0..10).map(|n| n * 2));
    for n in 0..10 {
        dirty(&mut writer, &mut pool, n * 2, at(0));
    }
    let mut started = 0;
    writer.write_old(
        at(1_000),
        0,
        &mut pool,
        &mut runs(|now, _, _| {
            started += 1;
            done_in(now, 5)
        }),
    );
    assert_eq!(started, 4);
    assert_eq!(writer.next_due(), Some(at(1_005)));
    assert_eq!(writer.next_completion(at(1_001)).done, at(1_005));
    writer.finish(at(1_005), &mut pool, &mut none());
    // Places again: the fifth has been due since a second after it became dirty.
    assert_eq!(writer.next_due(), Some(at(1_000)));
}

#[test]
fn without_a_place_for_a_write_there_is_one() {
    let one = StoreSpec {
        writes_in_flight: 0,
        write_gather: Bytes::ZERO,
        ..spec()
    };
    let mut writer = Writer::new(&one, None);
    let mut pool = holding(64, [1, 2]);
    dirty(&mut writer, &mut pool, 1, at(0));
    dirty(&mut writer, &mut pool, 2, at(0));
    let mut seen = Vec::new();
    writer.write_old(
        at(1_000),
        0,
        &mut pool,
        &mut runs(|now, first, pages| {
            seen.push((first, pages));
            done_in(now, 5)
        }),
    );
    // One write, of one page: no gathering means one page, not none.
    assert_eq!(seen, [(1, 1)]);
}

#[test]
fn frames_are_freed_until_a_64th_of_the_pool_is_free() {
    let mut writer = Writer::new(&spec(), None);
    let mut submit = runs(|_: Instant, _: u64, _: u64| -> Completion {
        panic!("all pages are clean");
    });
    // 2,048 / 64 = 32 frames, and two extents of 8 pages where that is more.
    let mut pool = holding(2_048, 0..2_048);
    writer.refill(at(0), &mut pool, &mut submit);
    assert_eq!(pool.free_count(), 32);
    let mut pool = holding(128, 0..128);
    writer.refill(at(0), &mut pool, &mut submit);
    assert_eq!(pool.free_count(), 16);
}

#[test]
fn a_pool_of_dirty_pages_is_written_and_evicted() {
    let mut writer = Writer::new(&spec(), None);
    let mut pool = holding(64, 0..64);
    (0..64).for_each(|key| {
        pool.dirty(key, at(0));
    });
    let mut seen = Vec::new();
    let mut submit = runs(|now, first, pages| {
        seen.push((first, pages));
        done_in(now, 5)
    });
    writer.refill(at(0), &mut pool, &mut submit);
    drop(submit);
    // The hand goes round once for the reference bits; then four writes of four pages take all places.
    assert_eq!(seen, [(0, 4), (4, 4), (8, 4), (12, 4)]);
    assert_eq!(pool.free_count(), 0);
    writer.finish(at(5), &mut pool, &mut none());
    assert_eq!(pool.free_count(), 16);
}

#[test]
fn who_wants_a_frame_while_all_are_arriving_asks_again_soon() {
    let writer = Writer::new(&spec(), None);
    let wait = writer.next_completion(at(7));
    // 50 us on.
    assert_eq!(wait.done, at(7) + Duration::from_micros(50));
    assert_eq!(wait.latency(), Duration::from_micros(50));
}

#[test]
fn a_page_that_changed_while_its_second_write_was_due_is_written_once_the_first_is_done() {
    let mut writer = Writer::new(&spec(), None);
    let mut pool = holding(64, [5]);
    let mut started = Vec::new();
    let mut submit = runs(|now, _, _| {
        started.push(now);
        done_in(now, 5_000)
    });
    dirty(&mut writer, &mut pool, 5, at(0));
    writer.write_old(at(1_000), 0, &mut pool, &mut submit);
    dirty(&mut writer, &mut pool, 5, at(1_500));
    // Due at 2,500 ms, and not possible before 6,000 ms.
    writer.write_old(at(2_500), 0, &mut pool, &mut submit);
    assert_eq!(writer.next_due(), Some(at(6_000)));
    writer.finish(at(6_000), &mut pool, &mut submit);
    writer.write_old(at(6_000), 0, &mut pool, &mut submit);
    drop(submit);
    assert_eq!(started, [at(1_000), at(6_000)]);
}

#[test]
fn pages_of_data_files_are_as_durable_as_asked_and_those_of_temporary_files_need_not_be() {
    for asked in [Durability::OnFlush, Durability::OnCompletion] {
        let spec = StoreSpec {
            data_durability: asked,
            ..spec()
        };
        let mut writer = Writer::new(&spec, None);
        // One data file, then the temporary one.
        let keys = [0, first_key(1)];
        let mut pool = holding(64, keys);
        for key in keys {
            dirty(&mut writer, &mut pool, key, at(0));
        }
        let mut seen = Vec::new();
        let mut submit = |now, written| {
            if let WriteRequest::Pages {
                first, durability, ..
            } = written
            {
                seen.push((first, durability));
            }
            done_in(now, 1)
        };
        writer.write_old(at(1_000), 0, &mut pool, &mut submit);
        assert_eq!(seen, [(keys[0], asked), (keys[1], Durability::OnFlush)]);
    }
}

fn doublewrite_spec(batch: u32) -> StoreSpec {
    StoreSpec {
        doublewrite: Some(DoublewriteSpec {
            batch,
            volume: None,
        }),
        ..spec()
    }
}

/// A writer that writes pages twice, in batches of this size.
fn twice(batch: u32) -> Writer {
    let file = FileSpec {
        volume: 0,
        size: Some(Bytes::mib(1)),
    };
    let mut files = Files::new(PageSize::DEFAULT, &[file], &[], file);
    let doublewrite = Doublewrite::of(&doublewrite_spec(batch), &mut files);
    Writer::new(&spec(), doublewrite)
}

/// The writes: copies by place and page count, pages by their first one.
fn seen(
    list: &RefCell<Vec<(Instant, &'static str, u64, u64)>>,
) -> impl FnMut(Instant, WriteRequest) -> Completion {
    move |now, written| {
        let (what, first, count) = match written {
            WriteRequest::Pages { first, count, .. } => ("pages", first, count),
            WriteRequest::Copies { volume, request } => {
                assert_eq!((volume, request.operation), (0, Operation::Write));
                ("copies", request.offset, request.length.0 / PAGE.0)
            }
        };
        list.borrow_mut().push((now, what, first, count));
        done_in(now, 10)
    }
}

#[test]
fn pages_go_to_their_places_once_the_copies_of_the_batch_are_written() {
    let mut writer = twice(3);
    let keys = [10, 20, 30];
    let mut pool = holding(64, keys);
    for key in keys {
        dirty(&mut writer, &mut pool, key, at(0));
    }
    let list = RefCell::default();
    let mut submit = seen(&list);
    writer.write_old(at(1_000), 0, &mut pool, &mut submit);
    // One write behind the 2 MiB of both files.
    assert_eq!(*list.borrow(), [(at(1_000), "copies", 2 << 20, 3)]);
    assert_eq!(writer.next_due(), Some(at(1_010)));
    writer.finish(at(1_010), &mut pool, &mut submit);
    let to_places = keys.map(|key| (at(1_010), "pages", key, 1));
    assert_eq!(list.borrow()[1..], to_places);
    writer.finish(at(1_020), &mut pool, &mut submit);
    assert_eq!(writer.next_due(), None);
    assert_eq!(writer.runs, 0);
}

#[test]
fn a_batch_that_does_not_fill_is_copied_after_a_second_to_the_other_half_of_the_area() {
    let mut writer = twice(2);
    let mut pool = holding(64, [10, 20, 30]);
    for key in [10, 20, 30] {
        dirty(&mut writer, &mut pool, key, at(0));
    }
    let list = RefCell::default();
    let mut submit = seen(&list);
    writer.write_old(at(1_000), 0, &mut pool, &mut submit);
    writer.finish(at(1_020), &mut pool, &mut submit);
    writer.finish(at(1_999), &mut pool, &mut submit);
    assert_eq!(list.borrow().len(), 3, "two pages and their copies");
    assert_eq!(writer.next_due(), Some(at(2_000)));
    writer.finish(at(2_000), &mut pool, &mut submit);
    // Room for the largest run, of four pages.
    let other_half = (2 << 20) + 4 * PAGE.0;
    assert_eq!(list.borrow()[3..], [(at(2_000), "copies", other_half, 1)]);
}

#[test]
fn who_wants_a_frame_does_not_wait_until_a_batch_is_full() {
    let mut writer = twice(100);
    let mut pool = holding(64, 0..64);
    (0..64).for_each(|key| {
        pool.dirty(key, at(0));
    });
    let list = RefCell::default();
    writer.refill(at(0), &mut pool, &mut seen(&list));
    // Four runs of four pages take all places.
    assert_eq!(*list.borrow(), [(at(0), "copies", 2 << 20, 16)]);
}

#[test]
fn a_batch_is_copied_once_every_write_that_may_be_under_way_waits_in_it() {
    let mut writer = twice(100);
    let keys = [10, 20, 30, 40, 50];
    let mut pool = holding(64, keys);
    for key in keys {
        dirty(&mut writer, &mut pool, key, at(0));
    }
    let list = RefCell::default();
    writer.write_old(at(1_000), 0, &mut pool, &mut seen(&list));
    assert_eq!(*list.borrow(), [(at(1_000), "copies", 2 << 20, 4)]);
}

#[test]
fn a_run_that_does_not_fit_into_the_batch_begins_the_next_one() {
    let mut writer = twice(3);
    let mut pool = holding(64, 10..20);
    // A single page, and a run of three.
    for key in [10, 14, 15, 16] {
        dirty(&mut writer, &mut pool, key, at(0));
    }
    let list = RefCell::default();
    writer.write_old(at(1_000), 0, &mut pool, &mut seen(&list));
    // Halves have room for a run of four pages, the largest.
    let half = 4 * PAGE.0;
    let copies = [
        (at(1_000), "copies", 2 << 20, 1),
        (at(1_000), "copies", (2 << 20) + half, 3),
    ];
    assert_eq!(*list.borrow(), copies);
}

#[test]
fn temporary_pages_are_written_once_and_have_no_checkpoint() {
    let mut writer = twice(1);
    let key = first_key(1);
    let mut pool = holding(64, [key]);
    pool.dirty(key, at(0));
    let list = RefCell::default();
    let mut submit = seen(&list);
    writer.write(at(0), key, true, &mut pool, &mut submit);
    assert_eq!(*list.borrow(), [(at(0), "pages", key, 1)]);
    // Changed while its write is under way, which ends after its second is over.
    pool.dirty(key, at(1));
    writer.finish(at(5_000), &mut pool, &mut submit);
    assert_eq!(writer.next_due(), None);
}
