//! What JavaScript calls: texts and JSON in, JSON out. It only converts.

use serde::Serialize;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::{AdviceForm, Dropped, Moved, NotImported, Refused};

/// JSON of the answer, or of [`NotImported`].
type Answered = Result<String, String>;

#[wasm_bindgen]
extern "C" {
    /// A function of the worker: how much is done, from 0 to 1, and what is simulated and priced at the moment.
    fn progressed(done: f64, simulated: f64, usd_per_month: f64);
    /// A function of the worker: why the module cannot be used any longer.
    fn panicked(why: &str);
}

/// To be called once, before anything else.
#[wasm_bindgen(start)]
pub fn start() {
    std::panic::set_hook(Box::new(|panic| panicked(&panic.to_string())));
}

fn answered<T: Serialize, E: Into<NotImported>>(answer: Result<T, E>) -> Answered {
    match answer {
        Ok(answer) => Ok(json(&answer)),
        Err(refused) => Err(json(&refused.into())),
    }
}

fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("texts and lists are JSON")
}

fn parsed<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, String> {
    let parsed = serde_json::from_str(text);
    parsed.map_err(|error| json(&NotImported::from(Refused(error.to_string()))))
}

/// See [`crate::check_size`].
///
/// # Errors
/// As there.
#[wasm_bindgen]
pub fn check_size(bytes: f64) -> Answered {
    answered(crate::check_size(bytes as u64))
}

/// The files of an import, which arrive one by one, and each in slices.
#[wasm_bindgen]
#[derive(Default)]
pub struct Files(Vec<Dropped>);

#[wasm_bindgen]
impl Files {
    /// No file yet.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Files {
        Files::default()
    }

    /// Begins a file of so many bytes.
    pub fn begin(&mut self, name: String, bytes: f64) {
        let bytes = Vec::with_capacity(bytes as usize);
        self.0.push(Dropped { name, bytes });
    }

    /// Adds the next bytes of the file that was begun.
    pub fn add(&mut self, bytes: &[u8]) {
        if let Some(file) = self.0.last_mut() {
            file.bytes.extend_from_slice(bytes);
        }
    }

    /// See [`crate::import`]: JSON of [`crate::Imported`] for the JSON of [`crate::ImportOptions`]. The files are gone afterwards.
    ///
    /// # Errors
    /// As there.
    pub fn import(self, given: &str) -> Answered {
        answered(crate::import(self.0, &parsed(given)?))
    }
}

/// See [`crate::back_test`]: JSON of [`crate::Tested`].
///
/// # Errors
/// As there.
#[wasm_bindgen]
pub fn back_test(profile: &str, today: &str) -> Answered {
    answered(crate::back_test(profile, today, &|done| {
        progressed(done, 0.0, 0.0);
    }))
}

/// See [`crate::Advised`].
#[wasm_bindgen]
pub struct Advised(crate::Advised);

#[wasm_bindgen]
impl Advised {
    /// JSON of [`crate::Answer`].
    pub fn answer(&self) -> String {
        json(&self.0.answer)
    }

    /// See [`crate::Sliders::replayed`]: JSON of [`crate::Replayed`] for the JSON of [`Moved`].
    ///
    /// # Errors
    /// As there.
    pub fn replayed(&self, moved: &str) -> Answered {
        let moved: Moved = parsed(moved)?;
        answered(self.0.sliders.replayed(&moved))
    }
}

/// See [`crate::advise`]: for the JSON of [`AdviceForm`].
///
/// # Errors
/// As there.
#[wasm_bindgen]
pub fn advise(profile: &str, today: &str, form: &str) -> Result<Advised, String> {
    let form: AdviceForm = parsed(form)?;
    let advised = crate::advise(profile, today, &form, &mut |step| {
        progressed(step.done, step.simulated as f64, step.usd_per_month);
        true
    });
    advised
        .map(Advised)
        .map_err(|refused| json(&NotImported::from(refused)))
}
