//! Reads an experiment: from its text, with what the variant selects and with overrides, to a [`Spec`].

use super::document::Text;
use super::experiment_text::ExperimentText;
use super::mode::Variant;
use super::origin::Origin;
use super::{Arm, Spec, SpecError, arms, metric};

impl Spec {
    /// Reads an experiment: `text` of `file`, with the settings that `variant` selects, and then with `overrides`, dotted keys
    /// and values, in order.
    ///
    /// Names of disks, machines and workloads are not resolved; [`Spec::check`] does that. Paths are relative to the current
    /// folder: [`located`](super::located) converts those of a file.
    ///
    /// # Errors
    /// The first error, with its line or override.
    pub fn parse(
        file: &str,
        text: &str,
        overrides: &[(String, String)],
        variant: Variant,
    ) -> Result<Spec, SpecError> {
        Origin::read(&ExperimentText::of_file(file, text), variant)?.with(overrides)
    }

    /// The experiment that code built.
    pub(crate) fn built(experiment: &ExperimentText, variant: Variant) -> Result<Spec, SpecError> {
        Origin::read(experiment, variant)?.with(&[])
    }

    /// Reads the built-in experiment `name`.
    ///
    /// # Errors
    /// When it does not exist, or an override is invalid.
    pub fn builtin(
        name: &str,
        overrides: &[(String, String)],
        variant: Variant,
    ) -> Result<Spec, SpecError> {
        Origin::read(&ExperimentText::builtin(name)?, variant)?.with(overrides)
    }

    /// Drops published totals, such as an elapsed time, of arms whose work differs from that of `published`.
    fn without_totals_of_other_work(mut self, published: &[Arm]) -> Spec {
        for arm in &mut self.arms {
            let work = |arm: &Arm| {
                let workload = &arm.settings.workload;
                (workload.amount, workload.parameters.clone())
            };
            let mut originals = published.iter();
            let original = originals.find(|original| original.name == arm.name);
            if original.is_none_or(|original| work(original) != work(arm)) {
                arm.published.retain(|name, _| !metric::is_total(name));
            }
        }
        self
    }
}

impl Origin {
    /// The experiment with `overrides`, dotted keys and values, in order.
    ///
    /// # Errors
    /// The first error, with its line or override.
    pub(super) fn with(&self, overrides: &[(String, String)]) -> Result<Spec, SpecError> {
        let mut origin = self.clone();
        origin.overrides = overrides.to_vec();
        let edited = origin.overridden()?;
        let spec = arms::spec(&edited, &origin).map_err(|fault| {
            origin.error(fault, |origin| {
                let edited = origin.overridden().ok()?;
                arms::spec(&edited, origin).err()
            })
        })?;
        // An error in the file may have been fixed by an override.
        let arms = |text: &Text| arms::spec(text, &origin).map_or(Vec::new(), |spec| spec.arms);
        let spec = spec.without_figures_of_other_settings(&arms(&origin.start));
        Ok(spec.without_totals_of_other_work(&arms(&origin.text)))
    }
}
