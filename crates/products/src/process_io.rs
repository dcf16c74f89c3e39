//! How servers name their counters of I/O by process.

/// How a product names its counters of I/O by process: `prefix.object.process.context.counter`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProcessIo {
    /// The first word.
    pub(crate) prefix: &'static str,
    /// Counters of bytes that are read.
    pub(crate) read: &'static [&'static str],
    /// Counters of bytes that are written.
    pub(crate) written: &'static [&'static str],
    /// Objects, and what reports call them; those that are usual have no name.
    pub(crate) objects: &'static [(&'static str, Option<&'static str>)],
    /// The usual context, which has no name either.
    pub(crate) context: &'static str,
}

/// Bytes that processes of one kind read or wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessBytes {
    /// The kind of process, with what is unusual: `client backend`, `client backend (bulkread)`, `walwriter (log)`.
    pub process: String,
    /// Whether they were written, and not read.
    pub written: bool,
}

impl ProcessIo {
    pub(crate) fn counted(&self, name: &str) -> Option<ProcessBytes> {
        let words: Vec<&str> = name.split('.').collect();
        let [prefix, object, process, context, counter] = words.as_slice() else {
            return None;
        };
        let written = self.written.contains(counter);
        let is_counted = *prefix == self.prefix && (written || self.read.contains(counter));
        is_counted.then(|| ProcessBytes {
            process: self.process(object, process, context),
            written,
        })
    }

    fn process(&self, object: &str, process: &str, context: &str) -> String {
        let known = self.objects.iter().find(|(name, _)| *name == object);
        let object = known.map_or(Some(object), |(_, shown)| *shown);
        let context = Some(context).filter(|context| *context != self.context);
        let details: Vec<&str> = object.into_iter().chain(context).collect();
        let process = process.replace('_', " ");
        match details.as_slice() {
            [] => process,
            details => format!("{process} ({})", details.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_called_as_its_server_does_with_what_is_unusual() {
        let of = |name: &str| ProcessBytes::counted(name).map(|of| (of.process, of.written));
        for (name, process, written) in [
            (
                "io.relation.checkpointer.normal.write_bytes",
                "checkpointer",
                true,
            ),
            (
                "io.relation.client_backend.bulkread.read_bytes",
                "client backend (bulkread)",
                false,
            ),
            (
                "io.wal.walwriter.init.extend_bytes",
                "walwriter (log, init)",
                true,
            ),
        ] {
            assert_eq!(of(name), Some((process.to_owned(), written)), "{name}");
        }
        for other in [
            "io.relation.client_backend.normal.reads",
            "io.relation.read_bytes",
            "wal.relation.client_backend.normal.read_bytes",
        ] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
