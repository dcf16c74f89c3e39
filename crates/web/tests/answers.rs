//! The seam, natively: what the page gets is what the program writes.

use std::fs;
use std::path::{Path, PathBuf};

use web::{
    AdviceForm, Dropped, ImportOptions, NotImported, Prices, advise, back_test, check_size, import,
};

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples")
        .join(name)
}

fn text(name: &str) -> String {
    fs::read_to_string(example(name)).expect("it is an example")
}

fn dropped(name: &str, bytes: &[u8]) -> Dropped {
    Dropped {
        name: name.to_owned(),
        bytes: bytes.to_owned(),
    }
}

fn refused(name: &str, bytes: &[u8]) -> String {
    let error = import(vec![dropped(name, bytes)], &ImportOptions::default());
    error.expect_err("it is no recording").to_string()
}

/// A file that the crate `import` is tested with.
fn perfmon(name: &str) -> Vec<Dropped> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../import/tests/files/perfmon");
    let bytes = fs::read(folder.join(name)).expect("it is there");
    vec![dropped(name, &bytes)]
}

#[test]
fn a_profile_is_taken_as_it_is() {
    let shop = text("shop.toml");
    let imported = import(
        vec![dropped("shop.toml", shop.as_bytes())],
        &ImportOptions::default(),
    );
    let imported = imported.expect("a profile");
    assert_eq!(imported.profile, shop);
    assert!(imported.page.contains("<!DOCTYPE html>"));
}

#[test]
fn what_is_no_recording_is_refused_with_its_name() {
    for (name, bytes) in [
        ("empty.csv", &b""[..]),
        ("letter.txt", b"Dear Sir or Madam,\n"),
        ("counters.blg", b"\x02\x24\x00\x00\xff\xfe\x00"),
    ] {
        let error = refused(name, bytes);
        assert!(error.contains(name), "{error}");
        assert!(!error.trim_end().contains('\n'), "{error}");
    }
    assert!(import(Vec::new(), &ImportOptions::default()).is_err());
}

#[test]
fn devices_and_instances_are_given_to_choose_from() {
    let open = |name: &str, given: &ImportOptions| -> NotImported {
        import(perfmon(name), given).expect_err("it leaves something open")
    };
    let of_devices = open("relog.csv", &ImportOptions::default());
    assert_eq!(of_devices.instances, [""; 0]);
    assert_eq!(of_devices.devices, ["d:", "t:"]);
    let of_instances = open("two-instances.csv", &ImportOptions::default());
    assert_eq!(of_instances.devices, [""; 0]);
    assert_eq!(of_instances.instances, ["A", "B"]);

    let given = ImportOptions {
        devices: vec!["data=d:".to_owned(), "temp=t:".to_owned()],
        ..ImportOptions::default()
    };
    let imported = import(perfmon("relog.csv"), &given).expect("devices have roles");
    let command = imported.command.expect("it was no profile");
    assert_eq!(
        command,
        "dbstow import relog.csv --device data=d: --device temp=t: --out profile.toml"
    );
}

#[test]
fn files_that_are_too_large_are_refused_before_they_are_read() {
    assert!(check_size(200_000_000).is_ok());
    let refused = check_size(300 << 20).expect_err("300 MiB");
    assert!(refused.to_string().contains("300 MiB"), "{refused}");
    assert!(refused.to_string().contains("dbstow import"), "{refused}");
}

#[test]
fn a_profile_that_fits_todays_layout_has_no_misfit() {
    let tested = back_test(&text("shop.toml"), &text("today.toml"), &|_| {});
    let tested = tested.expect("both are examples");
    assert_eq!(tested.misfit, [""; 0]);
    assert!(tested.report.contains("fits"), "{}", tested.report);
}

#[test]
fn what_files_do_not_say_is_parsed_by_the_library_and_is_in_the_command() {
    let given = |offset: &str| ImportOptions {
        devices: vec!["data=d:".to_owned(), "temp=t:".to_owned()],
        format: Some("perfmon".to_owned()),
        dates: Some("mdy".to_owned()),
        utc_offset: Some(offset.to_owned()),
        ..ImportOptions::default()
    };
    let imported = import(perfmon("relog.csv"), &given("+01:00")).expect("all is known");
    assert_eq!(
        imported.command.expect("it was no profile"),
        "dbstow import relog.csv --device data=d: --device temp=t: --format perfmon --utc-offset +01:00 --dates mdy \
         --out profile.toml"
    );
    let refused = import(perfmon("relog.csv"), &given("noon")).expect_err("no offset");
    assert!(
        refused.to_string().contains("offset from UTC \"noon\""),
        "{refused}"
    );
}

#[test]
fn what_is_asked_wrongly_is_refused_before_anything_is_simulated() {
    let refused = |asked: AdviceForm| {
        let advised = advise(&text("shop.toml"), &text("today.toml"), &asked, &mut |_| {
            panic!("a search began")
        });
        advised.expect_err("it is wrong").to_string()
    };
    let own = |text: &str| Prices {
        name: "own.csv".to_owned(),
        text: text.to_owned(),
    };
    for (asked, said) in [
        (
            AdviceForm {
                replicas: 101,
                ..AdviceForm::default()
            },
            "replicas 101: give 0 to 100",
        ),
        (
            AdviceForm {
                backup_days: 4_000,
                ..AdviceForm::default()
            },
            "give 0 to 3650",
        ),
        (
            AdviceForm {
                discount: Some(130.0),
                ..AdviceForm::default()
            },
            "discount 130 %",
        ),
        (
            AdviceForm {
                licence_price: Some(1_800.0),
                ..AdviceForm::default()
            },
            "licences of your own",
        ),
        (
            AdviceForm {
                term: Some("2y".to_owned()),
                ..AdviceForm::default()
            },
            "give 1y or 3y",
        ),
        (
            AdviceForm {
                disks: vec!["azure.premium.p31".to_owned()],
                ..AdviceForm::default()
            },
            "azure.premium.p31",
        ),
        (
            AdviceForm {
                prices: Some(own("name,usd\n")),
                ..AdviceForm::default()
            },
            "own.csv",
        ),
        (
            AdviceForm {
                region: Some("atlantis".to_owned()),
                ..AdviceForm::default()
            },
            "atlantis",
        ),
    ] {
        let message = refused(asked);
        assert!(message.contains(said), "{message}");
    }
}

#[test]
fn disks_that_are_in_no_catalogue_are_as_recorded() {
    let today = "[machine]\ncores = 2\nmemory = \"16GiB\"\n\n[volume.data]\ndisk = \"recorded\"\n\n[placement.today]\n\
                 data = { volumes = \"data\" }\nlog = { volumes = \"data\" }\ntemp = { volumes = \"data\" }\n";
    let tested = back_test(&text("shop.toml"), today, &|_| {});
    let report = tested.expect("the profile has its latencies").report;
    assert!(report.contains("recorded"), "{report}");
}
