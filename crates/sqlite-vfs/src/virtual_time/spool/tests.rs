use std::iter;

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

use super::*;

/// Incompressible bytes.
fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut noise = vec![0; length];
    rand::Rng::fill_bytes(&mut model::random::stream(seed, "noise"), &mut noise);
    noise
}

#[test]
fn what_is_held_is_counted_where_it_is() {
    let (mut spool, mut bytes) = (Spool::new(), Bytes::default());
    let mut write = |offset: u64, data: &[u8]| {
        spool
            .write(&mut bytes, offset, data)
            .expect("there is room");
        let plain = spool.held();
        spool.pack(&mut bytes, 0).expect("there is room");
        (plain, spool.held())
    };

    let (plain, packed) = write(0, &[7; BLOCK]);
    assert_eq!(plain.memory, model::Bytes(BLOCK as u64));
    assert!(packed.memory.0 > 0 && packed.memory.0 < BLOCK as u64 / 4);
    assert_eq!(packed.disk, model::Bytes(0));
    let (plain, spooled) = write(0, &noise(1, BLOCK));
    assert_eq!(plain.memory, model::Bytes(BLOCK as u64));
    assert_eq!(spooled.memory, model::Bytes(0));
    assert_eq!(spooled.disk, model::Bytes(BLOCK as u64));

    spool.truncate(&mut bytes, 0);
    assert_eq!(spool.held(), Held::default());
}

fn read(spool: &mut Spool, bytes: &Bytes, offset: u64, length: usize) -> (usize, Vec<u8>) {
    let mut buffer = vec![9; length];
    let there = spool.read(bytes, offset, &mut buffer).expect("readable");
    (there, buffer)
}

#[test]
fn what_was_written_is_read_over_block_boundaries() -> io::Result<()> {
    let mut spool = Spool::new();
    let mut bytes = Bytes::default();
    let written: Vec<u8> = (0..3 * BLOCK).map(|n| (n % 251) as u8).collect();

    spool.write(&mut bytes, 100, &written)?;

    assert_eq!(
        read(&mut spool, &bytes, 100, written.len()),
        (written.len(), written)
    );
    Ok(())
}

#[test]
fn a_gap_and_the_rest_beyond_the_end_are_zeros_even_in_used_slots() -> io::Result<()> {
    let mut spool = Spool::new();
    let mut old = Bytes::default();
    spool.write(&mut old, 0, &noise(1, BLOCK))?;
    spool.pack(&mut old, 0)?;
    spool.truncate(&mut old, 0);
    let mut bytes = Bytes::default();

    spool.write(&mut bytes, 10, &noise(2, BLOCK - 10))?;
    spool.pack(&mut bytes, 0)?;

    assert_eq!(spool.slots.count, 1);
    assert_eq!(read(&mut spool, &bytes, 0, 10), (10, vec![0; 10]));
    assert_eq!(read(&mut spool, &bytes, BLOCK as u64 - 1, 3).1[1..], [0, 0]);
    Ok(())
}

#[test]
fn a_gap_of_whole_blocks_keeps_no_bytes() -> io::Result<()> {
    let mut spool = Spool::new();
    let mut bytes = Bytes::default();

    spool.write(&mut bytes, 3 * BLOCK as u64, &[1])?;
    spool.pack(&mut bytes, 0)?;

    assert!(matches!(
        bytes.blocks[..],
        [Block::Empty, Block::Empty, Block::Empty, Block::Runs(_)]
    ));
    Ok(())
}

#[test]
fn what_was_cut_off_does_not_come_back() -> io::Result<()> {
    for content in [vec![7; 2 * BLOCK], noise(1, 2 * BLOCK)] {
        let mut spool = Spool::new();
        let mut bytes = Bytes::default();
        spool.write(&mut bytes, 0, &content)?;

        spool.truncate(&mut bytes, 100);
        spool.write(&mut bytes, 2 * BLOCK as u64, &[1])?;

        let (there, found) = read(&mut spool, &bytes, 0, 2 * BLOCK);
        assert_eq!(there, 2 * BLOCK);
        assert_eq!(found[..100], content[..100]);
        assert!(found[100..].iter().all(|byte| *byte == 0));
    }
    Ok(())
}

