//! Rows whose columns are parameters of a workload's query, as in SQLQueryStress.

use model::random;

use engine::Table;
use experiment::record::Note;
use experiment::spec::{Amount, Workload as WorkloadSettings};
use workload::{ParameterQuery, Stress, Value, Variables, Workload};

/// The result of a trial's parameter query, by parameter name.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ParameterRows {
    /// Parameters, with their `@`.
    names: Vec<String>,
    /// One value per parameter.
    rows: Vec<Vec<Value>>,
}

/// The query whose rows are parameters, if the workload has one.
pub(super) fn query(workload: &Workload) -> Option<&ParameterQuery> {
    workload.stress.as_ref()?.parameter_query.as_ref()
}

impl ParameterRows {
    /// The mapped columns of the result of `query`, or why it has none.
    ///
    /// # Errors
    /// When it failed, returned no row, lacks a column or has it twice, or has a value that cannot be passed on.
    pub(super) fn of(
        query: &ParameterQuery,
        answer: Result<Table, String>,
    ) -> Result<ParameterRows, String> {
        let Table { columns, rows } = answer.map_err(|error| format!("ParamQuery: {error}"))?;
        let place = |(name, column): (&String, &String)| {
            // Case-insensitive, as .NET finds a column.
            let is_it = |known: &String| known.to_lowercase() == column.to_lowercase();
            let mut found = (0..columns.len()).filter(|place| is_it(&columns[*place]));
            match (found.next(), found.next()) {
                (Some(place), None) => Ok(place),
                (Some(_), Some(_)) => Err(format!(
                    "ParamQuery: ParamMappings takes {name} from column {column}, and the query has several of that name; \
                     give the others another name with AS"
                )),
                (None, _) => Err(format!(
                    "ParamQuery: ParamMappings takes {name} from column {column}, and the query's columns are {}; \
                     correct the mapping",
                    columns.join(", ")
                )),
            }
        };
        let places = query.mappings.iter().map(place);
        let places = places.collect::<Result<Vec<usize>, String>>()?;
        if rows.is_empty() {
            let none = "ParamQuery: it gives no rows; a trial's database holds what its workload loads, and a settings \
                        file loads nothing";
            return Err(none.to_owned());
        }
        let value = |(number, row): (usize, &[Option<Value>]), place: usize| {
            row.get(place).cloned().flatten().ok_or_else(|| {
                format!(
                    "ParamQuery: column {} has a value in row {} that is neither a number nor text; cast it, such as \
                     CAST({} AS nvarchar(40))",
                    columns[place],
                    number + 1,
                    columns[place]
                )
            })
        };
        let mapped = |(number, row): (usize, &Vec<Option<Value>>)| {
            let values = places.iter().map(|place| value((number, row), *place));
            values.collect::<Result<Vec<Value>, String>>()
        };
        Ok(ParameterRows {
            names: query.mappings.keys().cloned().collect(),
            rows: rows
                .iter()
                .enumerate()
                .map(mapped)
                .collect::<Result<_, _>>()?,
        })
    }

    /// Sets the parameters of operation number `operation` of a session; `seed` determines its order of rows.
    pub(super) fn set(&self, variables: &mut Variables, operation: u64, seed: u64) {
        let row = ParameterQuery::row(operation, self.rows.len(), seed);
        for (name, value) in self.names.iter().zip(&self.rows[row]) {
            variables.set(name, value.clone());
        }
    }

    /// The seed of the order of a session's rows, derived from the session's own seed.
    pub(super) fn order(session: u64) -> u64 {
        random::derive(session, "parameters", 0)
    }
}

/// Settings of a settings file that the run did not follow.
pub(super) fn departures(workload: &Workload, settings: &WorkloadSettings) -> Vec<Note> {
    let Some(stress) = &workload.stress else {
        return Vec::new();
    };
    let name = &workload.name;
    let mut notes: Vec<Note> = Vec::new();
    if !stress.without_effect.is_empty() {
        let keys = stress.without_effect.join(", ");
        notes.push(Note::NotAsAsked(format!("{name}: without effect: {keys}")));
    }
    let overruled = overruled(stress, settings);
    notes.extend(
        overruled
            .into_iter()
            .map(|departure| Note::NotAsAsked(format!("{name}: {departure}"))),
    );
    notes
}

fn overruled(stress: &Stress, settings: &WorkloadSettings) -> Vec<String> {
    let threads = stress
        .threads
        .filter(|threads| *threads != settings.sessions);
    let threads = threads.map(|threads| {
        format!(
            "NumThreads is {threads}, and the experiment's workload.sessions, {}, came first",
            settings.sessions
        )
    });
    let all = |each: u64| each.saturating_mul(u64::from(settings.sessions));
    let iterations = stress.iterations.and_then(|each| match settings.amount {
        Amount::Operations(operations) if operations == all(each) => None,
        Amount::Operations(operations) => Some(format!(
            "NumIterations is {each} in each of {} sessions, and the experiment's workload.operations, {operations}, \
             came first",
            settings.sessions
        )),
        Amount::Duration(duration) => Some(format!(
            "NumIterations is {each}, and the experiment's workload.duration, {duration}, came first"
        )),
    });
    threads.into_iter().chain(iterations).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn query() -> ParameterQuery {
        let mappings = [("@id", "ID"), ("@name", "Größe")];
        let mappings = mappings.map(|(name, column)| (name.to_owned(), column.to_owned()));
        ParameterQuery {
            text: "SELECT 1".to_owned(),
            mappings: BTreeMap::from(mappings),
        }
    }

    fn table(columns: [&str; 3], rows: Vec<Vec<Option<Value>>>) -> Result<Table, String> {
        Ok(Table {
            columns: columns.map(str::to_owned).to_vec(),
            rows,
        })
    }

    fn row(id: i64, name: Option<Value>) -> Vec<Option<Value>> {
        vec![None, name, Some(Value::Int(id))]
    }

    #[test]
    fn columns_are_found_as_dotnet_finds_them_and_those_without_a_parameter_may_be_anything() {
        let rows = vec![row(1, Some(Value::Null)), row(2, Some(Value::Double(0.1)))];
        let rows = ParameterRows::of(&query(), table(["photo", "größe", "id"], rows));
        let rows = rows.expect("both columns are there").rows;
        assert_eq!(rows[0], [Value::Int(1), Value::Null]);
        assert_eq!(rows[1], [Value::Int(2), Value::Double(0.1)]);
    }

    #[test]
    fn what_gives_no_parameters_is_refused_with_the_reason_and_what_helps() {
        let columns = ["photo", "größe", "id"];
        for (answer, told) in [
            (
                Err("no such table: t".to_owned()),
                "ParamQuery: no such table: t",
            ),
            (table(columns, Vec::new()), "it gives no rows; "),
            (
                table(["photo", "name", "id"], vec![row(1, None)]),
                "takes @name from column Größe, and the query's columns are photo, name, id; correct",
            ),
            (
                table(["Id", "größe", "ID"], vec![row(1, Some(Value::Null))]),
                "takes @id from column ID, and the query has several of that name; give the others another name with AS",
            ),
            (
                table(columns, vec![row(1, Some(Value::Null)), row(2, None)]),
                "column größe has a value in row 2 that is neither a number nor text; cast it",
            ),
        ] {
            let error = ParameterRows::of(&query(), answer).expect_err(told);
            assert!(error.contains(told), "{error}");
        }
    }
}
