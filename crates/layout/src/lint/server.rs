//! A server of a managed service, checked by those who do not know its service.

use std::collections::BTreeSet;

use rules::{Checked, Identity, RuleInfo, Selection, Server};

use super::facts::ServiceFacts;
use super::rules::{RULES, info, listed};

impl Server for ServiceFacts {
    fn identity(&self) -> Identity {
        Identity {
            taken: self.taken.clone(),
            product: "managed-service",
            title: "managed service",
            version: self.product.clone().unwrap_or_default(),
            edition: self.class.clone(),
            platform: self.title.clone(),
            redacted: false,
        }
    }

    fn rules(&self) -> Vec<RuleInfo> {
        listed()
    }

    fn check(&self, selection: &Selection, _: &BTreeSet<String>) -> Vec<Checked> {
        let wanted = RULES.iter().filter(|rule| selection.has(rule.id));
        let judged = ::rules::judge(wanted, self, |()| None);
        judged.into_iter().map(|one| one.checked(info)).collect()
    }
}
