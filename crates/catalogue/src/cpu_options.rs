//! Processors that a buyer leaves off when a machine starts: its price stays, and what is licensed by processor costs less.

use std::collections::BTreeMap;

use serde::Serialize;

/// The cores, and threads of each, that can be switched on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuOptions {
    cores: Vec<u32>,
    threads: Vec<u32>,
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

    /// From lists such as `1-4 8-32/4` and `1 2`: numbers, ranges, and ranges with a step.
    ///
    /// # Errors
    /// What is wrong with one of them.
    pub(super) fn read(cores: &str, threads: &str) -> Result<CpuOptions, String> {
        Ok(CpuOptions {
            cores: numbers(cores)?,
            threads: numbers(threads)?,
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
    fn what_is_no_list_of_numbers_is_refused() {
        for list in ["", "0", "4-2", "a", "1-4/0", "1-99999999"] {
            assert!(CpuOptions::read(list, "1").is_err(), "{list}");
        }
    }
}
