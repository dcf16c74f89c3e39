//! How many of today's reads of data more memory leaves: bounds, from how much of what is asked of the server's cache is read today.
//!
//! Of each byte that is asked of a cache of `x` bytes, a share `m(x)` is read. A larger cache that evicts what was used longest ago
//! holds all that a smaller one does, so that `m` never grows (Mattson, Gecsei, Slutz, Traiger, *Evaluation techniques for storage
//! hierarchies*, 1970). Without a cache all is read, `m(0) = 1`, and with one that holds all data nothing, `m(D) = 0`. Each further
//! GiB is taken to save no more than the one before, as what is used most is held first: `m` is convex. So what is asked for
//! by scans of more than the cache is left out, and where the recording contradicts it, only that reads do not grow is left.
//!
//! ```text
//! m  1 │\                       the curve runs above the extension of the line from (0, 1) through today's point,
//!      │ \                      and below the line from today's point to (D, 0)
//!      │  \·── today (C, m)
//!      │   \ ⋱ ⋱
//!      └────\────⋱─ x
//!      0    C     D
//! ```

use catalogue::Edition;
use model::Bytes;
use profile::Profile;

/// Today's cache.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cache {
    /// Memory that holds pages. A server may use more than is known, such as the operating system's cache, which widens the bounds.
    size: Bytes,
    /// The most that it could use.
    size_max: Option<Bytes>,
    /// Memory of the machine.
    memory: Bytes,
    /// Data: more than is ever asked for.
    data: Bytes,
    /// Share of the bytes asked for that is read; above 0 and below 1.
    miss_share: f64,
}

impl Cache {
    /// That of a server with so much memory and data; `None` where it was not recorded, holds all data, or never misses.
    pub(crate) fn of(
        profile: &Profile,
        (memory, data): (Bytes, Bytes),
        edition: Option<&Edition>,
    ) -> Option<Cache> {
        let miss_share = profile.miss_share()?;
        let size = profile.machine.cache?;
        let is_known = memory > Bytes::ZERO && size > Bytes::ZERO && size < data;
        (is_known && miss_share > 0.0 && miss_share < 1.0).then_some(Cache {
            size,
            size_max: edition.and_then(|edition| edition.memory_max),
            memory,
            data,
            miss_share,
        })
    }

    /// From and to which share of today's reads of data is left on a machine with so much memory, no less than today's, all of whose
    /// additional memory goes to the cache.
    pub(crate) fn reads_with(&self, memory: Bytes) -> [f64; 2] {
        let more = memory.0.saturating_sub(self.memory.0);
        let today = self.size.0 as f64;
        let most = self.size_max.map_or(f64::INFINITY, |most| most.0 as f64);
        let larger = (today + more as f64).min(most).max(today);
        let (data, miss) = (self.data.0 as f64, self.miss_share);
        let hit = 1.0 - miss;
        if hit < today / data {
            // No convex curve goes through today's point.
            return [if larger > today { 0.0 } else { 1.0 }, 1.0];
        }
        let least = (1.0 - hit * larger / today).max(0.0) / miss;
        let most = ((data - larger) / (data - today)).max(0.0);
        [least, most]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// 40 of 64 GiB hold pages of 400 GiB of data.
    fn cache(miss_share: f64) -> Cache {
        Cache {
            size: Bytes::gib(40),
            size_max: None,
            memory: Bytes::gib(64),
            data: Bytes::gib(400),
            miss_share,
        }
    }

    fn rounded(bounds: [f64; 2]) -> [f64; 2] {
        bounds.map(|share| (share * 1e4).round() / 1e4)
    }

    #[test]
    fn bounds_are_the_lines_through_todays_point() {
        // 16 GiB more are 56. Hits grow in proportion at most: 0.6 * 56 / 40 = 0.84, of 0.4 that miss 0.16 are left.
        // In a line to 400 GiB: 344 / 360.
        assert_eq!(
            rounded(cache(0.4).reads_with(Bytes::gib(80))),
            [0.4, 0.9556]
        );
        // 104 GiB: 0.6 * 104 / 40 is above 1; 296 / 360.
        assert_eq!(
            rounded(cache(0.4).reads_with(Bytes::gib(128))),
            [0.0, 0.8222]
        );
        assert_eq!(cache(0.4).reads_with(Bytes::gib(64)), [1.0, 1.0]);
        assert_eq!(cache(0.4).reads_with(Bytes::gib(1_000)), [0.0, 0.0]);
    }

    #[test]
    fn a_hit_ratio_that_no_convex_curve_has_leaves_that_reads_do_not_grow() {
        // 5 % hits, of a cache that holds 10 % of the data.
        assert_eq!(cache(0.95).reads_with(Bytes::gib(128)), [0.0, 1.0]);
        assert_eq!(cache(0.95).reads_with(Bytes::gib(64)), [1.0, 1.0]);
    }

    #[test]
    fn what_an_edition_cannot_use_reads_no_less() {
        let limited = Cache {
            size_max: Some(Bytes::gib(56)),
            ..cache(0.4)
        };
        let with = |gib| limited.reads_with(Bytes::gib(gib));
        assert_eq!(rounded(with(80)), [0.4, 0.9556]);
        assert_eq!(with(80), with(512));
    }

    #[test]
    fn what_was_not_recorded_or_holds_all_data_has_no_bounds() {
        let text = r#"format = "dbstow.profile/1"
start = "2026-11-22T10:00:00Z"
[origin]
tool = "test"
[machine]
cache = "40 GiB"
[intervals]
at_s = [0.0]
length_s = [10.0]
logical_read_bytes = [1000.0]
[intervals.data]
reads = [10.0]
read_bytes = [400.0]
"#;
        let of = |text: &str, data| {
            let profile = profile::read("a.toml", text).expect("a profile");
            Cache::of(&profile, (Bytes::gib(64), Bytes::gib(data)), None)
        };
        assert_eq!(of(text, 400), Some(cache(0.4)));
        assert_eq!(of(text, 40), None);
        assert_eq!(of(&text.replace("400.0", "0.0"), 400), None);
        assert_eq!(of(&text.replace("cache", "memory"), 400), None);
        let not_counted = text.replace("logical_read_bytes", "operations");
        assert_eq!(of(&not_counted, 400), None);
    }

    proptest! {
        /// Of `1 / (1 + x / scale)`, scaled to reach 0 where all data is held: convex, and 1 without a cache.
        #[test]
        fn bounds_contain_every_convex_curve(scale in 1.0_f64..200.0, more in 0_u64..400) {
            let (today, data) = (40.0, 400.0);
            let raw = |gib: f64| 1.0 / (1.0 + gib / scale);
            let curve = |gib: f64| (raw(gib.min(data)) - raw(data)) / (1.0 - raw(data));
            let [least, most] = cache(curve(today)).reads_with(Bytes::gib(64 + more));
            let left = curve(today + more as f64) / curve(today);
            prop_assert!(least <= left + 1e-9 && left <= most + 1e-9, "{least} {left} {most}");
        }
    }
}
