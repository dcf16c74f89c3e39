//! What a user may contribute: what was predicted, and what was recorded.

use toml_edit::{Array, DocumentMut, Item, Table, value};

use super::{Kept, Verification};

impl Verification {
    /// The comparison as TOML: product, machine, disks and counters, no name of a server, a database or a file.
    pub fn evidence(&self) -> String {
        let mut document = DocumentMut::new();
        document["format"] = value("dbstow.evidence/1");
        if let Some(server) = &self.server {
            document["server"] = value(server);
        }
        if let Some(machine) = &self.machine {
            document["machine"] = value(machine);
        }
        document["volumes"] = value(self.volumes.iter().collect::<Array>());
        document["kept"] = value(match self.kept {
            Kept::Kept => "kept",
            Kept::Better => "better",
            Kept::Worse => "worse",
        });
        document["time"] = value(self.time);
        document["promised"] = value(self.promised.into_iter().collect::<Array>());
        let mut times = Table::new();
        for time in &self.times {
            let mut one = Table::new();
            one["before_ms"] = value(time.before_ms);
            if let Some(promised) = time.promised_ms {
                one["promised_ms"] = value(promised);
            }
            one["after_ms"] = value(time.after_ms);
            let name = time.part.map_or("operation", replay::TimePart::name);
            times[name] = Item::Table(one);
        }
        times.set_implicit(true);
        document["times"] = Item::Table(times);
        let mut requests = Table::new();
        requests.set_implicit(true);
        for one in &self.requests {
            let mut kind = Table::new();
            kind["per_operation"] = value(one.per_operation.into_iter().collect::<Array>());
            if let [Some(before), Some(after)] = one.latency_ms {
                kind["latency_ms"] = value([before, after].into_iter().collect::<Array>());
            }
            let name = format!("{}-{}", one.role.name(), one.kind);
            requests[&name] = Item::Table(kind);
        }
        document["requests"] = Item::Table(requests);
        document.to_string()
    }
}
