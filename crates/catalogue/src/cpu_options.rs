//! Processors that a buyer leaves off when a machine starts: its price stays, and what is licensed by processor costs less.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

/// The cores, and threads of each, that can be switched on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuOptions {
    cores: Vec<u32>,
    threads: Vec<u32>,
    /// Whether Windows that is paid with the machine falls with the processors that are switched on.
    pub lowers_system: bool,
}

/// Cores, and threads of each, that are switched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct CpuOption {
    /// Cores.
    pub cores: u32,
    /// Threads of each core.
    pub threads: u32,
}

impl CpuOption {
    /// Logical processors.
    pub fn processors(self) -> u32 {
        self.cores.saturating_mul(self.threads)
    }
}

impl CpuOptions {
    /// The options with fewer than `all` processors, by their number; for each number that with the fewest threads, whose
    /// processors share the least.
    pub fn below(&self, all: u32) -> Vec<CpuOption> {
        let mut by_number: BTreeMap<u32, CpuOption> = BTreeMap::new();
        for threads in &self.threads {
            for cores in &self.cores {
                let option = CpuOption {
                    cores: *cores,
                    threads: *threads,
                };
                let known = by_number.entry(option.processors()).or_insert(option);
                if option.threads < known.threads {
                    *known = option;
                }
            }
        }
        let fewer = by_number.into_iter().filter(|(number, _)| *number < all);
        fewer.map(|(_, option)| option).collect()
    }

    /// Numbers of processors that can be switched on.
    pub fn processors(&self) -> BTreeSet<u32> {
        let of = |threads: &u32| {
            let threads = *threads;
            let cores = self.cores.iter();
            cores.map(move |cores| cores.saturating_mul(threads))
        };
        self.threads.iter().flat_map(of).collect()
    }

    /// Any number of cores of a machine with so many processors, two threads a core, with one thread each or both; `None` where it
    /// has one processor. The price of Windows stays.
    pub(super) fn any_of(processors: u32) -> Option<CpuOptions> {
        let cores: Vec<u32> = (1..=processors / 2).collect();
        (!cores.is_empty()).then_some(CpuOptions {
            cores,
            threads: vec![1, 2],
            lowers_system: false,
        })
    }

    /// From lists such as `1-4 8-32/4` and `1 2`: numbers, ranges, and ranges with a step.
    ///
    /// # Errors
    /// What is wrong with one of them.
    pub(super) fn read(cores: &str, threads: &str) -> Result<CpuOptions, String> {
        Ok(CpuOptions {
            cores: numbers(cores)?,
            threads: numbers(threads)?,
            lowers_system: true,
        })
    }
}

fn numbers(list: &str) -> Result<Vec<u32>, String> {
    let mut all = Vec::new();
    for item in list.split_whitespace() {
        let wrong =
            || format!("`{item}` is not a number, range (`1-4`) or range with a step (`8-32/4`)");
        let number = |text: &str| text.parse::<u32>().map_err(|_| wrong());
        let (range, step) = item.split_once('/').unwrap_or((item, "1"));
        let (from, to) = range.split_once('-').unwrap_or((range, range));
        let (from, to, step) = (number(from)?, number(to)?, number(step)?);
        if from == 0 || from > to || step == 0 || to > model::cores::CORES_MAX {
            return Err(wrong());
        }
        all.extend((from..=to).step_by(step as usize));
    }
    match all.is_empty() {
        true => Err("there is no number".to_owned()),
        false => Ok(all),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn below(cores: &str, threads: &str, all: u32) -> Vec<(u32, u32)> {
        let options = CpuOptions::read(cores, threads).expect("these are lists");
        let below = options.below(all).into_iter();
        below.map(|option| (option.cores, option.threads)).collect()
    }

    #[test]
    fn of_one_number_of_processors_the_option_with_a_thread_for_each_core_is_taken() {
        // 1, 2, 3, 4 processors with a thread for each core, 6 with two; 8 are all.
        assert_eq!(
            below("1-4", "1 2", 8),
            [(1, 1), (2, 1), (3, 1), (4, 1), (3, 2)]
        );
        assert_eq!(below("2 4-8/2", "1", 8), [(2, 1), (4, 1), (6, 1)]);
    }

    #[test]
    fn any_number_of_cores_may_show_one_thread_or_two() {
        // 4 cores: 1 to 4 processors with a thread for each core, 6 with two.
        let any = CpuOptions::any_of(8).expect("it has several cores");
        let below: Vec<u32> = any.below(8).iter().map(|one| one.processors()).collect();
        assert_eq!(below, [1, 2, 3, 4, 6]);
        assert_eq!(CpuOptions::any_of(1), None);
    }

    #[test]
    fn what_is_no_list_of_numbers_is_refused() {
        for list in ["", "0", "4-2", "a", "1-4/0", "1-99999999"] {
            assert!(CpuOptions::read(list, "1").is_err(), "{list}");
        }
    }
}
