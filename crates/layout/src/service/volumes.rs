//! Volumes beside the first, where a service has them.

use catalogue::MoreVolumes;

use super::server::{Held, Server};
use super::way::{Step, Way};

/// What a command is given of volumes beside the first; `None` where none of them changes.
pub(super) fn more_volumes(
    from: Option<&Server<'_>>,
    to: &Server<'_>,
    names: &MoreVolumes,
    way: &mut Way,
) -> Option<String> {
    let counted = to.counted();
    let before = from.map(Server::counted).unwrap_or_default();
    let mut all = Vec::new();
    for (number, name) in names.names.iter().enumerate() {
        let at = number + 1;
        let place = names.places.get(at).map_or("", String::as_str);
        let (own, known) = (counted.get(at), before.get(at));
        let shown = |held: &&&Held<'_>| format!("{place} {}", shown(held));
        match (own, known) {
            (None, None) => {}
            (Some(own), None) => all.push(json(name, own, true)),
            (Some(own), Some(known)) if is_same(own, known) => continue,
            (Some(own), Some(known)) => {
                all.push(json(name, own, false));
                if own.size != known.size {
                    way.left.push(format!(
                        "{place} keeps its size: it cannot be changed after the volume was added."
                    ));
                }
            }
            (None, Some(_)) => {
                way.left.push(format!(
                    "{place} stays, and is charged: a volume can be deleted only when it is empty. Move its files by backup and restore, then \
                     delete {name}."
                ));
                continue;
            }
        }
        if let Some(own) = own {
            way.steps.push(Step {
                what: "volume",
                from: known.as_ref().map(shown).unwrap_or_default(),
                to: shown(&own),
                during: names.during.clone(),
            });
        }
    }
    (!all.is_empty()).then(|| format!("[{}]", all.join(",")))
}

fn is_same(own: &Held<'_>, known: &Held<'_>) -> bool {
    let of = |held: &Held<'_>| {
        (
            held.rule.disk.clone(),
            held.size,
            held.iops,
            held.throughput,
        )
    };
    of(own) == of(known)
}

fn shown(held: &Held<'_>) -> String {
    let size = held.size.map_or(String::new(), |size| format!(", {size}"));
    let iops = held
        .iops
        .map_or(String::new(), |iops| format!(", {} IOPS", iops.0));
    format!("{}{size}{iops}", held.rule.disk)
}

/// Names are of the catalogue, and all else is numbers: nothing has to be escaped.
fn json(name: &str, held: &Held<'_>, is_new: bool) -> String {
    let mut parts = vec![format!("\"VolumeName\":\"{name}\"")];
    if let Some(code) = &held.rule.code {
        parts.push(format!("\"StorageType\":\"{code}\""));
    }
    if let Some(size) = held.size.filter(|_| is_new) {
        parts.push(format!("\"AllocatedStorage\":{}", size.0.div_ceil(1 << 30)));
    }
    if let Some(iops) = held.iops {
        parts.push(format!("\"IOPS\":{}", iops.0));
    }
    if let Some(rate) = held.throughput {
        parts.push(format!("\"StorageThroughput\":{}", rate.0 >> 20));
    }
    format!("{{{}}}", parts.join(","))
}
