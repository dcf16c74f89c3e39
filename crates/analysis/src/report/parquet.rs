//! Records as Parquet, the columns that DuckDB, pandas and Spark read.

use std::sync::Arc;

use experiment::question::Question;
use experiment::record::Record;
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

use super::rows::{self, Column, Values};

/// The table of [`rows::columns`] as a Parquet file in memory: one row a record, the same bytes for the same records.
pub fn render(question: &Question, records: &[Record]) -> Vec<u8> {
    written(&rows::columns(question, records)).expect("columns of one length, written to memory")
}

fn written(columns: &[Column]) -> Result<Vec<u8>> {
    let fields = columns.iter().map(field).collect::<Result<_>>()?;
    let schema = Type::group_type_builder("records")
        .with_fields(fields)
        .build()?;
    let properties = WriterProperties::builder()
        .set_created_by(format!("dbstow {}", env!("CARGO_PKG_VERSION")))
        .build();
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, Arc::new(schema), Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for column in columns {
        let next = group.next_column()?.expect("the schema has this column");
        write(next, &column.values)?;
    }
    group.close()?;
    writer.close()?;
    Ok(bytes)
}

fn field(column: &Column) -> Result<Arc<Type>> {
    let (physical, logical) = match column.values {
        Values::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Values::Count(_) => (Physical::INT64, Some(LogicalType::integer(64, false))),
        Values::Number(_) => (Physical::DOUBLE, None),
    };
    let field = Type::primitive_type_builder(&column.name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical);
    Ok(Arc::new(field.build()?))
}

fn write(mut writer: SerializedColumnWriter<'_>, values: &Values) -> Result<()> {
    match values {
        Values::Text(texts) => {
            let there = texts.iter().flatten();
            let there: Vec<ByteArray> = there.map(|text| text.as_str().into()).collect();
            writer
                .typed::<ByteArrayType>()
                .write_batch(&there, Some(&levels(texts)), None)?;
        }
        Values::Count(counts) => {
            let there = counts.iter().flatten();
            let there: Vec<i64> = there.map(|count| count.cast_signed()).collect();
            writer
                .typed::<Int64Type>()
                .write_batch(&there, Some(&levels(counts)), None)?;
        }
        Values::Number(numbers) => {
            let there: Vec<f64> = numbers.iter().flatten().copied().collect();
            writer
                .typed::<DoubleType>()
                .write_batch(&there, Some(&levels(numbers)), None)?;
        }
    }
    writer.close()
}

/// 1 for a value, 0 for null.
fn levels<T>(values: &[Option<T>]) -> Vec<i16> {
    values
        .iter()
        .map(|value| i16::from(value.is_some()))
        .collect()
}

#[cfg(test)]
mod tests {
    use experiment::examples;
    use parquet::file::reader::{FileReader as _, SerializedFileReader};

    use super::*;

    #[test]
    fn all_rows_and_columns_are_read_back() {
        let (question, records) = (examples::question(), examples::records());
        let bytes = render(&question, &records);
        assert_eq!(bytes, render(&question, &records), "the same bytes");
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).expect("a Parquet file");
        let columns = rows::columns(&question, &records);
        let metadata = reader.metadata().file_metadata();
        assert_eq!(usize::try_from(metadata.num_rows()), Ok(records.len()));
        assert_eq!(metadata.schema_descr().num_columns(), columns.len());
        let first = reader
            .get_row_iter(None)
            .expect("rows")
            .next()
            .expect("one");
        let first = first.expect("sound").to_string();
        assert!(
            first.contains(&format!("arm: \"{}\"", records[0].arm)),
            "{first}"
        );
        assert!(
            first.contains(&format!("seed: {}", records[0].seed)),
            "{first}"
        );
    }

    #[test]
    fn a_folder_without_records_is_a_table_without_rows() {
        let bytes = render(&examples::question(), &[]);
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).expect("a Parquet file");
        assert_eq!(reader.metadata().file_metadata().num_rows(), 0);
    }
}
