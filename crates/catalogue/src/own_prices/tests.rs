use model::Bytes;

use super::super::{Catalogue, Provision};

fn with(rows: &str) -> Result<Catalogue, String> {
    let mut catalogue = Catalogue::builtin();
    let text = format!("name,usd,per\n{rows}");
    match catalogue.add_prices(&text, "own.csv") {
        Ok(_) => Ok(catalogue),
        Err(error) => Err(error.to_string()),
    }
}

fn refused(rows: &str) -> String {
    with(rows).expect_err("it is wrong")
}

#[test]
fn own_prices_stand_in_place_of_list_prices_and_what_is_free_stays_free() {
    let rows = "aws.gp3,0.064,GiB\naws.gp3,0.004,IOPS\nazure.premium.p30,101,month\naws.r6i.large,0.1,hour\n";
    let catalogue = with(rows).expect("they are prices");
    let asked = Provision {
        size: Some(Bytes::gib(100)),
        iops: Some(model::Iops(4_000)),
        ..Provision::default()
    };
    let gp3 = catalogue.disk("aws.gp3").expect("it is there");
    let usd = gp3.provision(&asked).expect("it is sold").usd_per_month;
    // 100 GiB at 6.4 cents, and 1,000 IOPS above the 3,000 that are free.
    assert!((usd.expect("it has one") - 10.4).abs() < 1e-9);
    assert_eq!(gp3.price_list().as_deref(), Some("own.csv"));
    let machine = catalogue.machine("aws.r6i.large").expect("it is there");
    let price = machine.price.expect("it has one");
    assert_eq!((price.linux, price.windows), (Some(0.1), Some(0.1)));
    assert_eq!(machine.price_list().as_deref(), Some("own.csv"));
}

#[test]
fn an_own_price_of_a_licence_is_without_the_system_whatever_the_list_has() {
    let rows = "azure.licence.enterprise,0.3,core-hour\naws.licence.enterprise,0.31,core-hour\n\
                gcp.licence.enterprise,0.4,core-hour\n";
    let catalogue = with(rows).expect("they are prices");
    let rate = |name: &str, cloud: &str, windows| {
        let mut editions = catalogue.editions.iter();
        let edition = editions.find(|edition| edition.name == name);
        let rate = catalogue.licence(edition.expect("it is there"), cloud, windows);
        let rate = rate.expect("it has a price");
        (rate.usd_hour_core, rate.cores_min, rate.with_system)
    };
    for windows in [false, true] {
        assert_eq!(rate("enterprise", "azure", windows), (0.3, 4, false));
        // 0.421 in the list, of which 0.046 is Windows.
        assert_eq!(rate("enterprise", "aws", windows), (0.31, 4, false));
        assert_eq!(rate("enterprise", "gcp", windows), (0.4, 4, false));
    }
    assert_eq!(rate("standard", "aws", true), (0.166, 4, true));
}

#[test]
fn a_licence_without_unit_or_of_no_edition_is_refused_with_what_to_write() {
    for (row, begins, ends) in [
        (
            "azure.licence.enterprise,0.3,",
            "own.csv:2: `azure.licence.enterprise` has no unit; in `per`, write one of",
            "core-hour",
        ),
        (
            "azure.licence.enterprise,0.3,hour",
            "own.csv:2: `azure.licence.enterprise` is a licence",
            "per core-hour alone",
        ),
        (
            "azure.licence.gold,0.3,core-hour",
            "own.csv:2: `azure.licence.gold`: there is no edition `gold`",
            "write one of developer, enterprise, express, standard, web",
        ),
        (
            "oracle.licence.standard,0.3,core-hour",
            "own.csv:2: `oracle.licence.standard`: the catalogue has no machines of `oracle`",
            "such as `azure`",
        ),
        (
            "aws.gp3,0.3,core-hour",
            "own.csv:2: `aws.gp3.2025` is a disk, and is not priced per core-hour",
            "core-hour",
        ),
    ] {
        let error = refused(&format!("{row}\n"));
        assert!(
            error.starts_with(begins) && error.ends_with(ends),
            "{error}"
        );
    }
}

#[test]
fn a_wrong_row_is_named_with_its_line_and_what_to_write() {
    let error = refused("aws.gp3,0.064,\n");
    assert!(
        error.starts_with("own.csv:2: `aws.gp3` has no unit"),
        "{error}"
    );
    assert!(refused("aws.gp3,1,GB\n").contains("`GB` is not a unit; in `per`, write one of hour"));
    assert!(refused("aws.gp3,x,GiB\n").starts_with("own.csv:2: "));
    assert!(refused("aws.gp3,-1,GiB\n").contains("-1 is not a price"));
    assert!(refused("aws.gp33,1,GiB\n").contains("`aws.gp3`"));
    assert!(refused("aws.gp3,1,hour\n").contains("not priced per hour"));
    assert!(refused("aws.r6i.large,1,month\n").contains("per hour alone"));
    assert!(refused("aws.gp3,1,month\naws.gp3,1,GiB\n").contains("one or the other"));
    assert!(refused("aws.gp3,1,GiB\naws.gp3,2,GiB\n").starts_with("own.csv:3: "));
    assert!(refused("aws.gp3,1,MB/s\n").contains("sold by MiB/s"));
    assert!(refused("aws.gp3,40,month\n").contains("comes in several sizes or rates"));
    assert!(refused("azure.blob_std_2013,1,IOPS\n").contains("price per GiB is needed too"));
    let error = Catalogue::builtin().add_prices("disk,usd\n", "own.csv");
    let error = error.expect_err("other columns").to_string();
    assert!(error.contains("they have to be `name,usd,per`"), "{error}");
}

#[test]
fn a_discount_is_taken_off_every_price() {
    let mut catalogue = Catalogue::builtin();
    let usd = |catalogue: &Catalogue| {
        let disk = catalogue.disk("azure.premium.p30").expect("it is there");
        let disk = disk.provision(&Provision::default()).expect("it is sold");
        let machine = catalogue.machine("aws.r6i.large").expect("it is there");
        let machine = machine.price.expect("it has one");
        [disk.usd_per_month, machine.linux, machine.windows].map(Option::unwrap)
    };
    let list = usd(&catalogue);
    catalogue.discount(0.3);
    for (own, list) in usd(&catalogue).into_iter().zip(list) {
        assert!((own / list - 0.7).abs() < 1e-9, "{own} of {list}");
    }
    let list = catalogue
        .disk("azure.premium.p30")
        .expect("it is there")
        .price_list();
    assert!(list.expect("it has one").ends_with(", less 30 %"));
}
