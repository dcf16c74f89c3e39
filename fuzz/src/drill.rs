//! Documents of drills.

use analysis::report::drill::document::Drill;
use analysis::report::drill::{page, report};
use analysis::report::{Extent, Width, terminal};

/// A document is refused, or can be rendered, and reads back as written.
pub(super) fn read(text: &str) -> Result<(), String> {
    let drill = Drill::parse(text)?;
    let again = Drill::parse(&drill.json()).expect("it is what a drill writes");
    assert_eq!(again, drill);
    terminal::render(&report(&drill), Width::default(), Extent::Full);
    page(&drill);
    for placement in &drill.placements {
        placement.sentence();
    }
    Ok(())
}
