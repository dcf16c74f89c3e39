//! Which of the open writes a state contains.

use std::collections::BTreeSet;
use std::ops::Range;

use model::random::{derive, stream};
use rand::RngExt as _;
use serde::{Deserialize, Serialize};

use super::moment::{Kept, Moment, Piece, State, arrived};

/// Which of the open writes a state contains.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choice {
    /// None: only safe writes.
    Nothing,
    /// All, as if there were no caches.
    Everything,
    /// All but one, by its index among the open pieces.
    AllBut(usize),
    /// Those of one volume only.
    OnlyVolume(usize),
    /// All, but one of them only in part; by its index among the open pieces.
    Torn(usize),
    /// With few open pieces, those whose bit is set.
    Subset(u64),
    /// Drawn from a seed: each completely, in part or not at all.
    Drawn(u64),
    /// All but those of one disk.
    AllButDisk {
        /// Index of its volume.
        volume: usize,
        /// Its index in the volume.
        disk: usize,
    },
    /// All writes of the other disks; those of one disk are drawn from a seed.
    DrawnOfDisk {
        /// Index of its volume.
        volume: usize,
        /// Its index in the volume.
        disk: usize,
        /// The seed.
        seed: u64,
    },
}

/// Shares of the open pieces that drawn states keep on average.
const SHARES: [f64; 3] = [0.1, 0.5, 0.9];

/// Share of a drawn state's pieces that it contains only in part.
const TORN: f64 = 0.2;

/// Most open pieces for which every subset is a state.
const SUBSETS_OF: usize = 5;

/// Choices of a moment, at most `count`, most informative first: the extremes, one volume's writes without the others',
/// all but one, all with one torn, every subset of few, and drawn ones. No duplicates; the same for the same seed.
pub fn choices(moment: &Moment<'_>, count: usize, seed: u64) -> Vec<Choice> {
    let open = moment.open();
    let mut all = vec![Choice::Nothing];
    if !open.is_empty() {
        all.push(Choice::Everything);
        let mut volumes: Vec<usize> = open.iter().map(|piece| piece.volume).collect();
        volumes.sort_unstable();
        volumes.dedup();
        if volumes.len() > 1 {
            all.extend(volumes.into_iter().map(Choice::OnlyVolume));
        }
        if open.len() > 1 {
            all.extend((0..open.len()).map(Choice::AllBut));
        }
        let parted = (0..open.len()).filter(|place| {
            let mut random = stream(seed, "torn");
            moment.torn(&open[*place], &mut random).is_some()
        });
        all.extend(parted.map(Choice::Torn));
        if open.len() <= SUBSETS_OF {
            // None, all, and all but one are already included.
            let bits = 1..(1_u64 << open.len()) - 1;
            let few = bits.filter(|bits| bits.count_ones() as usize + 1 < open.len());
            all.extend(few.map(Choice::Subset));
        } else {
            let draws = (0..count as u64).map(|draw| derive(seed, "draw", draw));
            all.extend(draws.map(Choice::Drawn));
        }
    }
    // From a long list the extremes are kept, and the rest is thinned out evenly.
    let extremes = all.iter().take_while(|choice| choice.is_extreme()).count();
    if all.len() > count && extremes < count {
        let rest = all.split_off(extremes);
        let step = rest.len() as f64 / (count - extremes) as f64;
        all.extend((0..count - extremes).map(|place| rest[(place as f64 * step) as usize].clone()));
    }
    all.truncate(count);
    all
}

/// Choices of a moment in which only one disk lost power, at most `count`: for each disk with open writes, none of
/// these, and drawn ones. The same for the same seed.
pub fn choices_of_one_disk(moment: &Moment<'_>, count: usize, seed: u64) -> Vec<Choice> {
    let open = moment.open().iter();
    let disks: BTreeSet<(usize, usize)> = open.map(|piece| (piece.volume, piece.disk)).collect();
    let without = disks
        .iter()
        .map(|&(volume, disk)| Choice::AllButDisk { volume, disk });
    let rounds = 0..count as u64;
    let drawn = rounds.flat_map(|round| {
        disks
            .iter()
            .map(move |&(volume, disk)| Choice::DrawnOfDisk {
                volume,
                disk,
                seed: derive(seed, "draw", round),
            })
    });
    without.chain(drawn).take(count).collect()
}

impl Choice {
    /// Whether it is none, all, or one volume's.
    fn is_extreme(&self) -> bool {
        matches!(
            self,
            Choice::Nothing | Choice::Everything | Choice::OnlyVolume(_)
        )
    }

