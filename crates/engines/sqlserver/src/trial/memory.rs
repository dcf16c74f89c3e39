//! A server's memory in a trial, compared with the experiment's request.

/// `max server memory` of a trial.
pub(crate) struct Memory {
    /// Mebibytes requested by the experiment.
    pub(crate) asked: u64,
    /// Mebibytes that the server has; `None`: not reported.
    pub(crate) got: Option<u64>,
    /// Why they differ, if they do.
    pub(crate) why: String,
}

/// Default of `max server memory`.
///
/// Source: Microsoft, "Server memory configuration options" (read 2026-11).
const UNLIMITED_MIB: u64 = 2_147_483_647;

impl Memory {
    /// Requested and actual memory, and the effect on the experiment; `None` if they are the same.
    ///
    /// Experiments size their data relative to memory, so that it does not fit: the ratio of the two matters.
    pub(crate) fn departure(&self) -> Option<String> {
        let Memory { asked, got, why } = self;
        let what = match got {
            Some(got) if got == asked => return None,
            Some(UNLIMITED_MIB) => "max server memory is not limited".to_owned(),
            Some(got) => format!("max server memory is {got} MiB"),
            None => "max server memory is not known".to_owned(),
        };
        let relation = match got {
            Some(got) if *got < UNLIMITED_MIB && got > asked => format!(
                "the data is {:.1} times smaller in relation to memory than the experiment means, and may fit into \
                 it: make it as much larger (--set workload.parameters.rows=..), or ask for {got} MiB and data of at \
                 least four times that",
                *got as f64 / (*asked).max(1) as f64
            ),
            Some(got) if got < asked => {
                "the data is larger in relation to memory than the experiment means".to_owned()
            }
            Some(_) | None => {
                "the data may fit into memory: make it at least four times the server's memory \
                               (--set workload.parameters.rows=..)"
                    .to_owned()
            }
        };
        Some(format!("{asked} MiB asked, {what} ({why}); {relation}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn departure(asked: u64, got: Option<u64>) -> Option<String> {
        let why = "because".to_owned();
        Memory { asked, got, why }.departure()
    }

    #[test]
    fn a_server_with_more_memory_than_asked_says_what_becomes_of_the_data() {
        assert_eq!(departure(512, Some(512)), None);
        // 1,024 / 26 = 39.4
        let more = departure(26, Some(1024)).expect("it differs");
        assert!(
            more.starts_with("26 MiB asked, max server memory is 1024 MiB (because); the data is 39.4 times smaller"),
            "{more}"
        );
        let unlimited = departure(512, Some(UNLIMITED_MIB)).expect("it differs");
        assert!(
            unlimited.contains("not limited") && unlimited.contains("at least four times"),
            "{unlimited}"
        );
    }
}