#[test]
fn the_file_is_made_for_bytes_that_do_not_pack_and_its_slots_are_used_again() -> io::Result<()> {
    let mut spool = Spool::new();
    let mut bytes = Bytes::default();
    spool.write(&mut bytes, 0, &[7; 2 * BLOCK])?;
    spool.pack(&mut bytes, 0)?;
    assert!(spool.slots.file.is_none());

    for seed in 0..3 {
        let content = noise(seed, 2 * BLOCK);
        spool.write(&mut bytes, 0, &content)?;
        spool.pack(&mut bytes, 0)?;
        assert_eq!(read(&mut spool, &bytes, 0, 2 * BLOCK), (2 * BLOCK, content));
        spool.write(&mut bytes, 0, &[7; BLOCK])?;
        spool.write(&mut bytes, BLOCK as u64, &[0; BLOCK])?;
        assert_eq!(spool.slots.free.len(), 2);
    }

    assert_eq!(spool.slots.count, 2);
    Ok(())
}

#[test]
fn a_file_keeps_as_many_blocks_plain_as_it_may_and_those_that_are_written_again() -> io::Result<()>
{
    let (mut spool, mut bytes) = (Spool::new(), Bytes::default());
    for block in 0..3 * PLAIN_MAX {
        spool.write(&mut bytes, (block * BLOCK) as u64, &[7; BLOCK])?;
        // Block 0 is written again and again.
        spool.write(&mut bytes, 0, &[(block % 250) as u8 + 1; 1])?;
    }

    let is_plain = |number: usize| matches!(bytes.blocks[number], Block::Plain(_));
    assert!(is_plain(0));
    assert!(!is_plain(1), "it was written once, and long ago");
    assert!((2 * PLAIN_MAX + 1..3 * PLAIN_MAX).all(is_plain));
    let count = (0..3 * PLAIN_MAX)
        .filter(|number| is_plain(*number))
        .count();
    assert_eq!(count, PLAIN_MAX);
    Ok(())
}

#[test]
fn few_blocks_of_a_file_stay_plain_where_there_are_many_others() -> io::Result<()> {
    let mut spool = Spool::new();
    let mut files: Vec<Bytes> = iter::repeat_with(Bytes::default).take(40).collect();
    for bytes in &mut files {
        for block in 0..3 * PLAIN_MAX {
            spool.write(bytes, (block * BLOCK) as u64, &[7; BLOCK])?;
        }
    }

    let is_plain = |block: &&Block| matches!(block, Block::Plain(_));
    let count = |bytes: &Bytes| bytes.blocks.iter().filter(is_plain).count();
    let counts: Vec<usize> = files.iter().map(count).collect();
    // Eight files of 256 blocks are the 2,048 above which no file gets more than eight.
    assert_eq!(counts[..8], [PLAIN_MAX; 8]);
    assert_eq!(counts[8..], [PLAIN_OF_MANY; 32]);
    assert_eq!(spool.plain_count, counts.iter().sum::<usize>() as u64);

    files.iter_mut().for_each(|bytes| spool.truncate(bytes, 0));
    assert_eq!(spool.plain_count, 0);
    Ok(())
}

/// A frozen file of three blocks that pack, and one that does not.
fn frozen() -> (Vec<u8>, Arc<Frozen>) {
    let mut content: Vec<u8> = (1..=3).flat_map(|byte| [byte; BLOCK]).collect();
    content.extend(noise(7, BLOCK));
    let (mut spool, mut bytes) = (Spool::new(), Bytes::default());
    spool.write(&mut bytes, 0, &content).expect("there is room");
    let frozen = spool.freeze(bytes).expect("there is room");
    (content, Arc::new(frozen))
}

#[test]
fn a_copy_keeps_what_differs_little_as_a_patch_and_the_rest_as_it_would_alone() -> io::Result<()> {
    let (mut content, frozen) = frozen();
    let (mut spool, mut copy) = (Spool::new(), frozen.copy());
    // One byte of the second block, of the fourth and of a new one, and all of the third.
    for (place, length) in [
        (BLOCK + 5, 1),
        (3 * BLOCK, 1),
        (2 * BLOCK, BLOCK),
        (4 * BLOCK, 1),
    ] {
        content.resize(content.len().max(place + length), 0);
        content[place..place + length].fill(9);
        spool.write(&mut copy, place as u64, &content[place..place + length])?;
    }
    spool.pack(&mut copy, 0)?;

    assert!(matches!(
        copy.blocks[..],
        [
            Block::Shared,
            Block::Patched(_),
            Block::Runs(_),
            Block::Patched(_),
            Block::Patched(_)
        ]
    ));
    assert_eq!(
        spool.held().disk,
        model::Bytes(0),
        "the noise is the frozen file's"
    );
    let length = content.len();
    assert!(read(&mut spool, &copy, 0, length) == (length, content));
    // Another copy is as the file was.
    let other = read(&mut spool, &frozen.copy(), BLOCK as u64, BLOCK);
    assert!(other == (BLOCK, vec![2; BLOCK]));
    spool.truncate(&mut copy, 0);
    assert_eq!(spool.held(), Held::default());
    Ok(())
}

