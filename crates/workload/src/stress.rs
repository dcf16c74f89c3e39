//! Settings of SQLQueryStress for running its query, besides the script.

use std::collections::BTreeMap;

use model::Duration;

use super::expression::permute;

/// How a single query file runs: a settings file of SQLQueryStress, or an `.sql` file, which has no such settings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stress {
    /// `NumThreads`
    pub threads: Option<u32>,
    /// `NumIterations`: how often each thread runs the query.
    pub iterations: Option<u64>,
    /// `DelayBetweenQueries`: pause of a session after each iteration, excluded from its latency.
    pub pause: Duration,
    /// Where the values of `@name` come from.
    pub parameter_query: Option<ParameterQuery>,
    /// Keys of the file without effect, each with the reason.
    pub without_effect: Vec<String>,
}

/// A query whose rows are parameters of the script.
///
/// It runs once in each trial, before the sessions begin. Each `@name` is a variable of the script
/// ([`super::Variables::set`]), which is set before each operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterQuery {
    /// The query.
    pub text: String,
    /// Parameter of the main query (`@name`) to column of this one.
    pub mappings: BTreeMap<String, String>,
}

impl ParameterQuery {
    /// Index of the row among `rows` that operation number `operation` of a session takes; `seed` determines the session's order.
    ///
    /// A session takes each row once before it takes one again. SQLQueryStress gives all threads the next row of one
    /// counter, so the assignment of rows to threads differs in each run. Source: ErikEJ/SqlQueryStress,
    /// `LoadEngine.cs`, `GetNextRow_Values` (read 2026-11-26).
    ///
    /// # Panics
    /// When there are no rows.
    pub fn row(operation: u64, rows: usize, seed: u64) -> usize {
        assert!(rows > 0, "operation {operation} has no row to take");
        let place = operation % rows as u64;
        let row = permute(
            place.cast_signed(),
            rows.cast_signed() as i64,
            seed.cast_signed(),
        );
        let row = row.expect("there are rows");
        usize::try_from(row).expect("it is below the number of rows")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_takes_each_row_once_before_it_takes_one_again_in_an_order_of_its_own() {
        let rows = |seed, from: u64| -> Vec<usize> {
            let operations = from..from + 100;
            operations
                .map(|n| ParameterQuery::row(n, 100, seed))
                .collect()
        };
        let all: Vec<usize> = (0..100).collect();
        let mut orders: Vec<Vec<usize>> = (1..=20).map(|seed| rows(seed, 0)).collect();
        for (order, seed) in orders.iter().zip(1..) {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!((sorted == all, order == &rows(seed, 100)), (true, true));
        }
        orders.sort();
        orders.dedup();
        assert_eq!((orders.len(), orders.contains(&all)), (20, false));
        assert_eq!(ParameterQuery::row(7, 1, 3), 0);
    }
}
