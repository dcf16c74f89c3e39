//! Tables and indexes of a rehearsal, as a table.

use model::Bytes;
use reading::object::Used;

use super::document::{Object, Rehearsal};
use table::quantity::{count, percent};
use table::{Column, Table};

/// A row for each object, with columns for each layout: what was read, and what its server counts besides.
pub(super) fn objects_table(rehearsal: &Rehearsal) -> Table {
    let mut columns: Vec<Column<Object>> = vec![
        Column::text("object", |object: &Object| object.name.clone()),
        Column::text("kind", |object: &Object| object.kind.name()),
    ];
    let is_counted = |what: fn(&Used) -> Option<u64>| {
        let all = rehearsal.objects.iter().flat_map(|object| &object.layouts);
        all.clone().any(|used| what(used).is_some())
    };
    let (buffered, written) = (
        is_counted(|used| used.buffered_bytes),
        is_counted(|used| used.written_bytes),
    );
    for (place, layout) in rehearsal.layouts.iter().enumerate() {
        let of = move |object: &Object| object.layouts.get(place).copied().unwrap_or_default();
        let name = &layout.name;
        columns.push(Column::text(format!("{name}: read"), move |object| {
            Bytes(of(object).read_bytes).to_string()
        }));
        if buffered {
            columns.push(Column::text("from buffers", move |object| {
                in_buffers(of(object))
            }));
        }
        if written {
            columns.push(Column::text("written", move |object| {
                let written = of(object).written_bytes;
                written.map_or_else(String::new, |bytes| Bytes(bytes).to_string())
            }));
        }
    }
    if is_counted(|used| used.changed_rows) {
        // The same statements run on all layouts.
        columns.push(Column::text("rows changed", |object: &Object| {
            let first = object.layouts.first().and_then(|used| used.changed_rows);
            first.map_or_else(String::new, count)
        }));
    }
    Table::of(rehearsal.objects.clone(), columns)
}

/// The share of what was asked for that its server had.
fn in_buffers(used: Used) -> String {
    let Some(buffered) = used.buffered_bytes else {
        return String::new();
    };
    let all = buffered as f64 + used.read_bytes as f64;
    percent(buffered as f64 / all.max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_from_buffers_is_of_all_that_was_asked_for() {
        let used = |read_bytes, buffered_bytes| Used {
            read_bytes,
            buffered_bytes,
            ..Used::default()
        };
        assert_eq!(in_buffers(used(1 << 20, Some(3 << 20))), "75 %");
        assert_eq!(in_buffers(used(1 << 20, None)), "");
        assert_eq!(in_buffers(used(0, Some(0))), "0 %");
    }
}
