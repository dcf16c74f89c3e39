//! A product with settings of its own.

use crate::{Like, Setting};

/// A product with settings of its own.
#[derive(Debug)]
pub struct Product {
    /// Its name: that of its engine, and of its section of `[engine]`.
    pub name: &'static str,
    /// Its name in sentences.
    pub title: &'static str,
    /// Its settings, in the order in which a plan has them.
    pub settings: &'static [Setting],
    /// What the simulated engine has to be like to have these settings; `None`: simulate has none of them.
    pub simulated: Option<&'static Like>,
}

impl Product {
    /// The setting called `key`.
    pub fn setting(&self, key: &str) -> Option<&'static Setting> {
        self.settings.iter().find(|setting| setting.key == key)
    }
}