    /// What a state contains of each open piece, in order.
    fn chosen(&self, moment: &Moment<'_>) -> Vec<Vec<Range<u64>>> {
        let open = moment.open();
        let whole = |piece: &Piece| vec![piece.range.clone()];
        let those = |is_there: &dyn Fn(usize, &Piece) -> bool| {
            let pieces = open.iter().enumerate();
            let kept = pieces.map(|(place, piece)| match is_there(place, piece) {
                true => whole(piece),
                false => Vec::new(),
            });
            kept.collect::<Vec<_>>()
        };
        match self {
            Choice::Nothing => those(&|_, _| false),
            Choice::Everything => those(&|_, _| true),
            Choice::AllBut(lost) => {
                assert!(*lost < open.len(), "there are {} open pieces", open.len());
                those(&|place, _| place != *lost)
            }
            Choice::OnlyVolume(volume) => those(&|_, piece| piece.volume == *volume),
            Choice::Subset(bits) => those(&|place, _| bits >> place & 1 == 1),
            Choice::Torn(torn) => {
                let mut kept = those(&|_, _| true);
                let mut random = stream(*torn as u64, "torn");
                if let Some(ranges) = moment.torn(&open[*torn], &mut random) {
                    kept[*torn] = ranges;
                }
                kept
            }
            Choice::Drawn(seed) => drawn(moment, *seed, &|_| true),
            Choice::AllButDisk { volume, disk } => {
                those(&|_, piece| (piece.volume, piece.disk) != (*volume, *disk))
            }
            Choice::DrawnOfDisk { volume, disk, seed } => drawn(moment, *seed, &|piece| {
                (piece.volume, piece.disk) == (*volume, *disk)
            }),
        }
    }
}

impl Moment<'_> {
    /// Whether a choice is valid for this moment: whether everything it refers to exists.
    pub fn has(&self, choice: &Choice) -> bool {
        let disks = |volume: usize| self.rules.get(volume).map_or(0, |rules| rules.disks);
        match *choice {
            Choice::Nothing | Choice::Everything | Choice::Drawn(_) => true,
            Choice::AllBut(place) | Choice::Torn(place) => place < self.open.len(),
            Choice::OnlyVolume(volume) => volume < self.rules.len(),
            Choice::Subset(_) => self.open.len() <= SUBSETS_OF,
            Choice::AllButDisk { volume, disk } | Choice::DrawnOfDisk { volume, disk, .. } => {
                disk < disks(volume)
            }
        }
    }

    /// The outcome of a choice for every open piece, in order: the ranges of it that its volume has.
    ///
    /// # Panics
    /// When it is not valid for this moment ([`Moment::has`]).
    pub fn fates(&self, choice: &Choice) -> impl Iterator<Item = (&Piece, Vec<Range<u64>>)> {
        self.open.iter().zip(choice.chosen(self))
    }

    /// The state that results from a choice.
    ///
    /// # Panics
    /// When it is not valid for this moment ([`Moment::has`]).
    pub fn state(&self, choice: &Choice) -> State {
        let mut open = self.fates(choice).peekable();
        let mut kept = Vec::new();
        for (place, event) in arrived(self.events, &self.at) {
            let mut is_open = false;
            while let Some((_, ranges)) = open.next_if(|(piece, _)| piece.event == place) {
                is_open = true;
                kept.extend(ranges.into_iter().map(|range| Kept {
                    event: place,
                    range,
                }));
            }
            if !is_open {
                kept.push(Kept {
                    event: place,
                    range: event.range.clone(),
                });
            }
        }
        State { kept }
    }
}

/// What a drawn state contains of each open piece: drawn for those selected by `may_lose`, everything
/// of the others.
fn drawn(
    moment: &Moment<'_>,
    seed: u64,
    may_lose: &dyn Fn(&Piece) -> bool,
) -> Vec<Vec<Range<u64>>> {
    let mut random = stream(seed, "fate");
    let share = SHARES[random.random_range(0..SHARES.len())];
    let mut fate = |piece: &Piece| {
        let whole = vec![piece.range.clone()];
        if !may_lose(piece) {
            return whole;
        }
        let torn = match random.random_bool(TORN) {
            true => moment.torn(piece, &mut random),
            false => None,
        };
        match torn {
            Some(ranges) => ranges,
            None if random.random_bool(share) => whole,
            None => Vec::new(),
        }
    };
    moment.open().iter().map(&mut fate).collect()
}
