//! The processor of a series of machines: how fast one of its logical processors is beside others, and what a machine may use of it.

use super::source::Source;

/// The processor of a series of machines.
#[derive(Clone, Debug, PartialEq)]
pub struct Processor {
    /// Its model, such as `AMD EPYC 7763`.
    pub model: String,
    /// What a logical processor does while all are busy, as a multiple of what one of an Intel Xeon Platinum 8370C does; above 0.
    pub speed: f64,
    /// The least and the most of it that single machines and other tests show.
    pub spread: [f64; 2],
    /// Number of machines that were measured.
    pub machines: u32,
    /// Clock that all of its cores hold at once, in GHz, as the vendor of the machines publishes it; `None`: not found.
    pub all_core_ghz: Option<f64>,
    /// The highest clock of a core, likewise.
    pub boost_ghz: Option<f64>,
    /// Where it comes from.
    pub sources: Vec<Source>,
}

impl Processor {
    /// What one of its logical processors does, as a multiple of what one of `other` does.
    pub fn beside(&self, other: &Processor) -> f64 {
        self.speed / other.speed
    }

    /// The least and the most of that, where each may be anywhere in its spread; 1 of the same model.
    pub fn spread_beside(&self, other: &Processor) -> [f64; 2] {
        if self == other {
            return [1.0; 2];
        }
        [
            self.spread[0] / other.spread[1],
            self.spread[1] / other.spread[0],
        ]
    }
}

#[cfg(test)]
mod tests {
    use crate::Catalogue;

    #[test]
    fn a_later_processor_is_faster_and_a_doubtful_one_has_a_wide_spread() {
        let catalogue = Catalogue::builtin();
        let of = |machine: &str| {
            let entry = catalogue.machine(machine).expect("it is there");
            entry.processor.clone().expect("it is known")
        };
        let (older, newer) = (of("azure.E8s_v4"), of("azure.E8s_v5"));
        // 1.00 / 0.78.
        assert_eq!(format!("{:.2}", newer.beside(&older)), "1.28");
        let [low, high] = newer.spread_beside(&older);
        assert!(low < newer.beside(&older) && newer.beside(&older) < high);
        assert_eq!(newer.spread_beside(&of("azure.E8bds_v5")), [1.0; 2]);
    }

    #[test]
    fn clocks_are_the_published_ones_and_say_little_of_speed() {
        let catalogue = Catalogue::builtin();
        let of = |machine: &str| {
            let entry = catalogue.machine(machine).expect("it is there");
            let processor = entry.processor.as_ref().expect("it is known");
            (processor.all_core_ghz, processor.boost_ghz)
        };
        assert_eq!(of("aws.r7i.2xlarge"), (Some(3.2), None));
        assert_eq!(of("azure.E8bds_v5"), (Some(3.5), None));
        assert_eq!(of("azure.E8s_v7"), (Some(3.6), Some(4.2)));
        // 0.3 GHz less than that of the generation before, and 1.2 times as fast.
        assert_eq!(of("aws.r6i.2xlarge"), (Some(3.5), None));
        assert_eq!(of("gcp.n2-highmem-8"), (None, None));
    }

    #[test]
    fn what_is_not_measured_has_no_speed() {
        let catalogue = Catalogue::builtin();
        let entry = catalogue.machine("aws.m7g.large").expect("it is there");
        assert_eq!(entry.processor, None);
    }

    #[test]
    fn every_series_that_is_sold_widely_has_a_processor_and_burstable_machines_a_baseline() {
        let catalogue = Catalogue::builtin();
        let named = |machine: &str| catalogue.machine(machine).expect("it is there").baseline;
        // As today's machine alone: without a price, none is proposed.
        for machine in ["aws.t3.small", "aws.t3a.micro", "aws.t4g.small"] {
            assert!(
                named(machine).is_some_and(|share| share <= 0.2),
                "{machine}"
            );
            let entry = catalogue.machine(machine).expect("it is there");
            assert_eq!(entry.price, None);
        }
        assert_eq!(named("aws.t3.large"), Some(0.3));
        assert_eq!(named("azure.B2s_v2"), Some(0.4));
        assert_eq!(named("azure.E8bds_v5"), None);
        let lacking = catalogue.machines().filter(|machine| {
            machine.processor.is_none() && !machine.arm && machine.files_max.is_none()
        });
        // Azure's M, Lsv2, DSv2 and older, Google's m and c2, managed services, and machines with limits of 2018.
        let lacking: Vec<&str> = lacking.map(|machine| machine.name.as_str()).collect();
        assert!(lacking.len() < 130, "{}: {lacking:?}", lacking.len());
    }
}
