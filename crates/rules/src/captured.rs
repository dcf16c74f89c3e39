//! What a product has for commands that capture its servers, or read such a capture, without knowing which product it is.

use crate::capture::CaptureError;
use crate::server::{RuleInfo, Server};

/// A captured server: what is printed of it, and its file.
pub trait Captured: Server {
    /// What it is, where its files are, and its settings, in lines of text.
    fn report(&self) -> String;

    /// The content of its file, with names replaced by stand-ins unless `plain`.
    fn json(&self, plain: bool) -> String;

    /// Its address without a password, where it was just queried at one that may hold a password.
    fn url(&self) -> Option<&str> {
        None
    }
}

/// A product whose servers are captured. Files are read and rules listed by every build; a build with its engine also captures
/// servers.
pub trait CapturedProduct: Sync {
    /// Its name in texts.
    fn title(&self) -> &'static str;

    /// The engine that captures its servers, by its name.
    fn engine(&self) -> &'static str;

    /// Reads the text of `file`.
    ///
    /// # Errors
    /// When it is not a capture of this product.
    fn load(&self, file: &str, text: &str) -> Result<Box<dyn Captured>, CaptureError>;

    /// All rules of the product, as they are listed.
    fn rules(&self) -> Vec<RuleInfo>;

    /// The profiles that rules can be selected by, and what each is.
    fn profiles(&self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }
}
