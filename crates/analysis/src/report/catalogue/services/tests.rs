use table::Width;

use super::*;
use crate::report::section::Extent;
use crate::report::terminal;

fn text(report: &Report) -> String {
    terminal::render(report, Width::default(), Extent::Full).to_string()
}

#[test]
fn the_list_is_on_a_screen_of_100_by_40_and_a_service_on_one_and_a_half() {
    let catalogue = Catalogue::builtin();
    let all: Vec<&Service> = catalogue.services().collect();
    let each = all.iter().map(|one| (service(one, &catalogue), 58));
    for (report, most) in each.chain([(services(&all), 40)]) {
        let text = text(&report);
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest.is_some_and(|widest| widest <= 100), "{text}");
        let lines = text.lines().count();
        assert!(lines <= most, "{lines} lines: {text}");
    }
}

#[test]
fn a_storage_type_has_a_line_for_each_range_of_sizes() {
    let catalogue = Catalogue::builtin();
    let one = catalogue
        .find_services("rds-postgresql")
        .expect("it is there")[0];
    let text = text(&service(one, &catalogue));
    for part in [
        "aws.rds.gp3",
        "below 400 GiB",
        "asked, up to 64000",
        "beside io1, io2",
    ] {
        assert!(text.contains(part), "no {part} in {text}");
    }
}

#[test]
fn what_is_not_modelled_says_why() {
    let catalogue = Catalogue::builtin();
    let one = catalogue
        .find_services("aurora-mysql")
        .expect("it is there")[0];
    let text = text(&service(one, &catalogue));
    assert!(
        text.contains("It is not modelled: no limit on IOPS"),
        "{text}"
    );
}