#[test]
fn blocks_that_copies_read_are_kept_for_as_long_as_there_is_a_copy() {
    let (_, frozen) = frozen();
    let kept = || frozen.kept.lock().upgrade();
    let copies = [frozen.copy(), frozen.copy()];
    let mut spool = Spool::new();

    read(&mut spool, &copies[0], 0, 2 * BLOCK);
    read(&mut spool, &copies[1], 0, 2 * BLOCK);

    assert_eq!(kept().map(|kept| kept.count()), Some(2));
    drop(copies);
    assert!(kept().is_none());
}

#[derive(Clone, Debug)]
enum Step {
    Write(u64, Vec<u8>),
    Read(u64, usize),
    Truncate(u64),
    Pack(usize),
}

/// An offset within five blocks, often at a boundary.
fn place() -> impl Strategy<Value = usize> {
    prop_oneof![(0..5_usize).prop_map(|n| n * BLOCK), 0..5 * BLOCK]
}

fn step() -> impl Strategy<Value = Step> {
    let length = || prop_oneof![Just(BLOCK), 0..3 * BLOCK];
    let content = (any::<u64>(), length(), 0..4_u8).prop_map(|(seed, length, kind)| {
        if kind < 2 {
            noise(seed, length)
        } else {
            vec![kind - 2; length]
        }
    });
    prop_oneof![
        3 => (place(), content).prop_map(|(at, content)| Step::Write(at as u64, content)),
        2 => (place(), length()).prop_map(|(at, length)| Step::Read(at as u64, length)),
        1 => place().prop_map(|at| Step::Truncate(at as u64)),
        2 => (0..4_usize).prop_map(Step::Pack),
    ]
}

/// Two files in one spool, one of which is a copy of a frozen file, each compared with a plain vector.
fn behaves_as_vectors(steps: Vec<(bool, Step)>) -> Result<(), TestCaseError> {
    let mut spool = Spool::new();
    let (content, frozen) = frozen();
    let mut files = [Default::default(), (content, frozen.copy())];
    for (second, step) in steps {
        let (plain, bytes) = &mut files[usize::from(second)];
        match step {
            Step::Write(at, content) => {
                spool.write(bytes, at, &content).expect("writable");
                let end = at as usize + content.len();
                plain.resize(plain.len().max(end), 0);
                plain[at as usize..end].copy_from_slice(&content);
            }
            Step::Read(at, length) => {
                let from = plain.get(at as usize..).unwrap_or_default();
                let mut expected = from[..length.min(from.len())].to_vec();
                let there = expected.len();
                expected.resize(length, 0);
                prop_assert!(read(&mut spool, bytes, at, length) == (there, expected));
            }
            Step::Truncate(length) => {
                spool.truncate(bytes, length);
                plain.truncate(length as usize);
            }
            Step::Pack(except) => {
                spool.pack(bytes, except).expect("writable");
                let is_plain = |block: &&Block| matches!(block, Block::Plain(_));
                let count = bytes.blocks.iter().filter(is_plain).count();
                prop_assert!(count <= except, "{count} of at most {except}");
            }
        }
        prop_assert_eq!(bytes.length, plain.len() as u64);
    }
    for (plain, mut bytes) in files {
        prop_assert!(read(&mut spool, &bytes, 0, plain.len()) == (plain.len(), plain));
        spool.truncate(&mut bytes, 0);
    }
    prop_assert_eq!(spool.slots.free.len() as u64, spool.slots.count);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn files_behave_as_plain_vectors(
        steps in prop::collection::vec((any::<bool>(), step()), 1..40),
    ) {
        behaves_as_vectors(steps)?;
    }
}
