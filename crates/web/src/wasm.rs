//! What JavaScript calls: texts and JSON in, JSON out. It only converts.

use serde::Serialize;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::{Asked, Dropped, Refused};

type Answered = Result<String, String>;

#[wasm_bindgen]
extern "C" {
    /// A function of the worker: how much is done, from 0 to 1, and what is simulated and priced at the moment.
    fn progressed(done: f64, simulated: f64, usd_per_month: f64);
}

fn answered<T: Serialize>(answer: Result<T, Refused>) -> Answered {
    let answer = answer.map_err(|refused| refused.to_string())?;
    serde_json::to_string(&answer).map_err(|error| error.to_string())
}

/// The files of an import, which arrive one by one.
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

    /// Adds a file.
    pub fn add(&mut self, name: String, bytes: Vec<u8>) {
        self.0.push(Dropped { name, bytes });
    }

    /// See [`crate::import`]: JSON of [`crate::Imported`].
    ///
    /// # Errors
    /// As there.
    pub fn import(&self, devices: Vec<String>) -> Answered {
        answered(crate::import(&self.0, &devices))
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

/// See [`crate::advise`]: JSON of [`crate::Answer`] for the JSON of [`Asked`].
///
/// # Errors
/// As there.
#[wasm_bindgen]
pub fn advise(profile: &str, today: &str, asked: &str) -> Answered {
    let asked: Asked = serde_json::from_str(asked).map_err(|error| error.to_string())?;
    answered(crate::advise(profile, today, &asked, &mut |step| {
        progressed(step.done, step.simulated as f64, step.usd_per_month);
        true
    }))
}
