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
        spool.held()
    };

    let packed = write(0, &[7; BLOCK]);
    assert!(packed.memory.0 > 0 && packed.memory.0 < BLOCK as u64 / 4);
    assert_eq!(packed.disk, model::Bytes(0));
    let spooled = write(0, &noise(1, BLOCK));
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
    spool.truncate(&mut old, 0);
    let mut bytes = Bytes::default();

    spool.write(&mut bytes, 10, &noise(2, BLOCK - 10))?;

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

    assert!(matches!(
        bytes.blocks[..],
        [Block::Empty, Block::Empty, Block::Empty, Block::Packed(_)]
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
    assert!(spool.slots.file.is_none());

    for seed in 0..3 {
        let content = noise(seed, 2 * BLOCK);
        spool.write(&mut bytes, 0, &content)?;
        assert_eq!(read(&mut spool, &bytes, 0, 2 * BLOCK), (2 * BLOCK, content));
        spool.write(&mut bytes, 0, &[7; BLOCK])?;
        spool.write(&mut bytes, BLOCK as u64, &[0; BLOCK])?;
        assert_eq!(spool.slots.free.len(), 2);
    }

    assert_eq!(spool.slots.count, 2);
    Ok(())
}

#[derive(Clone, Debug)]
enum Step {
    Write(u64, Vec<u8>),
    Read(u64, usize),
    Truncate(u64),
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
    ]
}

/// Two files in one spool, each compared with a plain vector.
fn behaves_as_vectors(steps: Vec<(bool, Step)>) -> Result<(), TestCaseError> {
    let mut spool = Spool::new();
    let mut files = <[(Vec<u8>, Bytes); 2]>::default();
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
